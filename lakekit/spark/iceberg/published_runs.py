"""Published runs: which runs main and the journal show, by the properties of their snapshots."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from pyspark.sql import SparkSession

from lakekit import layout
from lakekit.batch import Batch
from lakekit.layout import branch_name
from lakekit.passes import is_pass, pass_in
from lakekit.replay.merged_runs import CommittedRun, TableRuns
from lakekit.runs.table_metadata import main_ancestry, off_main
from lakekit.spark.iceberg.table import load_table, metadata_of, refs_of
from lakekit.table_properties import EXTRACTION_TIME, RUN_ID, runs_in


@dataclass(frozen=True)
class PublishedRun:
    """One published run: its snapshot on main, its extraction time (ISO, UTC), and its pass."""

    run_id: str
    snapshot_id: int
    extraction_time: str
    pass_id: str | None


def iso(batch: Batch) -> str:
    """Return a run's extraction time as snapshots have it."""
    return iso_time(batch.extraction_time)


def iso_time(time: datetime) -> str:
    """Return a time as snapshots have it: of two times, the later is the greater text."""
    return time.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def published_runs(spark: SparkSession, table: str) -> dict[str, PublishedRun]:
    """Return the runs in main's ancestry, newest first."""
    found: dict[str, PublishedRun] = {}
    for snapshot in main_ancestry(_metadata(spark, table)):
        summary = snapshot["summary"]
        for run_id in runs_in(summary):
            extracted = summary.get(EXTRACTION_TIME, "")
            published = PublishedRun(run_id, snapshot["snapshot-id"], extracted, pass_in(summary))
            found.setdefault(run_id, published)
    return found


def runs_of_table(spark: SparkSession, table: str) -> TableRuns:
    """Return the merged runs by a table and its journal."""
    rolled_back = {each["snapshot-id"] for each in off_main(_metadata(spark, table))}
    return TableRuns(main_runs(spark, table), journal_runs(spark, table), rolled_back)


def main_runs(spark: SparkSession, table: str) -> list[CommittedRun]:
    """Return the runs in main's ancestry in the order of their merges, oldest first.

    A rebuild lists all runs before it in their order, which is more than what is left of the
    snapshots before it.
    """
    found: dict[str, CommittedRun] = {}
    for snapshot in main_ancestry(_metadata(spark, table)):
        summary = snapshot["summary"]
        for run_id in reversed(runs_in(summary)):
            # A rebuild has no id of its own.
            if RUN_ID in summary:
                at = datetime.fromtimestamp(snapshot["timestamp-ms"] / 1000, UTC)
                # An older mention keeps the place that a rebuild gave it.
                found[run_id] = CommittedRun(run_id, at)
            else:
                found.setdefault(run_id, CommittedRun(run_id))
    return list(reversed(found.values()))


def journal_runs(spark: SparkSession, table: str) -> list[CommittedRun]:
    """Return the runs that have written to the journal and have ended, oldest first.

    Main need not show them: their records only repeated what the table had.
    """
    journal = layout.journal_table(table)
    if not spark.catalog.tableExists(journal):
        return []
    in_progress = set(refs_of(load_table(spark, table)))
    return [
        each
        for each in main_runs(spark, journal)
        if not is_pass(each.run_id) and branch_name(each.run_id) not in in_progress
    ]


def _metadata(spark: SparkSession, table: str) -> dict[str, Any]:
    return metadata_of(spark, load_table(spark, table))
