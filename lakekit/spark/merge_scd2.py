"""MergeScd2: fold the records of one run into a table, by the commit protocol."""

from collections.abc import Iterable, Mapping
from functools import partial
from random import uniform
from time import sleep

from pyspark.sql import SparkSession

from lakekit.batch import Batch, MergeResult, naive_utc
from lakekit.contract.contract import Contract
from lakekit.errors import CommitConflictError, LateExtractError
from lakekit.layout import branch_name
from lakekit.spark.backfill import filled_by, tell_filled
from lakekit.spark.iceberg.baseline import pin
from lakekit.spark.iceberg.branch import drop_branch
from lakekit.spark.iceberg.published_runs import Evidence, iso, iso_time, published_runs
from lakekit.spark.iceberg.table import change_properties
from lakekit.spark.journal import Facts
from lakekit.spark.plan.append import plan_append
from lakekit.spark.plan.plan import Plan, plan_merge
from lakekit.spark.run import Merge
from lakekit.spark.schema.create_tables import create_or_evolve
from lakekit.spark.session.session import session_settings, steady
from lakekit.spark.session.staging import drop_staging, own_place
from lakekit.spark.write.publish import publish
from lakekit.spark.write.quarantine import quarantine
from lakekit.sql.identifiers import quote_table
from lakekit.sql.immutable import refuse_what_is_fixed
from lakekit.sql.line_hash import LINES, RENEWED

ATTEMPTS = 5


def merge_scd2(
    spark: SparkSession, contract: Contract, batch: Batch, table: str, *, staging: str
) -> MergeResult:
    """Merge one run in the mode of its contract; one commit becomes visible, or none.

    Args:
        spark: A session whose catalog holds the table.
        contract: The table's contract.
        batch: The landed records of the run.
        table: Identifier of the table; it is made if it is absent.
        staging: Folder for the change set, an address that Spark writes.

    Raises:
        TooManyRejectedError, TooManyDeletedError, LateExtractError, InvariantViolatedError,
        SchemaMismatchError: Nothing was published.
        CommitConflictError: Others wrote during each of five attempts; or during ten to note what
            the run has filled in, which is published then and notes it when it comes again.
    """
    if not spark.catalog.tableExists(table):
        create_or_evolve(spark, contract, table)
    place = own_place(staging, batch.run_id)
    try:
        for attempt in range(ATTEMPTS):
            merge = Merge(spark, contract, batch, table, f"{place}/{attempt}")
            with session_settings(spark, steady(spark) | merge.settings):
                done = _attempt(merge)
            if done is not None:
                return done
            # Of two processes that are at work on the same, one gets ahead.
            sleep(uniform(0, 1 << attempt) / 2)  # noqa: S311  no secret
    finally:
        drop_staging(spark, place)
    raise CommitConflictError(f"{table}: others wrote {ATTEMPTS} times during run {batch.run_id}")


def _attempt(merge: Merge) -> MergeResult | None:
    """Plan and publish once; None if the table moved in between."""
    batch, table = merge.batch, merge.table
    # Before anything is read of it: what moves it afterwards stops the publishing.
    seen = pin(merge.spark, merge.contract, table)
    published = published_runs(merge.spark, table)
    if batch.run_id in published:
        # A rebuild may have published it after it had crashed.
        drop_branch(merge.spark, table, branch_name(batch.run_id))
        tell_filled(merge)
        snapshot = published[batch.run_id].snapshot_id
        return MergeResult(table=table, run_id=batch.run_id, snapshot_id=snapshot)
    if seen.has_told(merge.spark, batch.run_id):
        tell_filled(merge)
        return MergeResult(table=table, run_id=batch.run_id)
    # A run may come again that was planned before the table took another contract.
    known = merge.spark.table(quote_table(table)).columns
    refuse_what_is_fixed(merge.contract, table, known, merge.properties)
    facts = Facts(merge, seen.under_way, seen.commits)
    plan = plan_run(merge, facts, published.values())
    quarantine(merge, plan)
    with session_settings(merge.spark, merge.settings_to_publish(plan.rows)):
        done = publish(merge, plan, facts, seen)
    if done is not None:
        change_properties(merge.spark, merge.table, partial(_learnt, merge, plan))
    return done


def _learnt(merge: Merge, plan: Plan, properties: Mapping[str, str]) -> dict[str, str]:
    """Return the properties by which a table knows what a published run has filled in."""
    told = filled_by(merge, properties, plan.scopes)
    now = naive_utc(merge.batch.extraction_time)
    if plan.digests is not None:
        told |= {LINES: merge.reading, RENEWED: now.isoformat()}
    return told


def plan_run(merge: Merge, facts: Facts, published: Iterable[Evidence]) -> Plan:
    """Stage a run in the mode of its contract.

    Raises:
        TooManyRejectedError, TooManyDeletedError, LateExtractError: The run is refused.
    """
    history = merge.contract.history
    if history.mode == "append":
        return plan_append(merge)
    if history.sequence_by is None:
        _refuse_late(merge.batch, published)
    return plan_merge(merge, facts)


def _refuse_late(batch: Batch, published: Iterable[Evidence]) -> None:
    """Raise if a run without a sequence is older than one that is merged."""
    known = [each.extraction_time for each in published]
    known += [iso_time(batch.merged_until)] if batch.merged_until else []
    newest = max(known, default="")
    if iso(batch) < newest:
        raise LateExtractError(
            f"run {batch.run_id}: its extraction time {iso(batch)} is before {newest}, "
            "which is already merged"
        )
