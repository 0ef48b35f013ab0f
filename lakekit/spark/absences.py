"""Absences of a full extract that holds some scopes only."""

from collections.abc import Sequence
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from lakekit.spark.context import Merge
from lakekit.spark.counts import act_counts, late_counts, scopes_of
from lakekit.spark.scopes import scope_text


def within_scopes(
    merge: Merge, staged: DataFrame, counts: dict[str, Any]
) -> tuple[DataFrame, dict[str, Any]]:
    """Forget the absences outside the scopes that the extract holds, and count again.

    Of a key whose current version shows what came later, the scope that it had then will tell.

    Args:
        merge: The run.
        staged: Its rows.
        counts: What was counted of them.
    """
    scopes = scopes_of(counts)
    younger = F.col("__base_hash").isNull() | (F.col("__newest") > F.col("__moment"))
    then = F.lit(merge.contract.history.exact) & F.col("__late") & younger
    rows = staged.where(~F.col("__absent") | then | F.col("__scope").isin(scopes))
    rows = rows.withColumn("__scopes", F.array(*map(F.lit, scopes)).cast("array<string>"))
    absent = F.count(F.when(F.col("__kind") == "absent", 1)).alias("absent")
    row = rows.agg(*act_counts(), absent, *late_counts("true")).first()
    again = {**counts, **(row.asDict() if row else {})}
    if again["absent"]:
        again["based_alive"] = _alive_within(merge, scopes)
    return rows, again


def _alive_within(merge: Merge, scopes: Sequence[str]) -> int:
    """Return how many keys of some scopes are there: one that is small may be gone as a whole."""
    scope = F.expr(scope_text(merge.contract.history.delete_scope))
    return merge.alive().where(scope.isin(*scopes)).count()
