"""The form of a fact: what is said of a key at one moment."""

from typing import Any

from pyspark.sql import Column as Expression
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from lakekit.contracts import Contract
from lakekit.spark.lines import POSITION
from lakekit.spark.records import sequence_of
from lakekit.sql.identifiers import quote
from lakekit.sql.tables import ARRIVED

# At one moment a record beats presence in a full extract, and that beats absence. `TOLD` is a
# presence that the companion tells.
RECORD, TOLD, PRESENCE, ABSENCE = 4, 3, 2, 1


def fact(contract: Contract, frame: DataFrame, **columns: Any) -> DataFrame:
    """Give a fact its columns; `__said` tells the run's own records.

    One that does not delete keeps what its frame has in `held`, columns that the contract has
    dropped.
    """
    content = [quote(c.name) for c in contract.stored]
    held = [
        F.when(~columns["gone"], F.col(quote(name))).alias(name) for name in columns.get("held", ())
    ]
    priority = columns["priority"]
    return frame.select(
        *content,
        *held,
        "_source_file",
        columns["ingested"].alias("__ingested"),
        columns["moment"].alias("__moment"),
        columns["gone"].alias("__gone"),
        (F.lit(priority) if isinstance(priority, int) else priority).alias("__priority"),
        _or_null(columns.get("position"), POSITION).alias("__position"),
        columns.get("said", F.lit(False)).alias("__said"),
        columns.get("shown", F.lit(False)).alias("__shown"),
        columns.get("known", F.lit(False)).alias("__known"),
        columns.get("version", F.lit(False)).alias("__version"),
        columns.get("first_values", F.lit(False)).alias("__first_values"),
        columns.get("split", F.lit(False)).alias("__split"),
        _or_null(columns.get("dropped"), "bigint").alias("__dropped"),
        columns.get("partial", F.lit(False)).alias("__partial"),
        _or_null(columns.get("scopes"), "array<string>").alias("__scopes"),
        _or_null(columns.get("arrived"), "bigint").alias(ARRIVED),
    )


def _or_null(value: Expression | None, kind: str) -> Expression:
    return F.lit(None).cast(kind) if value is None else value


def renewed_after(moment: Expression, contract: Contract) -> Expression:
    """Whether a version shows untracked values that are younger than a moment."""
    return sequence_of(contract) > moment


def of_run() -> Expression:
    """Whether a fact is the run's own: it alone has a position."""
    return F.col("__position").isNotNull()
