"""The commit protocol: write on a branch, check, move main to it. One commit shows, or none.

Whether a branch holds as many rows as its run should have written, by Iceberg's own counts.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import functions as F

from lakekit.batch import RUN_ID, MergeResult
from lakekit.errors import InvariantViolatedError
from lakekit.layout import branch_name
from lakekit.spark.iceberg.baseline import Pin
from lakekit.spark.iceberg.branch import (
    branch_head,
    fast_forward,
    give_up,
    leave,
    open_branch,
    work_of,
)
from lakekit.spark.iceberg.table import head_of, load_table, main_snapshot
from lakekit.spark.journal import Facts
from lakekit.spark.plan.plan import Plan
from lakekit.spark.run import Merge
from lakekit.spark.session.tuning import sent
from lakekit.spark.write.write import write
from lakekit.sql import merge_scd2 as sql
from lakekit.sql.identifiers import quote_all, quote_table
from lakekit.sql.tables import marks


def publish(merge: Merge, plan: Plan, facts: Facts, seen: Pin) -> MergeResult | None:
    """Tell the companion, close and open on a branch, check, and move main to it.

    Args:
        merge: The run.
        plan: What it changes.
        facts: The companion.
        seen: What the plan was made on.

    Returns:
        What was done; None if the table has moved since.
    """
    spark, table, branch = merge.spark, merge.table, branch_name(merge.batch.run_id)
    stands = partial(seen.stands, spark, run_id=merge.batch.run_id)
    # An attempt before may have told something that this one would not.
    tells = bool(plan.remembered) or branch in seen.under_way
    if plan.empty() and not tells:
        return plan.result if seen.companion is None or stands(load_table(spark, table)) else None
    # What only tells begins one too, by which the run's other process knows of it.
    work = work_of(branch)
    if not open_branch(spark, table, branch, seen.head, work):
        return None
    done = None
    try:
        # What is told stays told, so it must not rest on what another run may yet take back.
        if not tells or stands(load_table(spark, table)):
            facts.remember(plan.remembered)
            if not plan.empty():
                done = _finish(merge, plan, work, seen, stands)
            elif leave(spark, table, branch, stands):
                done = plan.result
    finally:
        if done is None:
            give_up(spark, table, branch, work, told=tells)
    return done


def _finish(
    merge: Merge, plan: Plan, work: str, seen: Pin, stands: Callable[[Any], bool]
) -> MergeResult | None:
    """Write, check and move main; None if the table has moved, or the run's other process won."""
    spark, table, branch = merge.spark, merge.table, branch_name(merge.batch.run_id)
    try:
        write(merge, work, plan)
        head = branch_head(spark, table, work)
        if head is None:
            return None
        _check(merge, work, plan)
        refuse_miscounted(merge, work, seen.head, head, plan.growth)
        if fast_forward(spark, table, work, head, stands, branch):
            return plan.result.model_copy(update={"snapshot_id": head, "committed": True})
    except InvariantViolatedError:
        # A branch that the other one took away while a commit was made began anew, at its work.
        if main_snapshot(spark, table) == seen.head:
            raise
    except (Py4JJavaError, PySparkException):
        # The other one has taken the branch away, or the rows have not the table's form any more.
        known = load_table(spark, table)
        if head_of(known, work) is not None and not seen.evolved(known):
            raise
    return None


def _check(merge: Merge, branch: str, plan: Plan) -> None:
    """Refuse a branch on which the touched keys do not have exactly the versions they should."""
    if merge.contract.history.mode == "append":
        return
    contract, table, keys = merge.contract, merge.table, merge.keys
    touched = plan.staged.where("__first").select(*keys)
    if plan.settled and plan.settled.keys is not None:
        touched = touched.unionByName(plan.settled.keys.select(*keys))
    names = quote_all(contract.keys)
    current = merge.spark.sql(
        f"SELECT {names} FROM {sql.branch_of(table, branch)} WHERE _is_current"
    )
    touched = sent(touched, plan.touched)
    per_key = current.join(touched, list(contract.keys)).groupBy(*keys).count()
    row = per_key.agg(F.count(F.lit(1)).alias("keys"), F.max("count").alias("most")).first()
    found, most = (row["keys"], row["most"] or 0) if row else (0, 0)
    if most > 1 or (found != plan.alive and not marks(contract)):
        raise InvariantViolatedError(
            f"{table}: run {plan.result.run_id} should leave {plan.alive} of its keys with a "
            f"current version; its branch shows {found} keys with up to {most} each"
        )


def refuse_miscounted(
    merge: Merge, branch: str, before: int | None, head: int, growth: int
) -> None:
    """Refuse a branch that lacks the run's evidence, or rows, or has too many.

    No row is read, unless the totals of its snapshots do not say what they should.

    Args:
        merge: The run.
        branch: The branch that it has written on.
        before: Main's head, on which it was planned.
        head: The head of the branch.
        growth: How many more rows it should have than main.

    Raises:
        InvariantViolatedError: It is not what it should be.
    """
    known = load_table(merge.spark, merge.table)
    last = known.snapshot(head)
    if last is None or last.summary().get(RUN_ID) != merge.batch.run_id:
        raise _wrong(merge, f"the last commit of {branch} is not the run's")
    first = None if before is None else known.snapshot(before)
    if before is not None and first is None:
        # It has expired, so main has moved, which cannot be moved to the branch.
        return
    live_before, live_after = 0 if first is None else _live(first.summary()), _live(last.summary())
    if live_before is not None and live_after is not None and live_after - live_before == growth:
        return
    # The totals count a row twice that two lists of deleted rows name, and rows of files that are
    # gone: what they say is certain only where it is what was planned.
    more = count_rows(merge, head) - count_rows(merge, before)
    if more != growth:
        raise _wrong(merge, f"it should add {growth} rows; there are {more} more")


def count_rows(merge: Merge, snapshot: int | None) -> int:
    """Count the rows of a snapshot by reading them; None stands for an empty table."""
    if snapshot is None:
        return 0
    return merge.spark.read.option("snapshot-id", snapshot).table(quote_table(merge.table)).count()


def _live(summary: Mapping[str, Any]) -> int | None:
    """Return the rows of a snapshot less those that lists of deleted rows name.

    Only what it is more or less than that of another snapshot tells something. None if the summary
    does not say.
    """
    totals = [summary.get(f"total-{kind}") for kind in ("records", "position-deletes")]
    return None if None in totals else int(totals[0] or 0) - int(totals[1] or 0)


def _wrong(merge: Merge, why: str) -> InvariantViolatedError:
    return InvariantViolatedError(f"{merge.table}: run {merge.batch.run_id}: {why}")
