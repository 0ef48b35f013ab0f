"""MergeScd2: fold the records of one run into an SCD2 table, by the commit protocol."""

import hashlib
from datetime import UTC

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, Observation, SparkSession
from pyspark.sql import functions as F

from lakekit.batch import Batch, MergeResult, naive_utc
from lakekit.contracts import Contract
from lakekit.errors import (
    CommitConflictError,
    InvariantViolatedError,
    LateExtractError,
    TooManyDeletedError,
    TooManyRejectedError,
)
from lakekit.spark import changes as change
from lakekit.spark.evidence import EXTRACTION_TIME, RUN_ID, published_runs
from lakekit.spark.quarantine import quarantine
from lakekit.sql import merge_scd2 as sql
from lakekit.sql.identifiers import quote, quote_all, quote_table
from lakekit.sql.tables import create_table

ATTEMPTS = 5


def merge_scd2(
    spark: SparkSession, contract: Contract, batch: Batch, table: str, *, staging: str
) -> MergeResult:
    """Merge one run; one commit becomes visible, or none.

    Args:
        spark: A session whose catalog holds the table.
        contract: The table's contract.
        batch: The landed records of the run.
        table: Identifier of the table; it is made if it is absent.
        staging: Folder for the change set, an address that Spark writes.

    Raises:
        TooManyRejectedError, TooManyDeletedError, LateExtractError, InvariantViolatedError:
            Nothing was published.
        CommitConflictError: Main moved under five attempts.
    """
    spark.sql(create_table(contract, table))
    for attempt in range(ATTEMPTS):
        published = published_runs(spark, table)
        if batch.run_id in published:
            seen = published[batch.run_id]
            return MergeResult(table=table, run_id=batch.run_id, snapshot_id=seen.snapshot_id)
        _refuse_late(batch, max((p.extraction_time for p in published.values()), default=""))
        place = f"{staging}/{_branch(batch)}_{attempt}"
        result, staged = _stage_changes(spark, contract, batch, table, place)
        quarantine(spark, contract, batch, table, result.quarantined)
        if result.opened == result.closed == 0:
            return result
        if _publish(spark, contract, batch, table, staged, result):
            snapshot = published_runs(spark, table)[batch.run_id].snapshot_id
            return result.model_copy(update={"snapshot_id": snapshot, "committed": True})
    raise CommitConflictError(f"{table}: main moved {ATTEMPTS} times during run {batch.run_id}")


def _stage_changes(
    spark: SparkSession, contract: Contract, batch: Batch, table: str, place: str
) -> tuple[MergeResult, DataFrame]:
    """Write the change set beside the table and read it back; count everything on the way.

    It is never cached: a commit on the target would recompute it against the new state.
    """
    read, joined = Observation(), Observation()
    records = change.read_batch(spark, contract, batch).observe(
        read,
        F.count(F.lit(1)).alias("all"),
        F.count("_fault").alias("rejected"),
        F.min("_fault").alias("fault"),
    )
    good = records.where("_fault IS NULL").transform(
        change.with_row_hash, [c for c in contract.columns if c.name in contract.tracked]
    )
    current = spark.sql(
        f"SELECT {quote_all(contract.keys)}, _row_hash, _valid_from "
        f"FROM {quote_table(table)} WHERE _is_current"
    )
    kinds = ("open", "change", "same", "absent")
    found = good.transform(change.latest_per_key, contract.keys).transform(
        change.with_change_kind, current, contract
    )
    moment = F.lit(naive_utc(batch.extraction_time)).cast("timestamp_ntz")
    counted = found.observe(
        joined,
        *[F.count(F.when(F.col("_kind") == kind, 1)).alias(kind) for kind in kinds],
        F.count(F.when((F.col("_since") >= moment) & (F.col("_kind") != "same"), 1)).alias("late"),
    )
    deletes = batch.extract == "full" and contract.history.deletes == "close"
    wanted = ["open", "change", "absent"] if deletes else ["open", "change"]
    counted.where(F.col("_kind").isin(wanted)).write.mode("overwrite").parquet(place)
    counts = {**read.get, **joined.get}
    return _judge(contract, batch, table, counts, deletes), spark.read.parquet(place)


