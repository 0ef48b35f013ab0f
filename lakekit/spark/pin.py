"""What a run is planned on, and whether that still stands when its work becomes visible.

A run that only tells the companion something does not move main, so main alone does not show it.
Its branch does: a run begins it before it tells anything, and drops it with the commit that makes
its work visible. Whoever is planned meanwhile does not look at what that run has told, and plans
again if it has ended since.
"""

from dataclasses import dataclass, field
from typing import Any

from pyspark.sql import SparkSession

from lakekit import layout
from lakekit.batch import RUN_ID
from lakekit.contracts import Contract
from lakekit.spark.branch import PREFIX
from lakekit.spark.iceberg import load_table, main_of


@dataclass(frozen=True)
class Pin:
    """What a run saw of a table before it read anything.

    companion: identifier of the companion, None without one. head, told: what main and the
    companion's main were, None if empty. under_way: branches of runs that have not ended.
    """

    table: str
    head: int | None
    companion: str | None = None
    told: int | None = None
    under_way: frozenset[str] = field(default_factory=frozenset)

    def stands(self, spark: SparkSession, known: Any, run_id: str) -> bool:
        """Whether nobody but the run itself has changed anything.

        Args:
            spark: A session whose catalog holds the table.
            known: The loaded table that the next commit is based on.
            run_id: The run.
        """
        if main_of(known) != self.head or not self.under_way <= _branches(known):
            return False
        # Only now: who tells something later than this finds main moved, or stops the commit.
        return self.companion is None or not _told(spark, self.companion, self.told, run_id)


def pin(spark: SparkSession, contract: Contract, table: str) -> Pin:
    """Pin a table and its companion as they are now."""
    companion, told = None, None
    if contract.history.remembers:
        companion = layout.facts_table(table)
        # Before main: who has told this already is under way there, or has ended.
        told = main_of(load_table(spark, companion)) if _exists(spark, companion) else None
    known = load_table(spark, table)
    return Pin(table, main_of(known), companion, told, _branches(known))


def _branches(known: Any) -> frozenset[str]:
    return frozenset(name for name in known.refs() if name.startswith(PREFIX))


def _exists(spark: SparkSession, table: str) -> bool:
    return spark.catalog.tableExists(table)


def _told(spark: SparkSession, companion: str, since: int | None, run_id: str) -> bool:
    """Whether another run has told the companion something since one of its snapshots."""
    if not _exists(spark, companion):
        return since is not None
    known = load_table(spark, companion)
    snapshot = known.currentSnapshot()
    while snapshot is not None and snapshot.snapshotId() != since:
        # A compaction says the same in other files.
        if snapshot.operation() != "replace" and snapshot.summary().get(RUN_ID) != run_id:
            return True
        parent = snapshot.parentId()
        snapshot = None if parent is None else known.snapshot(parent)
    return snapshot is None and since is not None
