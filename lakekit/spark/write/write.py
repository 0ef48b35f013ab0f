"""What a plan writes on its branch: a delta, or of small tables all current versions.

A delta is two commits: a MERGE that closes, and an append that opens. Where the current versions
are few, to write them anew together with those that close is one commit, and no delete files.

The MERGEs of a delta: they close versions, take them out, and write their digests down.
"""

from pyspark.sql import Column as Expression
from pyspark.sql import DataFrame, DataFrameWriterV2
from pyspark.sql import functions as F

from lakekit.batch import RUN_ID
from lakekit.spark.diff import order
from lakekit.spark.iceberg.published_runs import EXTRACTION_TIME, iso
from lakekit.spark.plan.plan import Plan
from lakekit.spark.run import Merge
from lakekit.spark.schema.conform import dropped_names, in_table_form
from lakekit.spark.session.session import session_settings
from lakekit.spark.session.tuning import kept_apart, sent, sent_by_size
from lakekit.sql import merge_scd2 as sql
from lakekit.sql.identifiers import quote
from lakekit.sql.line_hash import DIGEST
from lakekit.sql.tables import marks


def write(merge: Merge, branch: str, plan: Plan) -> None:
    """Write what a plan closes and opens; nothing shows before main moves to the branch."""
    appends = merge.contract.history.mode == "append"
    rows = _records(merge, plan) if appends else _versions(merge, plan)
    # Before anything is written it is known that the table has the columns.
    rows = in_table_form(merge.spark, rows, merge.table)
    if appends:
        _append(merge, branch, rows)
    elif _is_delta(merge, plan):
        close(merge, branch, plan)
        renew_digests(merge, branch, plan)
        _append(merge, branch, rows)
    else:
        _overwrite(merge, branch, plan, rows)


def _is_delta(merge: Merge, plan: Plan) -> bool:
    """Whether versions change in their place, or many current ones would not change."""
    settles = plan.settled is not None and plan.settled.versions is not None
    return settles or plan.digests is not None or not merge.writes_anew


def _append(merge: Merge, branch: str, rows: DataFrame) -> None:
    _writer(merge, branch, rows).append()


def _overwrite(merge: Merge, branch: str, plan: Plan, rows: DataFrame) -> None:
    """Write all current versions anew, with those that end and the rows of those that begin."""
    ends, target = ending(merge, plan), sql.branch_of(merge.table, branch)
    current = merge.spark.table(target).where("_is_current")
    both = current.join(F.broadcast(ends), list(merge.contract.keys), "left")
    ended = F.col("__at").isNotNull()
    now = {"_is_current": ~ended, "_valid_to": F.col("__at")}
    now |= {name: F.when(~ended, F.col(name)) for name in DIGEST}
    kept = both.where("NOT coalesce(__drop, false)").withColumns(now).drop("__at", "__drop")
    _writer(merge, branch, kept.unionByName(rows)).overwrite(F.col("_is_current"))


def _writer(merge: Merge, branch: str, rows: DataFrame) -> DataFrameWriterV2:
    evidence = {RUN_ID: merge.batch.run_id, EXTRACTION_TIME: iso(merge.batch)}
    writer = rows.writeTo(sql.branch_of(merge.table, branch))
    for name, value in evidence.items():
        writer = writer.option(f"snapshot-property.{name}", value)
    return writer


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
    rows = _with_kept(merge, plan, rows) if plan.drops else rows
    rows = rows.withColumn("__ingested", kept_apart(merge.moment, F.col("__gone")))
    versions = _select(merge, rows, start, F.col("__until"))
    if plan.settled and plan.settled.versions is not None:
        fresh = plan.settled.versions.where("__change IN ('insert', 'replace')")
        settled = _select(merge, fresh, F.col("__from"), F.col("__to"))
        versions = versions.unionByName(settled, allowMissingColumns=True)
    return versions


def _with_kept(merge: Merge, plan: Plan, rows: DataFrame) -> DataFrame:
    """Let a version that is renewed keep what it holds in columns that the contract has dropped.

    So it does in untracked ones if they stay as they are, when it gets first values of later
    columns; exact histories derive such keys anew.
    """
    contract, current, keys = merge.contract, merge.current(), list(merge.contract.keys)
    dropped = dropped_names(current, contract)
    stay = [] if contract.overwrites else [c.name for c in contract.untracked]
    if not (dropped or stay):
        return rows
    renewed = sent(rows.where("__act = 'overwrite'").select(*merge.keys), plan.touched)
    names = [F.col(quote(name)).alias(f"__held_{name}") for name in (*dropped, *stay)]
    held = current.join(renewed, keys, "left_semi").select(*merge.keys, *names)
    both, again = rows.join(held, keys, "left"), F.col("__act") == "overwrite"
    kept = {name: F.when(again, F.col(quote(f"__held_{name}"))) for name in dropped}
    kept |= {
        name: F.when(again, F.col(quote(f"__held_{name}"))).otherwise(F.col(quote(name)))
        for name in stay
    }
    return both.withColumns(kept)


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
        # Of what a late change has cut it is that of its own record, which ranks by it.
        F.col("__ingested").alias("_ingested_at"),
        "_source_file",
        end.isNull().alias("_is_current"),
        start.alias("_valid_from"),
        end.alias("_valid_to"),
        F.coalesce("_row_hash", F.lit(0)).alias("_row_hash"),
        *_digest(rows, end),
        *deleted,
        *[quote(name) for name in dropped_names(rows, contract)],
    )


def _digest(rows: DataFrame, end: Expression) -> list[Expression]:
    """Return the digest of the line that a current version shows, if it is known which."""
    if not {*DIGEST} <= {*rows.columns}:
        return [F.lit(None).cast("bigint").alias(name) for name in DIGEST]
    shows = ~F.col("__gone") & end.isNull()
    return [F.when(shows, F.col(name)).alias(name) for name in DIGEST]


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
