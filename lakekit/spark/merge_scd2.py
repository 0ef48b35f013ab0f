"""MergeScd2: fold the records of one run into a table, by the commit protocol."""

import logging
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from random import uniform
from time import sleep

from pyspark.sql import SparkSession

from lakekit.batch import Batch, MergeMetrics, MergeResult, naive_utc, refuse_extract
from lakekit.contract.contract import Contract
from lakekit.errors import CommitConflictError, LateExtractError
from lakekit.layout import branch_name
from lakekit.passes import as_pass
from lakekit.spark.backfill import backfill_ended_by, record_backfill
from lakekit.spark.iceberg.baseline import Baseline, take_baseline
from lakekit.spark.iceberg.branch import drop_branch
from lakekit.spark.iceberg.published_runs import PublishedRun, iso, iso_time, published_runs
from lakekit.spark.iceberg.table import change_properties
from lakekit.spark.journal import Journal
from lakekit.spark.plan.append import plan_append
from lakekit.spark.plan.plan import Plan, plan_merge
from lakekit.spark.run import MergeRun, NoPassError, Use, no_table, read_state
from lakekit.spark.schema.create_tables import create_or_evolve
from lakekit.spark.session.session import session_settings, steady
from lakekit.spark.session.staging import drop_staging, staging_of_run
from lakekit.spark.session.tuning import Tuning
from lakekit.spark.write.publish import publish
from lakekit.spark.write.quarantine import quarantine
from lakekit.sql.identifiers import literal, quote_table
from lakekit.sql.immutable import refuse_changed_identity
from lakekit.table_properties import LINE_DIGESTS, line_digests

ATTEMPTS = 5
log = logging.getLogger(__name__)


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
    target = _Target(spark, contract, table, staging, tuning or Tuning())
    return _merge(target, batch)


def merge_landings(  # noqa: PLR0913  options by name
    spark: SparkSession,
    contract: Contract,
    landings: Sequence[Batch],
    table: str,
    *,
    staging: str,
    tuning: Tuning | None = None,
    use: Use = dict,
) -> Iterator[list[MergeResult]]:
    """Merge landings of a table in one pass if that is possible, else one after the other.

    Args:
        spark: See `merge_scd2`.
        contract: See `merge_scd2`.
        landings: Those of one pass, in their order; see `passes`.
        table: See `merge_scd2`.
        staging: See `merge_scd2`.
        tuning: See `merge_scd2`.
        use: Returns the snapshot properties of what has been used so far.

    Yields:
        After each commit its results, one for each landing. The first one of a pass has the metrics
        of all.

    Raises:
        LakekitError: As `merge_scd2`, of the first landing that cannot be merged.
    """
    target = _Target(spark, contract, table, staging, tuning or Tuning(), use)
    if len(landings) > 1:
        try:
            yield _merge_pass(target, landings)
        except NoPassError:
            log.info("%s: %d landings are merged one after the other", table, len(landings))
        else:
            return
    for landing in landings:
        yield [_merge(target, landing)]


@dataclass(frozen=True)
class _Target:
    """Where a merge goes; see `merge_scd2`."""

    spark: SparkSession
    contract: Contract
    table: str
    staging: str
    tuning: Tuning
    use: Use = dict


def _merge_pass(target: _Target, landings: Sequence[Batch]) -> list[MergeResult]:
    """Merge landings as one run.

    Raises:
        NoPassError: They must be merged one after the other.
    """
    done = _merge(target, as_pass(landings), tuple(landings))
    same = done.model_copy(update=dict.fromkeys(MergeMetrics.model_fields, 0))
    results = [done, *[same] * (len(landings) - 1)]
    return [
        result.model_copy(update={"run_id": landing.run_id, "pass_id": done.run_id})
        for result, landing in zip(results, landings, strict=True)
    ]


def _merge(target: _Target, batch: Batch, landings: tuple[Batch, ...] = ()) -> MergeResult:
    spark, table = target.spark, target.table
    place = staging_of_run(target.staging, batch.run_id)
    try:
        for attempt in range(ATTEMPTS):
            with session_settings(spark, steady(spark)):
                done = _attempt(replace(target, staging=f"{place}/{attempt}"), batch, landings)
            if done is not None:
                return done
            # Two processes at work on the same table: one gets ahead.
            sleep(uniform(0, 1 << attempt) / 2)  # noqa: S311  no secret
    finally:
        drop_staging(spark, place)
    raise CommitConflictError(f"{table}: others wrote {ATTEMPTS} times during run {batch.run_id}")


def _attempt(target: _Target, batch: Batch, landings: tuple[Batch, ...]) -> MergeResult | None:
    """Plan and publish once; None if the table has changed in between."""
    spark, contract, table = target.spark, target.contract, target.table
    exists = spark.catalog.tableExists(table)
    # Before anything is read of it: a change after that stops the publishing.
    baseline = take_baseline(spark, contract, table)
    published = published_runs(spark, table) if exists else {}
    if _drop_given_up(spark, baseline, batch.run_id):
        return None
    tuning = target.tuning
    state = read_state(spark, contract, table, tuning) if exists else no_table(spark, contract)
    run = MergeRun(
        spark, contract, batch, table, target.staging, state, tuning, landings, target.use
    )
    _refuse_pass(run, published, baseline)
    if batch.run_id in published:
        # A rebuild may have published it after it had crashed.
        drop_branch(spark, table, branch_name(batch.run_id))
        record_backfill(run)
        found = published[batch.run_id]
        return MergeResult(
            table=table,
            run_id=batch.run_id,
            snapshot_id=found.snapshot_id,
            pass_id=found.pass_id,
        )
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


def _refuse_pass(run: MergeRun, published: Collection[str], baseline: Baseline) -> None:
    """Raise NoPassError if landings cannot be merged in one pass into the table as it is."""
    if not run.landings:
        return
    known = {*published, *baseline.recorded(run.spark)}
    # Of a column that is backfilled, the extract of a record says whether it was there.
    if run.state.added or any(landing.run_id in known for landing in run.landings):
        raise NoPassError


def _drop_given_up(spark: SparkSession, baseline: Baseline, run_id: str) -> bool:
    """Drop what passes have left that ended in a crash, and return whether there were some.

    Their landings come again, perhaps with others, and then in another pass: only a pass of the
    same landings would find its branch again. The branch goes first. Without it nothing of the pass
    can be published any more.
    """
    given_up = [each for each in baseline.passes_in_progress(spark) if each != run_id]
    for each in given_up:
        drop_branch(spark, baseline.table, branch_name(each))
        journal = quote_table(baseline.journal or "")
        spark.sql(f"DELETE FROM {journal} WHERE _run_id = {literal(each)}")
    return bool(given_up)


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
