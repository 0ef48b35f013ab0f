"""Decimals, read as the text that was landed: never rounded. Frames in and out; no actions.

Spark rounds a JSON number into a decimal, and drops commas from a text.
"""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from lakekit.contracts import Column, Contract
from lakekit.sql.identifiers import quote


def decimals(contract: Contract) -> list[Column]:
    """Return the columns of the contract's schema that are decimals."""
    return [c for c in contract.columns if _is_decimal(c)]


def parsed_type(column: Column) -> str:
    """Return the type in which a column is read."""
    return "string" if _is_decimal(column) else column.type


def value_of(column: Column) -> str:
    """Return the quoted name of a column's value beside what `with_numbers` adds."""
    return quote(_number(column) if _is_decimal(column) else column.name)


def with_numbers(lines: DataFrame, contract: Contract, prefix: str = "") -> DataFrame:
    """Add the decimals that texts say, and whether one says none; each is parsed once.

    Args:
        lines: Parsed lines.
        contract: Its columns.
        prefix: What stands before the name of a column: nothing, or a struct and a point.
    """
    texts = [(c, f"{prefix}{quote(c.name)}") for c in decimals(contract)]
    said = {_number(c): F.expr(f"try_cast({text} AS {c.type})") for c, text in texts}
    wrong = {misfit(c): F.expr(_says_no_number(c, text)) for c, text in texts}
    return lines.withColumns(said).withColumns(wrong)


def misfit(column: Column) -> str:
    """Return the name of the column that tells whether a text says no number of its type."""
    return f"__misfit_{column.name}"


def _is_decimal(column: Column) -> bool:
    return column.sql_type.name == "decimal"


def _number(column: Column) -> str:
    return f"__number_{column.name}"


def _says_no_number(column: Column, text: str) -> str:
    """Return whether a text says no number that fits the type.

    Few texts have more digits behind the point than the type; of those the longer number tells.
    """
    kind, value = column.sql_type, value_of(column)
    whole = kind.precision - kind.scale
    exact = f"try_cast({text} AS decimal(38,{min(38 - whole, 37)}))"
    plain = (
        f"NOT contains({text}, 'e') AND NOT contains({text}, 'E') AND (instr({text}, '.') = 0 "
        f"OR length({text}) - instr({text}, '.') <= {kind.scale})"
    )
    fits = f"({plain}) OR coalesce({value} = {exact}, false)"
    return f"{text} IS NOT NULL AND ({value} IS NULL OR NOT ({fits}))"
