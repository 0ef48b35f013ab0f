"""What a plan writes on its branch: a delta, or all current versions of a small table.

A delta is two commits: a MERGE that closes versions, and an append that opens them. Where the
current versions are few, they are written again with those that close: one commit, no delete files.
"""

import json

from pyspark.sql import Column as Expression
from pyspark.sql import DataFrame, DataFrameWriterV2
from pyspark.sql import functions as F

from lakekit.spark.diff import order
from lakekit.spark.iceberg.published_runs import iso
from lakekit.spark.plan.plan import Plan
from lakekit.spark.read.lines import landed_at
from lakekit.spark.run import MergeRun
from lakekit.spark.schema.conform import conform_to_table, dropped_names
from lakekit.spark.session.session import session_settings
from lakekit.spark.session.tuning import broadcast_if_small, broadcast_setting
from lakekit.sql import merge_scd2 as sql
from lakekit.sql.identifiers import quote
from lakekit.sql.line_hash import DIGEST
from lakekit.table_properties import EXTRACTION_TIME, RUN_ID, RUN_IDS


def write(run: MergeRun, branch: str, plan: Plan) -> None:
    """Write what a plan closes and opens; nothing is visible before main moves to the branch."""
    appends = run.contract.history.mode == "append"
    rows = _records(run, plan) if appends else _versions(run, plan)
    # A table without one of the columns is refused before anything is written.
    rows = conform_to_table(run.spark, rows, run.table)
    if appends:
        _writer(run, branch, rows).append()
    elif _is_delta(run, plan):
        _close(run, branch, plan)
        _renew_digests(run, branch, plan)
        _writer(run, branch, rows).append()
    else:
        _overwrite(run, branch, plan, rows)


def _is_delta(run: MergeRun, plan: Plan) -> bool:
    """Whether versions change in their place, or many current ones would not change."""
    late = plan.rederived is not None and plan.rederived.versions is not None
    return late or plan.digests is not None or not run.rewrites_current


def _overwrite(run: MergeRun, branch: str, plan: Plan, rows: DataFrame) -> None:
    """Write all current versions again, with those that end and the rows of those that begin."""
    ends, target = _ending(run, plan), sql.branch_of(run.table, branch)
    current = run.spark.table(target).where("_is_current")
    both = current.join(F.broadcast(ends), list(run.contract.keys), "left")
    ended = F.col("__at").isNotNull()
    now = {"_is_current": ~ended, "_valid_to": F.col("__at")}
    now |= {name: F.when(~ended, F.col(name)) for name in DIGEST}
    kept = both.where("NOT coalesce(__drop, false)").withColumns(now).drop("__at", "__drop")
    _writer(run, branch, kept.unionByName(rows)).overwrite(F.col("_is_current"))


def _writer(run: MergeRun, branch: str, rows: DataFrame) -> DataFrameWriterV2:
    writer = rows.writeTo(sql.branch_of(run.table, branch))
    writer = writer.option(f"snapshot-property.{RUN_ID}", run.batch.run_id)
    if run.landings:
        names = json.dumps([landing.run_id for landing in run.landings])
        writer = writer.option(f"snapshot-property.{RUN_IDS}", names)
    for name, value in run.use().items():
        writer = writer.option(f"snapshot-property.{name}", value)
    return writer.option(f"snapshot-property.{EXTRACTION_TIME}", iso(run.batch))


def _records(run: MergeRun, plan: Plan) -> DataFrame:
    """Return the records that a plan appends, in the table's schema."""
    columns = [F.col(quote(c.name)) for c in run.contract.stored]
    ingested = run.extracted.alias("_ingested_at")
    return plan.staged.select(*columns, ingested, "_source_file", "_row_hash")


def _versions(run: MergeRun, plan: Plan) -> DataFrame:
    """Return the versions that a plan writes, in the table's schema."""
    staged, deleted = plan.staged, F.col("__deleted")
    written = ["open", "overwrite"]
    if run.state.marks_deletes:
        written.append("delete")
    rows = staged.where(F.col("__action").isin(written))
    if run.contract.history.mode == "scd1":
        rows = rows.where("__valid_to IS NULL")
    rows = rows.withColumn("__ingested", landed_at(run, deleted))
    rows = _with_kept(run, plan, rows) if plan.rewrites else rows
    start = F.when(deleted, F.col("__event_time")).otherwise(F.col("__valid_from"))
    versions = _select(run, rows, start)
    if run.state.marks_deletes and plan.metrics.deleted:
        versions = _with_ended(run, plan, versions)
    if plan.rederived and plan.rederived.versions is not None:
        late = plan.rederived.versions.where("__change IN ('insert', 'replace')")
        late = _select(run, late, F.col("__valid_from"))
        versions = versions.unionByName(late, allowMissingColumns=True)
    return versions