def _judge(
    contract: Contract, batch: Batch, table: str, n: dict[str, int], deletes: bool
) -> MergeResult:
    """Turn the counts into a result, or refuse them."""
    if n["rejected"] > contract.quality.max_rejected_ratio * n["all"]:
        raise TooManyRejectedError(
            f"{table}: {n['rejected']} of {n['all']} records of run {batch.run_id} break the "
            f"contract (one fault: {n['fault']}); quality.max_rejected_ratio allows "
            f"{contract.quality.max_rejected_ratio}"
        )
    deleted = n["absent"] if deletes else 0
    existing = n["change"] + n["same"] + n["absent"]
    if deleted > contract.history.max_deleted_ratio * existing:
        raise TooManyDeletedError(
            f"{table}: run {batch.run_id} would close {deleted} of {existing} current keys; "
            f"history.max_deleted_ratio allows {contract.history.max_deleted_ratio}"
        )
    if n["late"] and (n["change"] or deleted):
        raise LateExtractError(
            f"{table}: {n['late']} keys of run {batch.run_id} have versions that start at or after "
            f"its extraction time {batch.extraction_time.isoformat()}"
        )
    kept = n["open"] + n["change"] + n["same"]
    return MergeResult(
        table=table,
        run_id=batch.run_id,
        opened=n["open"] + n["change"],
        closed=n["change"] + deleted,
        deleted=deleted,
        unchanged=n["same"],
        duplicates=n["all"] - n["rejected"] - kept,
        quarantined=n["rejected"],
    )


def _publish(
    spark: SparkSession,
    contract: Contract,
    batch: Batch,
    table: str,
    staged: DataFrame,
    result: MergeResult,
) -> bool:
    """Close and open on a branch, check, and move main to it; False if main moved meanwhile."""
    branch = _branch(batch)
    spark.sql(sql.create_branch(table, branch))
    try:
        if result.closed:
            moment = F.lit(naive_utc(batch.extraction_time)).cast("timestamp_ntz")
            closing = staged.where("_kind != 'open'").withColumn("_at", moment)
            view = f"closing_{branch}"
            narrow = closing.select(*map(quote, contract.keys), "_at")
            F.broadcast(narrow).createOrReplaceTempView(view)
            spark.sql(sql.close_versions(table, branch, contract.keys, view))
        versions = change.select_versions(staged, contract, batch)
        versions.writeTo(sql.branch_of(table, branch)).option(
            f"snapshot-property.{RUN_ID}", batch.run_id
        ).option(f"snapshot-property.{EXTRACTION_TIME}", _iso(batch)).append()
        _check(spark, contract, table, branch, staged, result)
        return _fast_forward(spark, table, branch)
    finally:
        spark.sql(sql.drop_branch(table, branch))


def _check(
    spark: SparkSession,
    contract: Contract,
    table: str,
    branch: str,
    staged: DataFrame,
    result: MergeResult,
) -> None:
    """Refuse a branch on which the touched keys do not have exactly the versions they should."""
    keys = [quote(key) for key in contract.keys]
    touched = F.broadcast(staged.select(*keys))
    current = spark.sql(
        f"SELECT {quote_all(contract.keys)} FROM {sql.branch_of(table, branch)} WHERE _is_current"
    )
    per_key = current.join(touched, list(contract.keys)).groupBy(*keys).count()
    row = per_key.agg(F.count(F.lit(1)).alias("keys"), F.max("count").alias("most")).first()
    if row is None or row["keys"] != result.opened or (row["most"] or 0) > 1:
        raise InvariantViolatedError(
            f"{table}: run {result.run_id} opened {result.opened} versions, but its branch shows "
            f"{row and row['keys']} current keys with up to {row and row['most']} versions each"
        )


def _fast_forward(spark: SparkSession, table: str, branch: str) -> bool:
    catalog, name = table.split(".", 1)
    try:
        spark.sql(
            f"CALL {quote(catalog)}.system.fast_forward("
            f"table => '{name}', branch => 'main', to => '{branch}')"
        ).collect()
    except (Py4JJavaError, PySparkException) as error:
        if "not an ancestor" in str(error) or "refresh is required" in str(error):
            return False
        raise
    return True


def _refuse_late(batch: Batch, newest: str) -> None:
    if _iso(batch) < newest:
        raise LateExtractError(
            f"run {batch.run_id}: its extraction time {_iso(batch)} is before {newest}, "
            "which is already merged"
        )


def _iso(batch: Batch) -> str:
    return batch.extraction_time.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def _branch(batch: Batch) -> str:
    return f"lakekit_{hashlib.sha256(batch.run_id.encode()).hexdigest()[:16]}"
