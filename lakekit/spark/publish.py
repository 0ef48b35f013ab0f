"""The commit protocol: write on a branch, check, move main to it. One commit shows, or none."""

from collections.abc import Callable
from functools import partial
from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import functions as F

from lakekit.batch import MergeResult
from lakekit.errors import InvariantViolatedError
from lakekit.spark.balance import refuse_miscounted
from lakekit.spark.branch import (
    branch_head,
    branch_name,
    fast_forward,
    give_up,
    leave,
    open_branch,
    work_of,
)
from lakekit.spark.context import Merge, sent
from lakekit.spark.facts import Facts
from lakekit.spark.iceberg import load_table, main_snapshot
from lakekit.spark.pin import Pin
from lakekit.spark.plan import Plan
from lakekit.spark.refs import head_of
from lakekit.spark.writing import write
from lakekit.sql import merge_scd2 as sql
from lakekit.sql.identifiers import quote_all
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
