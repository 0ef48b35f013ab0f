"""Decimals as they were landed: not rounded, no digit lost. Frames in and out; no actions.

Spark rounds a number to the scale of its decimal; so it is read with the 38 digits that Spark can
hold, and must be the same with those of its type. Digits beyond the 38 are not seen: a type of 38
digits leaves no room, and rounds.
"""

from dataclasses import replace

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from lakekit.contracts import Column, Contract
from lakekit.sql.identifiers import quote
from lakekit.sqltypes import SqlType

# Spark takes the commas out of a text in its own locale. This one has a point before the decimals,
# too, and between thousands an apostrophe (U+2019), which no country writes before the decimals.
LOCALE = "de-CH"
_MOST_DIGITS = 38


def decimals(contract: Contract) -> list[Column]:
    """Return the columns of the contract's schema that are decimals, or hold some."""
    return [c for c in contract.columns if _is_widened(c)]


def parsed_type(column: Column) -> str:
    """Return the type in which a column is read."""
    return str(_read_type(column.sql_type)) if _is_widened(column) else column.type


def value_of(column: Column) -> str:
    """Return the quoted name of a column's value beside what `with_numbers` adds."""
    return quote(_number(column) if _is_widened(column) else column.name)


def with_numbers(lines: DataFrame, contract: Contract) -> DataFrame:
    """Add the decimals of parsed lines in their types, and whether one has more digits."""
    read = [(c, quote(c.name)) for c in decimals(contract)]
    said = {_number(c): F.expr(f"try_cast({wide} AS {c.type})") for c, wide in read}
    wrong = {misfit(c): F.expr(_is_other(c, wide)) for c, wide in read}
    return lines.withColumns(said).withColumns(wrong)


def misfit(column: Column) -> str:
    """Return the name of the column that tells whether a number does not fit its type."""
    return f"__misfit_{column.name}"


def _is_widened(column: Column) -> bool:
    return _read_type(column.sql_type) != column.sql_type


def _number(column: Column) -> str:
    return f"__number_{column.name}"


def _is_other(column: Column, wide: str) -> str:
    """Return whether a value has become another one by its cast."""
    cast = f"CAST({value_of(column)} AS {parsed_type(column)})"
    if column.sql_type.name != "decimal":
        # Maps have no equality.
        cast, wide = f"to_json({cast})", f"to_json({wide})"
    return f"NOT ({cast} <=> {wide})"


def _read_type(kind: SqlType) -> SqlType:
    """Return a type whose decimals, nested ones too, have all digits that Spark can hold."""
    if kind.name == "decimal":
        whole = kind.precision - kind.scale
        return replace(kind, precision=_MOST_DIGITS, scale=_MOST_DIGITS - whole)
    if kind.name == "map":
        key, (name, value) = kind.fields
        return replace(kind, fields=(key, (name, _read_type(value))))
    return replace(kind, fields=tuple((name, _read_type(part)) for name, part in kind.fields))
