"""What the Glue jobs do with a whole source: one table after the other, or side by side.

A table that fails does not stop its neighbours; the job fails when all are done.
"""

import logging
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from functools import partial
from typing import TypeVar

from pyspark import inheritable_thread_target
from pyspark.sql import SparkSession

from lakekit import layout
from lakekit.config.prices import glue_cost
from lakekit.config.workers import Workers
from lakekit.contract.contract import Contract
from lakekit.documents import Document
from lakekit.errors import LakekitError, TableBusyError, TerminalError
from lakekit.passes import passes
from lakekit.ports import Clock, ObjectStore, TableLeases
from lakekit.runs.documents import FailureRecord, TablePlan, read_optional, read_plan
from lakekit.spark.maintain_tables import maintain_with_journal, wants_maintenance
from lakekit.spark.merge_scd2 import merge_landings
from lakekit.spark.schema.create_tables import create_or_evolve
from lakekit.spark_conf import CATALOG
from lakekit.steps.jobs import (
    CreateTables,
    CreateTablesResult,
    MaintainTables,
    MaintainTablesResult,
    MergeScd2Result,
)
from lakekit.table_properties import COST_USD, DPU_SECONDS

log = logging.getLogger(__name__)
# Each table is a chain of small Spark jobs with the driver's own work in between.
TABLES_AT_ONCE = 4

Item = TypeVar("Item")
Result = TypeVar("Result", bound=Document)


def create_tables(
    spark: SparkSession, store: ObjectStore, arguments: CreateTables, *, clock: Clock
) -> None:
    """Create or evolve every table that the plan names."""

    def create(session: SparkSession, plan: TablePlan) -> CreateTablesResult:
        return create_or_evolve(session, plan.contract, _identifier(arguments, plan.table))

    plans = [plan for plan in read_plan(store, arguments.run_id).tables if plan.create]
    keep = _Keeper(store, arguments, "create_tables", clock)
    _each(spark, [(plan.table, plan) for plan in plans], create, keep)


def merge_tables(
    spark: SparkSession, store: ObjectStore, arguments: CreateTables, *, clock: Clock
) -> None:
    """Merge every batch that the plan names, those of one table in their order.

    What was merged is kept before the next batch begins: a job may fail or be killed in it, and a
    batch that changed nothing has no other proof. A job that is started once more for the same run
    goes on after that. The result says whether the table wants maintenance: CompleteRun, which has
    no Spark, cannot measure it.
    """
    keep = _Keeper(store, arguments, "merge_scd2", clock)
    plan_of_run = read_plan(store, arguments.run_id)
    plans = [plan for plan in plan_of_run.tables if plan.batches]
    use = partial(_use, plan_of_run.workers, min(len(plans), TABLES_AT_ONCE), clock(), clock)

    def merge(session: SparkSession, plan: TablePlan) -> MergeScd2Result:
        table = _identifier(arguments, plan.table)
        staging = layout.staging_folder(arguments.warehouse, arguments.run_id, plan.table)
        began = clock()
        done = keep.kept(plan.table, MergeScd2Result) or MergeScd2Result(
            table=plan.table, merges=()
        )
        merged_before = {each.run_id for each in done.merges}
        left = [each for each in plan.batches if each.run_id not in merged_before]
        for landings in passes(plan.contract, left):
            for merged in merge_landings(
                session, plan.contract, landings, table, staging=staging, use=use
            ):
                done = done.model_copy(update={"merges": (*done.merges, *merged)})
                keep(plan.table, done)
        maintain = wants_maintenance(session, plan.contract, table, now=clock())
        seconds = (clock() - began).total_seconds()
        return done.model_copy(update={"maintain": maintain, "seconds": seconds})

    _each(spark, [(plan.table, plan) for plan in plans], merge, keep)


