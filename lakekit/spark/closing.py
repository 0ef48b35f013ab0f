"""The MERGEs of a delta: they close versions, take them out, and write their digests down."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from lakekit.spark import order
from lakekit.spark.context import Merge, sent, sent_by_size
from lakekit.spark.plan import Plan
from lakekit.spark.session import session_settings
from lakekit.sql import merge_scd2 as sql


def ending(merge: Merge, plan: Plan) -> DataFrame:
    """Return the keys whose current version ends `__at`, or is written anew (`__drop`)."""
    ends = plan.staged.where(f"{order.CLOSES} OR (__first AND __replaced)")
    drop = F.lit(True) if merge.contract.history.mode == "scd1" else F.col("__replaced")
    return ends.select(*merge.keys, F.col("__close_at").alias("__at"), drop.alias("__drop"))


def close(merge: Merge, branch: str, plan: Plan) -> None:
    """Close what ends, and take out what is written anew."""
    contract, table, keys = merge.contract, merge.table, merge.keys
    if plan.closes or plan.drops:
        view = f"closing_{branch}"
        sent(ending(merge, plan), plan.touched).createOrReplaceTempView(view)
        drops = plan.drops or contract.history.mode == "scd1"
        statement = sql.close_versions(table, branch, contract.keys, view, drop=drops)
        _run_sent(merge, statement, plan.touched)
    if plan.settled and plan.settled.versions is not None:
        ends = plan.settled.versions.where("__change IN ('close', 'replace', 'drop')")
        narrow = ends.select(
            *keys, "__from", F.col("__to").alias("__at"),
            (F.col("__change") != "close").alias("__drop"),
        )  # fmt: skip
        view = f"changing_{branch}"
        sent(narrow, plan.settled.changes).createOrReplaceTempView(view)
        statement = sql.change_versions(table, branch, contract.keys, view)
        _run_sent(merge, statement, plan.settled.changes)


def _run_sent(merge: Merge, statement: str, rows: int) -> None:
    """Run a MERGE whose source of so many rows is sent to every worker, unless they are too many.

    Spark gives the join of one that updates a hint of its own, and overlooks that of its source.
    """
    with session_settings(merge.spark, sent_by_size(rows)):
        merge.spark.sql(statement)


def renew_digests(merge: Merge, branch: str, plan: Plan) -> None:
    """Write down which lines current versions show, if a plan asks for it."""
    if plan.digests is not None:
        view = f"digests_{branch}"
        plan.digests.createOrReplaceTempView(view)
        statement = sql.renew_digests(merge.table, branch, merge.contract.keys, view)
        _run_sent(merge, statement, plan.result.unchanged)
