"""RebuildTable: derive a table again from the runs that its landing bucket has."""

import logging
from collections.abc import Iterable

from pyspark.sql import SparkSession

from lakekit import layout
from lakekit.contracts import Contract
from lakekit.errors import InvalidStepInputError, UnknownSourceError
from lakekit.job_steps import RebuildTable, RebuildTableResult
from lakekit.ports import ObjectStore, TableLeases
from lakekit.runs.documents import to_json
from lakekit.runs.merged_runs import Seen, merged_runs
from lakekit.spark.evidence import seen_runs
from lakekit.spark.given_keys import read_keys
from lakekit.spark.pin import pin
from lakekit.spark.rebuild import Run, Scope, rebuild_table
from lakekit.spark.tables import create_or_evolve
from lakekit.spark_conf import CATALOG

STEP = "rebuild_table"
log = logging.getLogger(__name__)


def rebuild_from_landing(
    spark: SparkSession,
    store: ObjectStore,
    arguments: RebuildTable,
    contracts: Iterable[Contract],
    *,
    leases: TableLeases,
) -> None:
    """Rebuild one table under its lease, and say what was done; again finds nothing to do.

    Args:
        spark: A session whose catalog holds the table.
        store: The landing bucket.
        arguments: Of the job.
        contracts: Those of the source, as they are deployed.
        leases: Of the tables; without the table's nothing is read, so that no run is missed.

    Raises:
        TableBusyError: A run or maintenance holds the table.
        UnknownSourceError: The source has no such table.
        LandingCorruptError: A merged run is not in the landing any more, or has changed.
    """
    name, owner = arguments.table, layout.REBUILD_OWNER
    contract = next((each for each in contracts if each.contract == name), None)
    if contract is None:
        raise UnknownSourceError(f"{arguments.source}: has no contract '{name}'")
    leases.acquire(name, owner)
    try:
        done = _rebuild(spark, store, arguments, contract)
    finally:
        leases.release(name, owner)
    store.put(layout.result_key(arguments.run_id, STEP, name), to_json(done))
    log.info("%s", done.model_dump_json())


def _rebuild(
    spark: SparkSession, store: ObjectStore, arguments: RebuildTable, contract: Contract
) -> RebuildTableResult:
    name = arguments.table
    table = f"{CATALOG}.{arguments.database}.{name}"
    keys = None
    if arguments.keys:
        if store.head(arguments.keys) is None:
            raise InvalidStepInputError(f"--keys {arguments.keys}: no such object")
        keys = read_keys(spark, contract, store.uri(arguments.keys))
    exists = spark.catalog.tableExists(table)
    if exists:
        create_or_evolve(spark, contract, table)
    # First, but for that: a lease can expire, and what is merged then would be missing from the
    # runs. What brings the table to its contract may be a commit, too.
    pinned = pin(spark, contract, table) if exists else None
    seen = seen_runs(spark, table) if exists else Seen()
    runs = [Run(*each) for each in merged_runs(store, arguments.source, name, seen)]
    staging = layout.staging_folder(arguments.warehouse, arguments.run_id, name)
    scope = Scope(since=arguments.since, keys=keys, seen=pinned)
    done = rebuild_table(spark, contract, runs, table, staging=staging, scope=scope)
    replayed = tuple(run.batch.run_id for run in runs)
    return RebuildTableResult(**done.model_dump() | {"table": name, "runs": replayed})
