"""A table that `lakekit run` has loaded, derived again from its landings, by the job's own code."""

import uuid
from datetime import datetime
from pathlib import Path
from typing import Any

from lakekit import layout
from lakekit.errors import LandingCorruptError
from lakekit.local.run.place import LEASE, LocalPlace, utc_now
from lakekit.local.warehouse import opened
from lakekit.runs.documents import Run, read_document, read_run
from lakekit.spark_conf import LOCAL_DATABASE
from lakekit.steps.jobs import RebuildTable, RebuildTableResult


def rebuild_loaded(
    warehouse: Path, source: str, table: str, since: datetime | None, keys: Path | None
) -> dict[str, Any]:
    """Rebuild a table by the contract of its newest run; see `rebuild_from_landing` for errors.

    Returns:
        What was done, with the number of its runs.
    """
    place = LocalPlace(warehouse)
    with place.alone(), opened(warehouse) as spark:
        from lakekit.spark.rebuild.job import rebuild_from_landing  # noqa: PLC0415  imports Spark

        run_id = f"rebuild-{utc_now():%Y%m%d-%H%M%S}-{uuid.uuid4().hex[:6]}"
        key = f"{layout.run_prefix(run_id)}keys.ndjson"
        if keys:
            place.store.put(key, keys.read_bytes())
        given = {
            "run_id": run_id, "source": source, "table": table, "database": LOCAL_DATABASE,
            "landing_bucket": str(warehouse), "warehouse": warehouse.resolve().as_uri(),
            "lease_seconds": int(LEASE.total_seconds()), "from": since,
            "keys": key if keys else None,
        }  # fmt: skip
        rebuild_from_landing(
            spark, place.store, RebuildTable.model_validate(given),
            _newest_run(place, source, table).contracts, leases=place.flow.leases,
        )  # fmt: skip
        result = layout.result_key(run_id, "rebuild_table", table)
        done = read_document(place.store, result, RebuildTableResult)
    return {**done.model_dump(), "runs": len(done.runs), "table": table}


def _newest_run(place: LocalPlace, source: str, table: str) -> Run:
    prefix = layout.table_runs_prefix(source, table)
    keys = [info.key for info in place.store.list(prefix)]
    if not keys:
        raise LandingCorruptError(f"{prefix}: no run has planned this table")
    return read_run(place.store, keys[-1].removeprefix(prefix).partition("-")[2])
