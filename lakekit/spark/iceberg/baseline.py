"""The baseline of a run: what it was planned on, and whether that is unchanged when it publishes.

A run that only appends to the journal does not move main, so main alone does not show it. Its
branch does: a run opens its branch before it appends, and drops it with the commit that makes its
work visible. Until the branch is dropped, other runs ignore its journal entries. They plan again if
it has ended since.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from pyspark.sql import SparkSession

from lakekit import layout
from lakekit.contract.contract import Contract
from lakekit.layout import branch_name
from lakekit.passes import is_pass
from lakekit.runs.table_metadata import main_ancestry, off_main
from lakekit.spark.iceberg.table import (
    ancestry,
    commits_of,
    load_table,
    main_of,
    metadata_of,
    refs_of,
)
from lakekit.table_properties import RUN_ID, runs_in


@dataclass(frozen=True)
class Baseline:
    """A table as it was before a run read anything of it.

    journal: identifier of the change journal, None without one. head, journal_head: the snapshots
    that main and the journal's main were at, None if empty. in_progress: branches of runs in
    progress. commits: how many the journal has had, expired ones too. schema: id of the table's
    schema, None if that is not to be compared.
    """

    table: str
    head: int | None
    journal: str | None = None
    journal_head: int | None = None
    in_progress: frozenset[str] = field(default_factory=frozenset)
    commits: int = 0
    schema: int | None = None

    def is_unchanged(self, spark: SparkSession, loaded: Any, run_id: str = "") -> bool:
        """Whether only the run itself has changed anything that it was planned on.

        Args:
            spark: A session whose catalog holds the table.
            loaded: The loaded table that the next commit is based on.
            run_id: The run.
        """
        if main_of(loaded) != self.head or not self.in_progress <= _branches(loaded):
            return False
        # Only now: a run that appends to the journal later than this finds main moved, or stops the
        # commit. Entries of the runs in progress were not read, and these have not ended.
        own = {*self.in_progress, branch_name(run_id)}
        return all(writer in own for writer in self._journal_writers(spark))

    def schema_changed(self, loaded: Any) -> bool:
        """Whether the table, as it is loaded now, has got another schema."""
        return self.schema is not None and loaded.schema().schemaId() != self.schema

    def has_recorded(self, spark: SparkSession, run_id: str) -> bool:
        """Whether a run has written to the journal and has ended.

        Not a run whose commit is no longer on main: what a rollback took back is merged again.
        """
        return run_id in self.recorded(spark)

    def recorded(self, spark: SparkSession) -> set[str]:
        """Return the runs that have written to the journal and have ended; see `has_recorded`."""
        ended = {
            each for each in self._writing_runs(spark) if branch_name(each) not in self.in_progress
        }
        return ended - _rolled_back(spark, self.table) if ended else ended

    def passes_in_progress(self, spark: SparkSession) -> set[str]:
        """Return the passes that have written to the journal and have not ended."""
        if not self.in_progress:
            return set()
        found = {each for each in self._writing_runs(spark) if is_pass(each)}
        return {each for each in found if branch_name(each) in self.in_progress}

    def _writing_runs(self, spark: SparkSession) -> set[str]:
        """Return the runs that the journal's snapshots name."""
        if self.journal is None or self.journal_head is None:
            return set()
        snapshots = main_ancestry(metadata_of(spark, load_table(spark, self.journal)))
        return {each["summary"][RUN_ID] for each in snapshots if RUN_ID in each["summary"]}

    def _journal_writers(self, spark: SparkSession) -> Iterator[str]:
        if self.journal is None or not spark.catalog.tableExists(self.journal):
            return iter(() if self.journal_head is None else ("",))
        return _writers_since(load_table(spark, self.journal), self.journal_head)


def take_baseline(spark: SparkSession, contract: Contract, table: str) -> Baseline:
    """Return the baseline of a table and its journal as they are now; of no table an empty one."""
    journal, head, commits = None, None, 0
    if contract.history.keeps_journal:
        journal = layout.journal_table(table)
        # Before main: a run that has appended by now is in progress there, or has ended.
        if spark.catalog.tableExists(journal):
            loaded = load_table(spark, journal)
            head, commits = main_of(loaded), commits_of(loaded)
    if not spark.catalog.tableExists(table):
        return Baseline(table, None, journal, head, commits=commits)
    loaded = load_table(spark, table)
    schema = loaded.schema().schemaId()
    return Baseline(table, main_of(loaded), journal, head, _branches(loaded), commits, schema)


def _branches(loaded: Any) -> frozenset[str]:
    return frozenset(name for name in refs_of(loaded) if name.startswith(layout.OWN))


def _rolled_back(spark: SparkSession, table: str) -> set[str]:
    """Return the runs and passes of a table's snapshots that main does not descend from."""
    others = off_main(metadata_of(spark, load_table(spark, table)))
    found = {run for each in others for run in runs_in(each["summary"])}
    return found | {each["summary"][RUN_ID] for each in others if RUN_ID in each["summary"]}


def _writers_since(journal: Any, since: int | None) -> Iterator[str]:
    """Yield the branches of the runs that wrote to a journal after one of its snapshots.

    An empty name stands for a commit of no run, and for snapshots that have expired.
    """
    if main_of(journal) == since:
        return
    oldest = None
    for snapshot in ancestry(journal):
        if snapshot.snapshotId() == since:
            return
        run_id, oldest = snapshot.summary().get(RUN_ID), snapshot
        # A compaction has the same rows in other files.
        if snapshot.operation() != "replace":
            yield branch_name(run_id) if run_id else ""
    if oldest and (since is not None or oldest.parentId() is not None):
        yield ""
