"""What a run is planned on, and whether that still stands when its work becomes visible.

A run that only tells the companion something does not move main, so main alone does not show it.
Its branch does: a run begins it before it tells anything, and drops it with the commit that makes
its work visible. Whoever is planned meanwhile does not look at what that run has told, and plans
again if it has ended since.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from pyspark.sql import SparkSession

from lakekit import layout
from lakekit.batch import RUN_ID, runs_in
from lakekit.contract.contract import Contract
from lakekit.layout import branch_name
from lakekit.runs.table_metadata import main_ancestry, off_main
from lakekit.spark.iceberg.table import (
    ancestry,
    commits_of,
    load_table,
    main_of,
    metadata_of,
    refs_of,
)


@dataclass(frozen=True)
class Pin:
    """What a run saw of a table before it read anything.

    companion: identifier of the companion, None without one. head, companion_head: what main and
    the companion's main were, None if empty. under_way: branches of runs that have not ended.
    commits: how many the companion has had, expired ones too. schema: number of the table's schema,
    None if that is not to be compared.
    """

    table: str
    head: int | None
    companion: str | None = None
    companion_head: int | None = None
    under_way: frozenset[str] = field(default_factory=frozenset)
    commits: int = 0
    schema: int | None = None

    def stands(self, spark: SparkSession, known: Any, run_id: str = "") -> bool:
        """Whether nobody but the run itself has changed anything that it was planned on.

        Args:
            spark: A session whose catalog holds the table.
            known: The loaded table that the next commit is based on.
            run_id: The run.
        """
        if main_of(known) != self.head or not self.under_way <= _branches(known):
            return False
        # Only now: who tells something later than this finds main moved, or stops the commit.
        # What the runs under way tell was not read, and they have not ended.
        own = {*self.under_way, branch_name(run_id)}
        return all(teller in own for teller in self._tellers(spark))

    def evolved(self, known: Any) -> bool:
        """Whether the table, as it is loaded now, has got another schema."""
        return self.schema is not None and known.schema().schemaId() != self.schema

    def has_told(self, spark: SparkSession, run_id: str) -> bool:
        """Whether a run has told the companion something, and has ended.

        Not one whose commit is main's no more: what a rollback took back is to be merged again.
        """
        branch = branch_name(run_id)
        if self.companion is None or self.companion_head is None or branch in self.under_way:
            return False
        tellers = main_ancestry(metadata_of(spark, load_table(spark, self.companion)))
        told = any(each["summary"].get(RUN_ID) == run_id for each in tellers)
        return told and run_id not in _taken_back(spark, self.table)

    def _tellers(self, spark: SparkSession) -> Iterator[str]:
        if self.companion is None or not _exists(spark, self.companion):
            return iter(() if self.companion_head is None else ("",))
        return _tellers(load_table(spark, self.companion), self.companion_head)


def pin(spark: SparkSession, contract: Contract, table: str) -> Pin:
    """Pin a table and its companion as they are now."""
    companion, head, commits = None, None, 0
    if contract.history.remembers:
        companion = layout.facts_table(table)
        # Before main: who has told this already is under way there, or has ended.
        if _exists(spark, companion):
            beside = load_table(spark, companion)
            head, commits = main_of(beside), commits_of(beside)
    known = load_table(spark, table)
    schema = known.schema().schemaId()
    return Pin(table, main_of(known), companion, head, _branches(known), commits, schema)


def _branches(known: Any) -> frozenset[str]:
    return frozenset(name for name in refs_of(known) if name.startswith(layout.OWN))


def _taken_back(spark: SparkSession, table: str) -> set[str]:
    """Return the runs of a table's snapshots that main does not descend from."""
    others = off_main(metadata_of(spark, load_table(spark, table)))
    return {run for each in others for run in runs_in(each["summary"])}


def _exists(spark: SparkSession, table: str) -> bool:
    return spark.catalog.tableExists(table)


def _tellers(companion: Any, since: int | None) -> Iterator[str]:
    """Yield the branches of the runs that wrote to a companion after one of its snapshots.

    An empty name stands for what no run wrote, and for what is not known any more.
    """
    if main_of(companion) == since:
        return
    oldest = None
    for snapshot in ancestry(companion):
        if snapshot.snapshotId() == since:
            return
        run_id, oldest = snapshot.summary().get(RUN_ID), snapshot
        # A compaction says the same in other files.
        if snapshot.operation() != "replace":
            yield branch_name(run_id) if run_id else ""
    if oldest and (since is not None or oldest.parentId() is not None):
        yield ""
