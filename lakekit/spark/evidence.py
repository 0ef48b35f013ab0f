"""Evidence of commits: which runs main has seen."""

import json
from dataclasses import dataclass
from datetime import UTC

from pyspark.sql import SparkSession

from lakekit.batch import RUN_ID, Batch
from lakekit.spark.iceberg import load_table

EXTRACTION_TIME = "lakekit.extraction-time"
# A rebuild publishes many runs at once: their ids as a JSON list.
REBUILT_RUNS = "lakekit.rebuilt-runs"


@dataclass(frozen=True)
class Evidence:
    """One published run: its snapshot on main and its extraction time (ISO, UTC)."""

    run_id: str
    snapshot_id: int
    extraction_time: str


def iso(batch: Batch) -> str:
    """Return a run's extraction time as evidence holds it."""
    return batch.extraction_time.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def published_runs(spark: SparkSession, table: str) -> dict[str, Evidence]:
    """Return the runs in main's ancestry, newest first."""
    known = load_table(spark, table)
    snapshot = known.currentSnapshot()
    found: dict[str, Evidence] = {}
    while snapshot is not None:
        summary, snapshot_id = snapshot.summary(), snapshot.snapshotId()
        runs = [summary.get(RUN_ID), *json.loads(summary.get(REBUILT_RUNS) or "[]")]
        for run_id in filter(None, runs):
            evidence = Evidence(run_id, snapshot_id, summary.get(EXTRACTION_TIME) or "")
            found.setdefault(run_id, evidence)
        parent = snapshot.parentId()
        snapshot = None if parent is None else known.snapshot(parent)
    return found
