"""Values as they were landed: none is rounded, wrapped or moved. Frames in and out; no actions.

Spark rounds a number to the scale of its decimal; so it is read with the 38 digits that Spark can
hold, and must be the same with those of its type. Digits beyond the 38 are not seen: a type of 38
digits leaves no room, and rounds. A tinyint takes 200 for -56; so it is read as a wider one. Dates
and times have the years 0001 to 9999, which all readers can show.
"""

from dataclasses import replace

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from lakekit.contracts import Column, Contract
from lakekit.spark.nested import any_part, holds
from lakekit.spark.undated import has_times, undated
from lakekit.sql.identifiers import quote
from lakekit.sqltypes import SqlType, parse_type

# Spark takes the commas out of a text in its own locale. This one has a point before the decimals,
# too, and between thousands an apostrophe (U+2019), which no country writes before the decimals.
LOCALE = "de-CH"
_MOST_DIGITS = 38
_OUT_OF_RANGE = {
    "date": "{0} NOT BETWEEN DATE '0001-01-01' AND DATE '9999-12-31'",
    "timestamp": (
        "{0} < TIMESTAMP '0001-01-01 00:00:00Z' OR {0} > TIMESTAMP '9999-12-31 23:59:59.999999Z'"
    ),
    "timestamp_ntz": (
        "{0} < TIMESTAMP_NTZ '0001-01-01 00:00:00' "
        "OR {0} > TIMESTAMP_NTZ '9999-12-31 23:59:59.999999'"
    ),
}


def checked(contract: Contract) -> list[Column]:
    """Return the columns of the contract's schema whose values may not fit their type."""
    return [c for c in contract.columns if _is_checked(c)]


def parsed_type(column: Column) -> str:
    """Return the type in which a column is read."""
    return str(_read_type(column.sql_type)) if _is_widened(column) else column.type


def value_of(column: Column) -> str:
    """Return the quoted name of a column's value beside what `with_fitting` adds."""
    return quote(_value(column) if _is_checked(column) else column.name)


def with_fitting(lines: DataFrame, contract: Contract) -> DataFrame:
    """Add the values of parsed lines that fit their types, and whether one does not.

    The lines say which times have no date; see `with_undated`.
    """
    read = [(c, quote(c.name)) for c in checked(contract)]
    said = {_value(c): F.expr(_fitting(c, wide)) for c, wide in read}
    wrong = {misfit(c): F.expr(_is_other(c, wide)) for c, wide in read}
    return lines.withColumns(said).withColumns(wrong)


def misfit(column: Column) -> str:
    """Return the name of the column that tells whether a value does not fit its type."""
    return f"__misfit_{column.name}"


def _is_checked(column: Column) -> bool:
    return holds(column.sql_type, _OUT_OF_RANGE) or _is_widened(column)


def _is_widened(column: Column) -> bool:
    return _read_type(column.sql_type) != column.sql_type


def _value(column: Column) -> str:
    return f"__fitting_{column.name}"


def _fitting(column: Column, wide: str) -> str:
    """Return a value in its type, null if it does not fit."""
    value = f"try_cast({wide} AS {column.type})" if _is_widened(column) else wide
    faults = _faults_of_times(column, wide)
    return f"CASE WHEN NOT ({' OR '.join(faults)}) THEN {value} END" if faults else value


def _faults_of_times(column: Column, wide: str) -> list[str]:
    """Return what may be wrong with the dates and times of a value, each never null."""
    kind = column.sql_type
    faults = [quote(undated(column))] if has_times(kind) else []
    return faults + ([any_part(kind, wide, _OUT_OF_RANGE)] if holds(kind, _OUT_OF_RANGE) else [])


def _is_other(column: Column, wide: str) -> str:
    """Return whether a value has become another one."""
    if column.sql_type.fields and not _is_widened(column):
        return " OR ".join(_faults_of_times(column, wide))
    cast = f"CAST({value_of(column)} AS {parsed_type(column)})"
    if column.sql_type.fields:
        # Maps have no equality.
        cast, wide = f"to_json({cast})", f"to_json({wide})"
    return f"NOT ({cast} <=> {wide})"


def _read_type(kind: SqlType) -> SqlType:
    """Return a type in which all values, nested ones too, can be read as they are."""
    if kind.name == "tinyint":
        return parse_type("smallint")
    if kind.name == "decimal":
        whole = kind.precision - kind.scale
        return replace(kind, precision=_MOST_DIGITS, scale=_MOST_DIGITS - whole)
    if kind.name == "map":
        key, (name, value) = kind.fields
        return replace(kind, fields=(key, (name, _read_type(value))))
    return replace(kind, fields=tuple((name, _read_type(part)) for name, part in kind.fields))
