"""The commit protocol, write-audit-publish: write on a branch, check it, move main to it.

One commit becomes visible, or none.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import functions as F

from lakekit.batch import MergeResult
from lakekit.errors import InvariantViolatedError
from lakekit.layout import branch_name
from lakekit.spark.iceberg.baseline import Baseline
from lakekit.spark.iceberg.branch import (
    abandon_branch,
    branch_head,
    close_branch,
    fast_forward,
    open_branch,
    work_branch,
)
from lakekit.spark.iceberg.table import head_of, load_table, main_snapshot
from lakekit.spark.journal import Journal
from lakekit.spark.plan.plan import Plan
from lakekit.spark.run import MergeRun
from lakekit.spark.session.tuning import broadcast_if_small
from lakekit.spark.write.write import write
from lakekit.sql import merge_scd2 as sql
from lakekit.sql.identifiers import quote_all, quote_table
from lakekit.table_properties import RUN_ID


def publish(run: MergeRun, plan: Plan, journal: Journal, baseline: Baseline) -> MergeResult | None:
    """Append to the journal, close and open versions on a branch, check it, move main to it.

    Args:
        run: The run.
        plan: What it changes.
        journal: The table's change journal.
        baseline: What the plan was made on.

    Returns:
        What was done; None if the table has changed since.
    """
    spark, table, branch = run.spark, run.table, branch_name(run.batch.run_id)
    is_unchanged = partial(baseline.is_unchanged, spark, run_id=run.batch.run_id)
    done = MergeResult(table=table, run_id=run.batch.run_id, **plan.metrics.model_dump())
    # An earlier attempt may have appended entries that this one would not.
    appends = bool(plan.journal) or branch in baseline.in_progress
    if plan.is_empty() and not appends:
        unchanged = baseline.journal is None or is_unchanged(load_table(spark, table))
        return done if unchanged else None
    # A run that only appends to the journal opens one too: it shows that the run is in progress.
    work = work_branch(branch)
    if not open_branch(spark, table, branch, baseline.head, work):
        return None
    result = None
    try:
        # Entries stay, so they must not rest on entries that another run may yet take back.
        if not appends or is_unchanged(load_table(spark, table)):
            journal.append(plan.journal)
            if not plan.is_empty():
                head = _finish(run, plan, work, baseline, is_unchanged)
                if head is not None:
                    result = done.model_copy(update={"snapshot_id": head, "committed": True})
            elif close_branch(spark, table, branch, is_unchanged):
                result = done
    finally:
        if result is None:
            abandon_branch(spark, table, branch, work, recorded=appends)
    return result


def _finish(
    run: MergeRun,
    plan: Plan,
    work: str,
    baseline: Baseline,
    is_unchanged: Callable[[Any], bool],
) -> int | None:
    """Write, check and move main; return its head.

    None if the table has changed, or another process of the same run was first.
    """
    spark, table, branch = run.spark, run.table, branch_name(run.batch.run_id)
    try:
        write(run, work, plan)
        head = branch_head(spark, table, work)
        if head is None:
            return None
        _check(run, work, plan)
        refuse_miscounted(run, work, baseline.head, head, plan.growth)
        if fast_forward(spark, table, work, head, is_unchanged, branch):
            return head
    except InvariantViolatedError:
        # If another process of the run removed the branch, a commit began it again, at its work.
        if main_snapshot(spark, table) == baseline.head:
            raise
    except (Py4JJavaError, PySparkException):
        # Another process of the run has removed the branch, or the table got another schema.
        loaded = load_table(spark, table)
        if head_of(loaded, work) is not None and not baseline.schema_changed(loaded):
            raise
    return None


def _check(run: MergeRun, branch: str, plan: Plan) -> None:
    """Refuse a branch on which the touched keys have too many or too few current versions."""
    if run.contract.history.mode == "append":
        return
    contract, table, keys = run.contract, run.table, run.keys
    touched = plan.staged.where("__first").select(*keys)
    if plan.rederived and plan.rederived.keys is not None:
        touched = touched.unionByName(plan.rederived.keys.select(*keys))
    names = quote_all(contract.keys)
    current = run.spark.sql(f"SELECT {names} FROM {sql.branch_of(table, branch)} WHERE _is_current")
    touched = broadcast_if_small(touched, plan.touched)
    per_key = current.join(touched, list(contract.keys)).groupBy(*keys).count()
    row = per_key.agg(F.count(F.lit(1)).alias("keys"), F.max("count").alias("most")).first()
    found, most = (row["keys"], row["most"] or 0) if row else (0, 0)
    if most > 1 or (found != plan.current_after and not run.state.marks_deletes):
        raise InvariantViolatedError(
            f"{table}: run {run.batch.run_id} should leave {plan.current_after} of its keys with a "
            f"current version; its branch shows {found} keys with up to {most} each"
        )


def refuse_miscounted(
    run: MergeRun, branch: str, before: int | None, head: int, growth: int
) -> None:
    """Refuse a branch whose last commit is not the run's, or with a wrong number of rows.

    No row is read, unless the totals of its snapshots differ from what they should be.

    Args:
        run: The run.
        branch: The branch that it has written on.
        before: Main's head, on which it was planned.
        head: The head of the branch.
        growth: How many more rows it should have than main.

    Raises:
        InvariantViolatedError: It is not what it should be.
    """
    known = load_table(run.spark, run.table)
    last = known.snapshot(head)
    if last is None or last.summary().get(RUN_ID) != run.batch.run_id:
        raise _wrong(run, f"the last commit of {branch} is not the run's")
    first = None if before is None else known.snapshot(before)
    if before is not None and first is None:
        # It has expired, so main has moved, which cannot be moved to the branch.
        return
    live_before, live_after = 0 if first is None else _live(first.summary()), _live(last.summary())
    if live_before is not None and live_after is not None and live_after - live_before == growth:
        return
    # The totals count a row twice that is in two lists of deleted rows, and rows of files that were
    # removed: they are certain only where they are what was planned.
    more = count_rows(run, head) - count_rows(run, before)
    if more != growth:
        raise _wrong(run, f"it should add {growth} rows; there are {more} more")


def count_rows(run: MergeRun, snapshot: int | None) -> int:
    """Count the rows of a snapshot by reading them; None stands for an empty table."""
    if snapshot is None:
        return 0
    return run.spark.read.option("snapshot-id", snapshot).table(quote_table(run.table)).count()


def _live(summary: Mapping[str, Any]) -> int | None:
    """Return the rows of a snapshot less those that lists of deleted rows name.

    Only its difference from that of another snapshot means something. None if the summary lacks it.
    """
    totals = [summary.get(f"total-{kind}") for kind in ("records", "position-deletes")]
    return None if None in totals else int(totals[0] or 0) - int(totals[1] or 0)


def _wrong(run: MergeRun, why: str) -> InvariantViolatedError:
    return InvariantViolatedError(f"{run.table}: run {run.batch.run_id}: {why}")
