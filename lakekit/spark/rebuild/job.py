"""RebuildTable: derive a table again from the runs that its landing bucket has.

A file may list natural keys: then only their rows are rebuilt.
"""

import logging
from collections.abc import Iterable

from pyspark.sql import DataFrame, SparkSession

from lakekit import layout
from lakekit.contract.contract import Contract
from lakekit.errors import InvalidStepInputError, UnknownSourceError
from lakekit.ports import ObjectStore, TableLeases
from lakekit.replay.merged_runs import TableRuns, merged_runs
from lakekit.spark.iceberg.baseline import take_baseline
from lakekit.spark.iceberg.published_runs import runs_of_table
from lakekit.spark.read.lines import read_text
from lakekit.spark.read.parse import parse_keys
from lakekit.spark.rebuild.rebuild import Scope, rebuild_table
from lakekit.spark.schema.create_tables import create_or_evolve
from lakekit.spark.session.session import IN_UTC, session_settings
from lakekit.spark_conf import CATALOG
from lakekit.steps.jobs import RebuildTable, RebuildTableResult

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
    store.put(layout.result_key(arguments.run_id, STEP, name), done.to_json())
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
    # After that, but before its runs are read: a lease can expire, and a run that is merged then
    # would be missing. To bring the table to its contract may be a commit, too.
    baseline = take_baseline(spark, contract, table) if exists else None
    seen = runs_of_table(spark, table) if exists else TableRuns()
    runs = merged_runs(store, arguments.source, name, seen)
    staging = layout.staging_folder(arguments.warehouse, arguments.run_id, name)
    scope = Scope(since=arguments.since, keys=keys, baseline=baseline)
    done = rebuild_table(spark, contract, runs, table, staging=staging, scope=scope)
    replayed = tuple(run.batch.run_id for run in runs)
    return RebuildTableResult(**done.model_dump() | {"table": name, "runs": replayed})


def read_keys(spark: SparkSession, contract: Contract, file: str) -> DataFrame:
    """Read natural keys, one JSON object per line.

    Raises:
        InvalidStepInputError: A key lacks a column or does not parse, or the table has no keys.
    """
    if not contract.keys:
        raise InvalidStepInputError(f"{contract.contract}: has no keys; rebuild all of it")
    with session_settings(spark, IN_UTC):
        found = parse_keys(read_text(spark, [file]), contract)
    if not found.take(1) or found.where("__fault IS NOT NULL").take(1):
        raise InvalidStepInputError(
            f"{file}: each line must be a JSON object with {', '.join(contract.keys)}"
        )
    return found.drop("__fault").distinct()
