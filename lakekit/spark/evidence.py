"""Evidence of commits: which runs main has seen."""

import json
from dataclasses import dataclass
from typing import Any

from pyspark.sql import SparkSession

from lakekit.sql.identifiers import quote_table

RUN_ID = "lakekit.run-id"
EXTRACTION_TIME = "lakekit.extraction-time"
# A rebuild publishes many runs at once: their ids as a JSON list.
REBUILT_RUNS = "lakekit.rebuilt-runs"


@dataclass(frozen=True)
class Evidence:
    """One published run: its snapshot on main and its extraction time (ISO, UTC)."""

    run_id: str
    snapshot_id: int
    extraction_time: str


def published_runs(spark: SparkSession, table: str) -> dict[str, Evidence]:
    """Return the runs in main's ancestry, newest first."""
    snapshots = {row["snapshot_id"]: row for row in _metadata(spark, table, "snapshots")}
    refs = {row["name"]: row["snapshot_id"] for row in _metadata(spark, table, "refs")}
    head: int | None = refs.get("main")
    found: dict[str, Evidence] = {}
    while head is not None and head in snapshots:
        row = snapshots[head]
        summary = row["summary"] or {}
        runs = [summary[RUN_ID]] if RUN_ID in summary else []
        for run_id in [*runs, *json.loads(summary.get(REBUILT_RUNS, "[]"))]:
            evidence = Evidence(run_id, head, summary.get(EXTRACTION_TIME, ""))
            found.setdefault(run_id, evidence)
        head = row["parent_id"]
    return found


def main_snapshot(spark: SparkSession, table: str) -> int | None:
    """Return main's head, None for a table without snapshots."""
    refs = {row["name"]: row["snapshot_id"] for row in _metadata(spark, table, "refs")}
    return refs.get("main")


def _metadata(spark: SparkSession, table: str, name: str) -> list[Any]:
    return spark.sql(f"SELECT * FROM {quote_table(table)}.{name}").collect()
