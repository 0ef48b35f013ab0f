"""Re-derived keys: what their new versions change in the table, and what is counted of it."""

from collections.abc import Mapping
from dataclasses import dataclass

from pyspark.sql import Column as Expression
from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from lakekit.contract.contract import Contract
from lakekit.spark.diff import order
from lakekit.spark.late.events import PRESENCE, RECORD
from lakekit.sql.identifiers import quote
from lakekit.sql.row_hash import row_hash
from lakekit.sql.tables import marks


@dataclass(frozen=True)
class Rederived:
    """The versions of the re-derived keys, and what was counted.

    versions: `__change` (insert, replace, close or drop) with the stored columns, `__valid_from`,
    `__valid_to` and `__deleted`; a version that stays as it is has no row. growth: how many more
    rows the table gets. current: how many keys have a current version afterwards.
    """

    versions: DataFrame | None = None
    keys: DataFrame | None = None
    opened: int = 0
    closed: int = 0
    deleted: int = 0
    unchanged: int = 0
    deletes: int = 0
    restored: int = 0
    lost_equal: int = 0
    lost_other: int = 0
    current: int = 0
    changes: int = 0
    growth: int = 0
    events: DataFrame | None = None


def compare_versions(resolved: DataFrame, existing: DataFrame, contract: Contract) -> DataFrame:
    """Return what must change in the table, found by key and start of validity.

    A column that the contract has dropped is null in versions that are written again.
    `__same_content` marks a version whose tracked columns stay as they were.
    """
    keys = list(contract.keys)
    new = _new_versions(resolved, contract)
    marked = F.col("_is_deleted") if marks(contract) else F.lit(False)
    old = existing.select(
        *map(quote, keys),
        F.col("_valid_from").alias("__valid_from"),
        F.col("_valid_to").alias("__old_to"),
        # The stored hash covers the columns that were tracked at its time.
        F.expr(row_hash(contract.tracked)).alias("__old_hash"),
        F.expr(row_hash(contract.untracked)).alias("__old_rest"),
        marked.alias("__old_deleted"),
        F.lit(True).alias("__old"),
    )
    alike = F.col("_row_hash") == F.col("__old_hash")
    same = alike & (F.col("__rest") == F.col("__old_rest"))
    same = same & (F.col("__deleted") == F.col("__old_deleted"))
    ends = F.col("__valid_to").eqNullSafe(F.col("__old_to"))
    change = (
        F.when(F.col("__new").isNull(), "drop")
        .when(F.col("__old").isNull(), "insert")
        .when(same & ends, "keep")
        .when(same & F.col("__valid_to").isNotNull(), "close")
        .otherwise("replace")
    )
    joined = old.join(new, [*keys, "__valid_from"], "full_outer").withColumn("__change", change)
    same_content = alike & ~F.col("__deleted") & ~F.col("__old_deleted")
    joined = joined.withColumn("__same_content", F.coalesce(same_content, F.lit(False)))
    return joined.drop("__new", "__old", "__old_hash", "__old_rest", "__old_deleted")


def _new_versions(resolved: DataFrame, contract: Contract) -> DataFrame:
    """Return the versions of re-derived keys, and whether a deletion ends each.

    A version that says deleted keeps the content of the one that it ends.
    """
    deleted = F.col("__deleted")
    rows = resolved.where(F.col("__action").isin("open", "delete")).withColumn(
        "__start", F.when(deleted, F.col("__event_time")).otherwise(F.col("__valid_from"))
    )
    forward = Window.partitionBy(*map(quote, contract.keys)).orderBy("__start")
    names = [*contract.content, "_row_hash", "__rest"]
    before = F.lag(F.struct(*map(quote, names))).over(forward)
    after = F.lead(deleted).over(forward)
    rows = rows.withColumns({"__ended": before, "__ends_deleted": F.coalesce(after, F.lit(False))})
    if not marks(contract):
        rows = rows.where(~deleted)
    content = {n: F.when(deleted, F.col("__ended")[n]).otherwise(F.col(quote(n))) for n in names}
    return rows.withColumns(content).select(
        *map(quote, contract.keys),
        F.col("__start").alias("__valid_from"),
        "__valid_to",
        *map(quote, contract.content),
        "_source_file",
        "__ingested",
        F.coalesce("_row_hash", F.lit(0)).alias("_row_hash"),
        F.coalesce("__rest", F.lit(0)).alias("__rest"),
        "__deleted",
        "__ends_deleted",
        "__from_run",
        "__opener",
        F.lit(True).alias("__new"),
    )


def _without_version() -> Expression:
    """Return which events no version shows, so that the journal must keep them."""
    fresh = F.col("__from_run") | F.col("__from_version")
    lost, hidden = F.col("__action") == "lost", order.hidden()
    record = (F.col("__priority") == RECORD) & ~F.col("__from_journal") & ~lost
    deleted = F.col("__from_run") & F.col("__deleted")
    ineffective = F.col("__action") == "ineffective"
    # What brought a key back, if a later record renewed it, or another extract recorded it before.
    again = (F.col("__priority") == PRESENCE) & (hidden | F.col("__present_recorded"))
    return (record & fresh & (hidden | deleted)) | ineffective | again


def event_counts() -> list[Expression]:
    """Return what is counted of the events of re-derived keys."""
    action, own, equal = F.col("__action"), F.col("__from_run"), F.col("__equal")
    counted = {
        "unchanged": own & action.isin("assert", "overwrite"),
        "deletes": own & action.isin("delete", "tombstone"),
        "shown": own & (action == "open"),
        "lost_equal": (action == "lost") & equal,
        "lost_other": (action == "lost") & ~equal,
    }
    return [F.count(F.when(where, 1)).alias(name) for name, where in counted.items()]


def version_counts() -> list[Expression]:
    """Return what is counted of the versions of `compare_versions`."""
    change, ends = F.col("__change"), F.col("__valid_to").isNotNull()
    written, same = change.isin("insert", "replace") & ~F.col("__deleted"), F.col("__same_content")
    # The record that a version begins with opens it; it may show a later one.
    opened = F.col("__opener") & ~same
    cut = change.isin("close", "replace") & F.col("__old_to").isNull()
    closed = ends & (cut | (change == "insert"))
    counted = {
        "opened": written & opened,
        "restored": written & ~opened & ~(same & F.col("__from_run")),
        "closed": closed,
        "deleted": closed & F.col("__ends_deleted"),
        "current": (change != "drop") & ~ends,
        "changes": change != "keep",
        "inserted": change == "insert",
        "dropped": change == "drop",
    }
    return [F.count(F.when(where, 1)).alias(name) for name, where in counted.items()]


def rederived(
    resolved: DataFrame, versions: DataFrame, keys: DataFrame, n: Mapping[str, int]
) -> Rederived:
    """Return re-derived keys with the counts of `event_counts` and `version_counts`."""
    return Rederived(
        versions=versions.where("__change != 'keep'"),
        keys=keys,
        opened=n["opened"],
        closed=n["closed"],
        deleted=n["deleted"],
        unchanged=n["unchanged"] + n["shown"] - n["opened"],
        deletes=n["deletes"],
        restored=n["restored"],
        lost_equal=n["lost_equal"],
        lost_other=n["lost_other"],
        current=n["current"],
        changes=n["changes"],
        growth=n["inserted"] - n["dropped"],
        events=resolved.where(_without_version()),
    )
