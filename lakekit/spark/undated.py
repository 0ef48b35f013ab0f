"""Times without a date: of "10:30" in a `timestamp`, Spark makes a time of the day it is read on.

What has become of it looks like any other. So where a time lies near to now, and only there, the
line is read again for its texts. Which lines these are is a matter of the clock, what they say not.
"""

from dataclasses import replace

from pyspark.sql import Column as Expression
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from lakekit.contracts import Column, Contract
from lakekit.spark.context import kept_apart
from lakekit.spark.nested import any_part, holds
from lakekit.sql.identifiers import quote
from lakekit.sqltypes import SqlType, parse_type

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
        {name: kept_apart(F.expr(moment), F.col("__wrong")) for name, moment in bounds.items()}
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
    """Return the name of the column that tells whether a value holds a time without a date."""
    return f"__undated_{column.name}"


def _of_texts(kind: SqlType) -> SqlType:
    if kind.name == "timestamp":
        return parse_type("string")
    return replace(kind, fields=tuple((name, _of_texts(part)) for name, part in kind.fields))
