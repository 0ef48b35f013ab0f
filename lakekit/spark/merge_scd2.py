"""MergeScd2: fold the records of one run into a table, by the commit protocol."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial
from random import uniform
from time import sleep

from pyspark.sql import SparkSession

from lakekit.batch import Batch, MergeResult, naive_utc, refuse_extract
from lakekit.contract.contract import Contract
from lakekit.errors import CommitConflictError, LateExtractError
from lakekit.layout import branch_name
from lakekit.spark.backfill import backfill_ended_by, record_backfill
from lakekit.spark.iceberg.baseline import take_baseline
from lakekit.spark.iceberg.branch import drop_branch
from lakekit.spark.iceberg.published_runs import PublishedRun, iso, iso_time, published_runs
from lakekit.spark.iceberg.table import change_properties
from lakekit.spark.journal import Journal
from lakekit.spark.plan.append import plan_append
from lakekit.spark.plan.plan import Plan, plan_merge
from lakekit.spark.run import MergeRun, no_table, read_state
from lakekit.spark.schema.create_tables import create_or_evolve
from lakekit.spark.session.session import session_settings, steady
from lakekit.spark.session.staging import drop_staging, staging_of_run
from lakekit.spark.session.tuning import Tuning
from lakekit.spark.write.publish import publish
from lakekit.spark.write.quarantine import quarantine
from lakekit.sql.immutable import refuse_changed_identity
from lakekit.table_properties import LINE_DIGESTS, line_digests

ATTEMPTS = 5


def merge_scd2(
    spark: SparkSession,
    contract: Contract,
    batch: Batch,
    table: str,
    *,
    staging: str,
    tuning: Tuning | None = None,
) -> MergeResult:
    """Merge one run in the mode of its contract; one commit becomes visible, or none.

    Args:
        spark: A session whose catalog holds the table.
        contract: The table's contract.
        batch: The landed records of the run.
        table: Identifier of the table. It is made if it is absent, once the run is planned.
        staging: Folder for the change set, an address that Spark writes.
        tuning: What counts as small; the default fits all that was measured.

    Raises:
        InvalidContractError, InvalidStepInputError, TooManyRejectedError, TooManyDeletedError,
        LateExtractError, InvariantViolatedError, SchemaMismatchError: Nothing was published.
        CommitConflictError: Others wrote during each of five attempts. Or during ten to record that
            the run has ended a backfill: it is published then, and records it when it comes again.
    """
    place = staging_of_run(staging, batch.run_id)
    try:
        for attempt in range(ATTEMPTS):
            with session_settings(spark, steady(spark)):
                done = _attempt(
                    spark, contract, batch, table, f"{place}/{attempt}", tuning or Tuning()
                )
            if done is not None:
                return done
            # Two processes at work on the same table: one gets ahead.
            sleep(uniform(0, 1 << attempt) / 2)  # noqa: S311  no secret
    finally:
        drop_staging(spark, place)
    raise CommitConflictError(f"{table}: others wrote {ATTEMPTS} times during run {batch.run_id}")


def _attempt(
    spark: SparkSession, contract: Contract, batch: Batch, table: str, staging: str, tuning: Tuning
) -> MergeResult | None:
    """Plan and publish once; None if the table has changed in between."""
    exists = spark.catalog.tableExists(table)
    # Before anything is read of it: a change after that stops the publishing.
    baseline = take_baseline(spark, contract, table)
    published = published_runs(spark, table) if exists else {}
    state = read_state(spark, contract, table, tuning) if exists else no_table(spark, contract)
    run = MergeRun(spark, contract, batch, table, staging, state, tuning)
    if batch.run_id in published:
        # A rebuild may have published it after it had crashed.
        drop_branch(spark, table, branch_name(batch.run_id))
        record_backfill(run)
        snapshot = published[batch.run_id].snapshot_id
        return MergeResult(table=table, run_id=batch.run_id, snapshot_id=snapshot)
    if exists and baseline.has_recorded(spark, batch.run_id):
        record_backfill(run)
        return MergeResult(table=table, run_id=batch.run_id)
    # A run may come again that was planned before the table took another contract.
    refuse_changed_identity(contract, table, state.columns, state.properties)
    journal = Journal(run, baseline.in_progress, baseline.commits)
    with session_settings(spark, run.settings):
        plan = plan_run(run, journal, published.values())
        if not exists:
            # Only now: a first run that is refused leaves no table.
            create_or_evolve(spark, contract, table)
            baseline, planned_on = take_baseline(spark, contract, table), baseline
            if replace(baseline, schema=None) != planned_on:
                return None
        quarantine(run, plan)
        with session_settings(spark, run.settings_to_publish(plan.rows)):
            done = publish(run, plan, journal, baseline)
    if done is not None:
        change_properties(spark, table, partial(_recorded, run, plan))
    return done


def _recorded(run: MergeRun, plan: Plan, properties: Mapping[str, str]) -> dict[str, str]:
    """Return the properties by which a table records what a published run has completed."""
    changed = backfill_ended_by(run, properties, plan.scopes)
    if plan.digests is not None:
        now = naive_utc(run.batch.extraction_time)
        digests = line_digests(properties).model_copy(
            update={"fingerprint": run.fingerprint, "renewed_at": now}
        )
        changed |= LINE_DIGESTS.write(digests)
    return changed


def plan_run(run: MergeRun, journal: Journal, published: Iterable[PublishedRun]) -> Plan:
    """Stage a run in the mode of its contract.

    Raises:
        InvalidStepInputError, TooManyRejectedError, TooManyDeletedError, LateExtractError: The run
            is refused.
    """
    refuse_extract(run.contract, run.batch.extract)
    history = run.contract.history
    if history.mode == "append":
        return plan_append(run)
    if history.sequence_by is None:
        _refuse_late(run.batch, published)
    return plan_merge(run, journal)


def _refuse_late(batch: Batch, published: Iterable[PublishedRun]) -> None:
    """Raise if a run without a sequence is older than one that is merged."""
    merged = [each.extraction_time for each in published]
    merged += [iso_time(batch.merged_until)] if batch.merged_until else []
    newest = max(merged, default="")
    if iso(batch) < newest:
        raise LateExtractError(
            f"run {batch.run_id}: its extraction time {iso(batch)} is before {newest}, "
            "which is already merged"
        )
