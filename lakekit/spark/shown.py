"""The current versions by the lines that they show: listed, counted, and left out."""

from collections.abc import Sequence
from typing import Any

from pyspark.sql import Column as Expression
from pyspark.sql import DataFrame, Observation
from pyspark.sql import functions as F

from lakekit.spark.base import SHOWN
from lakekit.spark.context import Merge
from lakekit.spark.counts import based_counts
from lakekit.spark.java import observed
from lakekit.spark.lists import lists_of
from lakekit.spark.scopes import scope_text
from lakekit.spark.staging import write_counted
from lakekit.sql.line_hash import DIGEST


def list_digests(
    merge: Merge, base: DataFrame, number: int, some: Sequence[int]
) -> tuple[DataFrame, dict[str, Any]]:
    """Write lists of the digests of all current versions.

    Args:
        merge: The run.
        base: All versions, and the lines that they show.
        number: How many lists.
        some: Digests, their first halves.

    Returns:
        The lists, and how many digests they hold (`digests`), and which share of some (`share`);
        of all versions `based_counts`, and of those with a digest `shown_counts`.
    """
    seen, (first, check) = Observation(), DIGEST
    told = base.observe(
        seen,
        *based_counts(),
        *shown_counts(merge, F.col(check).isNotNull()),
        F.count_if(F.col(first).isin([*some])).alias("found"),
    )
    lists, held = write_counted(
        lists_of(told.select(first), number),
        f"{merge.place}/lists",
        F.sum(F.size("__values")).alias("digests"),
    )
    counts = observed(seen)
    share = counts["found"] / len(some)
    return lists, {**counts, "digests": held["digests"] or 0, "share": share}


def leave_out_shown(
    merge: Merge, base: DataFrame, missing: DataFrame, keys: DataFrame
) -> tuple[DataFrame, Observation]:
    """Leave out the versions that a known line shows, unless a record of their key is left.

    Args:
        merge: The run.
        base: All versions, and the lines that they show.
        missing: First halves of digests that no line has.
        keys: Those of the records that are left.

    Returns:
        What is left, and the observation of all: `based_counts`, and `shown_counts` of those that
        known lines show.
    """
    seen, (first, check) = Observation(), DIGEST
    rows = base.join(missing.withColumn("__unshown", F.lit(True)), first, "left")
    rows = rows.join(keys.withColumn("__met", F.lit(True)), list(merge.contract.keys), "left")
    shown = F.col(check).isNotNull() & F.col("__unshown").isNull()
    rows = rows.observe(seen, *based_counts(), *shown_counts(merge, shown))
    left = rows.where(~shown | F.col("__met"))
    return left.drop(*SHOWN, "__unshown", "__met"), seen


def shown_counts(merge: Merge, shown: Expression) -> list[Expression]:
    """Return what is counted of some versions that show lines.

    How many they are (`shown`), the second halves of their digests combined (`shown_checks`), their
    scopes (`shown_scopes`) and the newest moment (`shown_newest`).
    """
    names = merge.contract.history.delete_scope
    scopes = F.collect_set(F.when(shown, F.expr(scope_text(names)))) if names else F.array()
    return [
        F.count_if(shown).alias("shown"),
        F.bit_xor(F.when(shown, F.col(DIGEST[1]))).alias("shown_checks"),
        F.to_json(scopes.cast("array<string>")).alias("shown_scopes"),
        # Compared here, the run's time would be compiled, and no later run find that again.
        F.max(F.when(shown, F.col(SHOWN[-1]))).cast("string").alias("shown_newest"),
    ]
