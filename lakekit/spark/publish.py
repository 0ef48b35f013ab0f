"""The commit protocol: write on a branch, check, move main to it. One commit shows, or none."""

from collections.abc import Callable
from datetime import UTC
from functools import partial
from typing import Any

from pyspark.sql import Column as Expression
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from lakekit.batch import RUN_ID, Batch, MergeResult
from lakekit.errors import InvariantViolatedError
from lakekit.spark import order
from lakekit.spark.branch import (
    branch_head,
    branch_name,
    drop_branch,
    fast_forward,
    leave,
    open_branch,
)
from lakekit.spark.context import Merge
from lakekit.spark.evidence import EXTRACTION_TIME
from lakekit.spark.facts import Facts
from lakekit.spark.iceberg import load_table
from lakekit.spark.pin import Pin
from lakekit.spark.plan import Plan
from lakekit.spark.tables import with_dropped
from lakekit.sql import merge_scd2 as sql
from lakekit.sql.identifiers import quote, quote_all
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
    if not open_branch(spark, table, branch, seen.head):
        return None
    done = None
    try:
        # What is told stays told, so it must not rest on what another run may yet take back.
        if not tells or stands(load_table(spark, table)):
            facts.remember(plan.remembered)
            done = _finish(merge, plan, branch, stands)
    finally:
        # While it is there, what its run has told does not count.
        if done is None and not tells:
            drop_branch(spark, table, branch)
    return done


def _finish(
    merge: Merge, plan: Plan, branch: str, stands: Callable[[Any], bool]
) -> MergeResult | None:
    """Write, check and move main, or leave the branch of a run that has nothing to write."""
    spark, table = merge.spark, merge.table
    if plan.empty():
        return plan.result if leave(spark, table, branch, stands) else None
    _write(merge, branch, plan)
    head = branch_head(spark, table, branch)
    _check(merge, branch, plan)
    if not fast_forward(spark, table, branch, head, stands):
        return None
    return plan.result.model_copy(update={"snapshot_id": head, "committed": True})


def _write(merge: Merge, branch: str, plan: Plan) -> None:
    if merge.contract.history.mode == "append":
        _append(merge, branch, _records(merge, plan))
        return
    _close(merge, branch, plan)
    _append(merge, branch, _versions(merge, plan))


def _append(merge: Merge, branch: str, rows: DataFrame) -> None:
    evidence = {RUN_ID: merge.batch.run_id, EXTRACTION_TIME: iso(merge.batch)}
    writer = with_dropped(rows, merge.versions()).writeTo(sql.branch_of(merge.table, branch))
    for name, value in evidence.items():
        writer = writer.option(f"snapshot-property.{name}", value)
    writer.append()


def iso(batch: Batch) -> str:
    """Return a run's extraction time as evidence holds it."""
    return batch.extraction_time.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def _close(merge: Merge, branch: str, plan: Plan) -> None:
    """Close what ends, and take out what is written anew."""
    spark, contract, table, keys = merge.spark, merge.contract, merge.table, merge.keys
    scd1 = contract.history.mode == "scd1"
    if plan.result.closed or plan.drops:
        ends = plan.staged.where(order.closes() | (F.col("__first") & F.col("__replaced")))
        drop = F.lit(True) if scd1 else F.col("__replaced")
        narrow = ends.select(*keys, F.col("__close_at").alias("__at"), drop.alias("__drop"))
        view = f"closing_{branch}"
        F.broadcast(narrow).createOrReplaceTempView(view)
        drops = plan.drops or scd1
        spark.sql(sql.close_versions(table, branch, contract.keys, view, drop=drops))
    if plan.settled and plan.settled.versions is not None:
        ends = plan.settled.versions.where("__change IN ('close', 'replace', 'drop')")
        narrow = ends.select(
            *keys, "__from", F.col("__to").alias("__at"),
            (F.col("__change") != "close").alias("__drop"),
        )  # fmt: skip
        view = f"changing_{branch}"
        F.broadcast(narrow).createOrReplaceTempView(view)
        spark.sql(sql.change_versions(table, branch, contract.keys, view))


def _records(merge: Merge, plan: Plan) -> DataFrame:
    """Return the records that a plan appends, in the table's schema."""
    columns = [F.col(quote(c.name)) for c in merge.contract.stored]
    return plan.staged.select(
        *columns, merge.moment.alias("_ingested_at"), "_source_file", "_row_hash"
    )


def _versions(merge: Merge, plan: Plan) -> DataFrame:
    """Return the versions that a plan writes, in the table's schema."""
    contract, staged, act = merge.contract, plan.staged, F.col("__act")
    shown = ["open", "overwrite"]
    if marks(contract):
        shown.append("delete")
    rows = staged.where(act.isin(shown))
    if contract.history.mode == "scd1":
        rows = rows.where("__until IS NULL")
    start = F.when(F.col("__gone"), F.col("__moment")).otherwise(F.col("__start"))
    versions = _select(merge, rows, start, F.col("__until"))
    if plan.settled and plan.settled.versions is not None:
        fresh = plan.settled.versions.where("__change IN ('insert', 'replace')")
        settled = _select(merge, fresh, F.col("__from"), F.col("__to"))
        versions = versions.unionByName(settled)
    return versions


def _select(merge: Merge, rows: DataFrame, start: Expression, end: Expression) -> DataFrame:
    contract = merge.contract
    gone = F.col("__gone")
    deleted = [gone.alias("_is_deleted")] if marks(contract) else []
    content = [
        F.col(quote(c.name))
        if c.name in contract.keys
        else F.when(~gone, F.col(quote(c.name))).alias(c.name)
        for c in contract.stored
    ]
    return rows.select(
        *content,
        merge.moment.alias("_ingested_at"),
        "_source_file",
        end.isNull().alias("_is_current"),
        start.alias("_valid_from"),
        end.alias("_valid_to"),
        F.coalesce("_row_hash", F.lit(0)).alias("_row_hash"),
        *deleted,
    )


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
    per_key = current.join(F.broadcast(touched), list(contract.keys)).groupBy(*keys).count()
    row = per_key.agg(F.count(F.lit(1)).alias("keys"), F.max("count").alias("most")).first()
    found, most = (row["keys"], row["most"] or 0) if row else (0, 0)
    if most > 1 or (found != plan.alive and not marks(contract)):
        raise InvariantViolatedError(
            f"{table}: run {plan.result.run_id} should leave {plan.alive} of its keys with a "
            f"current version; its branch shows {found} keys with up to {most} each"
        )
