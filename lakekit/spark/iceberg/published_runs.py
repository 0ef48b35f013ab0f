"""Evidence of commits: which runs main has seen."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from pyspark.sql import SparkSession

from lakekit import layout
from lakekit.batch import RUN_ID, Batch, runs_in
from lakekit.layout import branch_name
from lakekit.replay.merged_runs import Seen, Shown
from lakekit.runs.table_metadata import main_ancestry, off_main
from lakekit.spark.iceberg.table import load_table, metadata_of, refs_of

EXTRACTION_TIME = "lakekit.extraction-time"


@dataclass(frozen=True)
class Evidence:
    """One published run: its snapshot on main and its extraction time (ISO, UTC)."""

    run_id: str
    snapshot_id: int
    extraction_time: str


def iso(batch: Batch) -> str:
    """Return a run's extraction time as evidence holds it."""
    return iso_time(batch.extraction_time)


def iso_time(moment: datetime) -> str:
    """Return a moment as evidence holds it: of two, the later is the greater text."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def published_runs(spark: SparkSession, table: str) -> dict[str, Evidence]:
    """Return the runs in main's ancestry, newest first."""
    found: dict[str, Evidence] = {}
    for snapshot in main_ancestry(_metadata(spark, table)):
        summary = snapshot["summary"]
        for run_id in runs_in(summary):
            told = summary.get(EXTRACTION_TIME, "")
            evidence = Evidence(run_id, snapshot["snapshot-id"], told)
            found.setdefault(run_id, evidence)
    return found


def seen_runs(spark: SparkSession, table: str) -> Seen:
    """Return what a table and its companion say of the runs that are merged."""
    metadata = _metadata(spark, table)
    taken_back = {snapshot["snapshot-id"] for snapshot in off_main(metadata)}
    return Seen(shown_runs(spark, table), told_runs(spark, table), taken_back)


def shown_runs(spark: SparkSession, table: str) -> list[Shown]:
    """Return the runs in main's ancestry in the order of their merges, oldest first.

    A rebuild names all runs before it in their order, so its list says more than what is left of
    the snapshots before it.
    """
    found: dict[str, Shown] = {}
    for snapshot in main_ancestry(_metadata(spark, table)):
        summary = snapshot["summary"]
        for run_id in reversed(runs_in(summary)):
            own = summary.get(RUN_ID) == run_id
            if own:
                at = datetime.fromtimestamp(snapshot["timestamp-ms"] / 1000, UTC)
                # An older mention keeps the place that a rebuild gave it.
                found[run_id] = Shown(run_id, at)
            else:
                found.setdefault(run_id, Shown(run_id))
    return list(reversed(found.values()))


def told_runs(spark: SparkSession, table: str) -> list[Shown]:
    """Return the runs that have told the companion something and have ended, oldest first.

    Main need not show them: what they said was known.
    """
    companion = layout.facts_table(table)
    if not spark.catalog.tableExists(companion):
        return []
    under_way = set(refs_of(load_table(spark, table)))
    told = shown_runs(spark, companion)
    return [each for each in told if branch_name(each.run_id) not in under_way]


def _metadata(spark: SparkSession, table: str) -> dict[str, Any]:
    return metadata_of(spark, load_table(spark, table))