def _with_kept(run: MergeRun, plan: Plan, rows: DataFrame) -> DataFrame:
    """Let a version that is renewed keep its values of columns that the contract has dropped.

    Where untracked columns are never renewed, it keeps these too. If late changes are exact, it
    then keeps the extraction time of its first record, by which that ranks, and shows no line.
    """
    contract, current, keys = run.contract, run.state.current, list(run.contract.keys)
    again = F.col("__action") == "overwrite"
    kept = {name: name for name in dropped_names(current, contract)}
    if not contract.overwrites:
        kept |= {column.name: column.name for column in contract.untracked}
        if contract.history.exact:
            kept["_ingested_at"] = "__ingested"
            rows = rows.withColumns({name: F.when(~again, F.col(name)) for name in DIGEST})
    if not kept:
        return rows
    renewed = broadcast_if_small(rows.where(again).select(*run.keys), plan.touched)
    held = current.join(renewed, keys, "left_semi")
    held = held.select(*run.keys, F.struct(*map(quote, kept)).alias("__current"))
    values = {
        written: F.when(again, F.col(f"__current.{quote(name)}")).otherwise(
            F.col(quote(written)) if written in rows.columns else F.lit(None)
        )
        for name, written in kept.items()
    }
    return rows.join(held, keys, "left").withColumns(values).drop("__current")


def _with_ended(run: MergeRun, plan: Plan, versions: DataFrame) -> DataFrame:
    """Let a version that says deleted keep the content of the version that it ends."""
    keys, names = run.contract.keys, [*run.contract.content, "_row_hash"]
    content = F.struct(*map(quote, names)).alias("__ended")
    ending = broadcast_if_small(_ending(run, plan).where("NOT __drop"), plan.touched)
    current = run.state.current.join(ending, list(keys)).select(*run.keys, "__at", content)
    new = versions.where("NOT _is_deleted AND _valid_to IS NOT NULL")
    new = new.select(*run.keys, F.col("_valid_to").alias("__at"), content)
    ended = current.unionByName(new).withColumnRenamed("__at", "_valid_from")
    kept = {
        name: F.when(F.col("_is_deleted"), F.col("__ended")[name]).otherwise(F.col(quote(name)))
        for name in names
    }
    rows = versions.join(ended, [*keys, "_valid_from"], "left")
    return rows.withColumns(kept).drop("__ended")


def _select(run: MergeRun, rows: DataFrame, start: Expression) -> DataFrame:
    contract, deleted, end = run.contract, F.col("__deleted"), F.col("__valid_to")
    return rows.select(
        *[F.col(quote(c.name)) for c in contract.stored],
        # A version that a late change cuts keeps that of its own record, which ranks by it.
        F.col("__ingested").alias("_ingested_at"),
        "_source_file",
        end.isNull().alias("_is_current"),
        start.alias("_valid_from"),
        end.alias("_valid_to"),
        F.coalesce("_row_hash", F.lit(0)).alias("_row_hash"),
        *_digest(rows, end),
        *([deleted.alias("_is_deleted")] if run.state.marks_deletes else []),
        *[quote(name) for name in dropped_names(rows, contract)],
    )


def _digest(rows: DataFrame, end: Expression) -> list[Expression]:
    """Return the digest of the line that a current version shows, where there is one."""
    if not {*DIGEST} <= {*rows.columns}:
        return [F.lit(None).cast("bigint").alias(name) for name in DIGEST]
    shows = ~F.col("__deleted") & end.isNull()
    return [F.when(shows, F.col(name)).alias(name) for name in DIGEST]


def _ending(run: MergeRun, plan: Plan) -> DataFrame:
    """Return the keys whose current version ends `__at`, or is written again (`__drop`)."""
    ends = plan.staged.where(f"{order.CLOSES} OR (__first AND __rewritten)")
    drop = F.lit(True) if run.contract.history.mode == "scd1" else F.col("__rewritten")
    return ends.select(*run.keys, F.col("__close_at").alias("__at"), drop.alias("__drop"))


def _close(run: MergeRun, branch: str, plan: Plan) -> None:
    """Close the versions that end, and remove those that are written again."""
    contract, table, keys = run.contract, run.table, run.keys
    if plan.closes or plan.rewrites:
        view = f"closing_{branch}"
        ending = broadcast_if_small(_ending(run, plan), plan.touched)
        ending.createOrReplaceTempView(view)
        drops = plan.rewrites or contract.history.mode == "scd1"
        statement = sql.close_versions(table, branch, contract.keys, view, drop=drops)
        _run_broadcast(run, statement, plan.touched)
    if plan.rederived and plan.rederived.versions is not None:
        ends = plan.rederived.versions.where("__change IN ('close', 'replace', 'drop')")
        narrow = ends.select(
            *keys, "__valid_from", F.col("__valid_to").alias("__at"),
            (F.col("__change") != "close").alias("__drop"),
        )  # fmt: skip
        view = f"changing_{branch}"
        broadcast_if_small(narrow, plan.rederived.changes).createOrReplaceTempView(view)
        statement = sql.change_versions(table, branch, contract.keys, view)
        _run_broadcast(run, statement, plan.rederived.changes)


def _renew_digests(run: MergeRun, branch: str, plan: Plan) -> None:
    """Write which lines current versions show, if a plan asks for it."""
    if plan.digests is not None:
        view = f"digests_{branch}"
        plan.digests.createOrReplaceTempView(view)
        statement = sql.renew_digests(run.table, branch, run.contract.keys, view)
        _run_broadcast(run, statement, plan.metrics.unchanged)


def _run_broadcast(run: MergeRun, statement: str, rows: int) -> None:
    """Run a MERGE whose source of so many rows is broadcast, unless there are too many.

    Spark gives the join of a MERGE that updates a hint of its own, and ignores that of its source.
    """
    with session_settings(run.spark, broadcast_setting(rows)):
        run.spark.sql(statement)