def _use(workers: Workers | None, tables: int, began: datetime, clock: Clock) -> dict[str, str]:
    """Return the snapshot properties of what one of some tables side by side has used so far."""
    if workers is None:
        return {}
    used = (clock() - began).total_seconds() * workers.dpus / tables
    cost = glue_cost(used, workers.execution_class)
    return {DPU_SECONDS: f"{used:.1f}", COST_USD: f"{cost:.6f}"}


def maintain_tables(
    spark: SparkSession,
    store: ObjectStore,
    arguments: MaintainTables,
    contracts: Iterable[Contract],
    *,
    leases: TableLeases,
    clock: Clock,
) -> None:
    """Maintain every table of a source that exists and that no run holds."""
    owner = layout.maintenance_owner(arguments.run_id)

    def maintain(session: SparkSession, contract: Contract) -> MaintainTablesResult:
        name = contract.contract
        try:
            leases.acquire(name, owner)
        except TableBusyError as busy:
            # A run that is merging now asks for maintenance itself if the table still wants it.
            return MaintainTablesResult(table=name, busy=str(busy))
        try:
            table = _identifier(arguments, name)
            done = maintain_with_journal(session, contract, table, now=clock())
            return MaintainTablesResult(table=name, maintained=done)
        finally:
            leases.release(name, owner)

    present = [
        (contract.contract, contract)
        for contract in contracts
        if spark.catalog.tableExists(_identifier(arguments, contract.contract))
    ]
    keep = _Keeper(store, arguments, "maintain_tables", clock)
    _each(spark, present, maintain, keep)


def _each(
    spark: SparkSession,
    items: list[tuple[str, Item]],
    work: Callable[[SparkSession, Item], Result],
    keep: "_Keeper",
) -> None:
    """Work on each item in a session of its own; raise the worst failure after the last."""

    def one(name: str, item: Item) -> Exception | None:
        try:
            keep(name, work(spark.newSession(), item))
        except Exception as error:  # raised at the end, with those of its neighbours
            log.exception("%s failed", name)
            keep.failure(name, error)
            return error
        return None

    with ThreadPoolExecutor(TABLES_AT_ONCE) as pool:
        run = inheritable_thread_target(one)
        results = list(pool.map(lambda pair: run(*pair), items))
    failed = {name: error for (name, _), error in zip(items, results, strict=True) if error}
    if failed:
        worst = max(failed.values(), key=lambda error: isinstance(error, TerminalError))
        reasons = "; ".join(f"{name}: {type(e).__name__}: {e}" for name, e in failed.items())
        kind = type(worst) if isinstance(worst, LakekitError) else RuntimeError
        raise kind(f"{len(failed)} of {len(items)} tables failed: {reasons}") from worst


class _Keeper:
    """Keeps what a job did to each table, or why it could not, for CompleteRun and for people."""

    def __init__(
        self, store: ObjectStore, arguments: CreateTables, step: str, clock: Clock
    ) -> None:
        self._store, self._arguments, self._step, self._clock = store, arguments, step, clock

    def __call__(self, table: str, result: Document) -> None:
        key = layout.result_key(self._arguments.run_id, self._step, table)
        self._store.put(key, result.to_json())
        log.info("%s", result.model_dump_json())

    def kept(self, table: str, model: type[Result]) -> Result | None:
        """Return what an earlier job of the same run has kept of a table."""
        key = layout.result_key(self._arguments.run_id, self._step, table)
        return read_optional(self._store, key, model)

    def failure(self, table: str, error: Exception) -> None:
        record = FailureRecord(
            run_id=self._arguments.run_id,
            source=self._arguments.source,
            table=table,
            error=type(error).__name__,
            cause=str(error),
            recorded_at=self._clock(),
        )
        key = layout.job_failure_key(self._arguments.run_id, self._step, table)
        self._store.put(key, record.to_json())


def _identifier(arguments: CreateTables, table: str) -> str:
    return f"{CATALOG}.{arguments.database}.{table}"
