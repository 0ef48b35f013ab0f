"""Values as they were landed: none is rounded, wrapped or moved. Frames in and out; no actions.

Spark rounds a number to the scale of its decimal. So it is read with 38 digits, the most that Spark
has, and must be the same in its type. A type of 38 digits leaves none to spare: extra digits are
rounded, not rejected. A tinyint takes 200 for -56, so it is read as a wider type. Dates and times
have the years 0001 to 9999, which all readers can show.

Spark reads "10:30" in a `timestamp` as a time of today, which looks like any other time. So where a
time is near to now, and only there, the line is read again as text: a time without a date is
rejected. The clock decides which lines are read again, but not the outcome.
"""

from collections.abc import Container, Mapping
from dataclasses import replace

from pyspark.sql import Column as Expression
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from lakekit.contract.contract import Column, Contract
from lakekit.contract.sqltypes import SqlType, parse_type
from lakekit.spark.session.tuning import runtime_literal
from lakekit.sql.identifiers import quote

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
    """Return the quoted name of a column's value among the columns that `with_fitting` adds."""
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
    """Return the name of the flag of a value that does not fit its type."""
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


# In any zone the day that is read on lies within a day of now; clocks may differ as much.
_FROM, _UNTIL = (f"current_timestamp() {sign} INTERVAL '2' DAY" for sign in "-+")
_NEAR = {"timestamp": "{0} BETWEEN __from AND __until"}
_WITHOUT_DATE = {"timestamp": "{0} RLIKE '^[^0-9T]*(T|[0-9][0-9]?:)'"}


def has_times(kind: SqlType) -> bool:
    """Whether a type is or holds a `timestamp`, which alone is read so."""
    return holds(kind, _NEAR)


def with_undated(
    records: DataFrame, contract: Contract, text: Expression, options: dict[str, str]
) -> DataFrame:
    """Add to parsed lines whether columns with times hold one without a date; see `undated`.

    Args:
        records: Parsed lines, and `__wrong`.
        contract: What they were parsed by.
        text: The line, by an expression that no filter is pushed below.
        options: Those of the parsing.
    """
    columns = [c for c in contract.columns if has_times(c.sql_type)]
    if not columns:
        return records
    bounds = {"__from": _FROM, "__until": _UNTIL}
    records = records.withColumns(
        {name: runtime_literal(F.expr(time), F.col("__wrong")) for name, time in bounds.items()}
    )
    near = " OR ".join(any_part(c.sql_type, quote(c.name), _NEAR) for c in columns)
    schema = ", ".join(f"{quote(c.name)}: {_of_texts(c.sql_type)}" for c in columns)
    texts = F.from_json(F.when(F.expr(near), text), f"struct<{schema}>", options)
    found = {
        undated(c): F.expr(any_part(c.sql_type, f"__texts.{quote(c.name)}", _WITHOUT_DATE))
        for c in columns
    }
    return records.withColumn("__texts", texts).withColumns(found)


def undated(column: Column) -> str:
    """Return the name of the flag of a value that holds a time without a date."""
    return f"__undated_{column.name}"


def _of_texts(kind: SqlType) -> SqlType:
    if kind.name == "timestamp":
        return parse_type("string")
    return replace(kind, fields=tuple((name, _of_texts(part)) for name, part in kind.fields))


def holds(kind: SqlType, names: Container[str]) -> bool:
    """Whether a type is or holds one of some names; the keys of maps are texts."""
    return kind.name in names or any(holds(part, names) for _, part in kind.fields)


def any_part(kind: SqlType, value: str, tests: Mapping[str, str]) -> str:
    """Return whether one of the parts of a value passes the test of its type; never null.

    Args:
        kind: The value's type; it holds one of those that are tested.
        value: The value.
        tests: By the name of a type, an expression over `{0}`.
    """
    if kind.name in tests:
        return f"coalesce({tests[kind.name].format(value)}, false)"
    if kind.name == "struct":
        parts = [(f"{value}.{quote(name)}", part) for name, part in kind.fields]
        found = [any_part(part, each, tests) for each, part in parts if holds(part, tests)]
        return f"({' OR '.join(found)})"
    _, element = kind.fields[-1]
    elements = f"map_values({value})" if kind.name == "map" else value
    return f"coalesce(exists({elements}, each -> {any_part(element, 'each', tests)}), false)"
