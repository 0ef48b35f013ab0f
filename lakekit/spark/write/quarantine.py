"""Rejected records: kept with their bytes and the reason, once."""

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from lakekit import layout
from lakekit.errors import InvariantViolatedError
from lakekit.spark.iceberg.published_runs import published_runs
from lakekit.spark.iceberg.table import load_table
from lakekit.spark.plan.plan import Plan
from lakekit.spark.read.parse import read_records
from lakekit.spark.read.reasons import with_reasons
from lakekit.spark.run import MergeRun
from lakekit.sql.identifiers import literal, quote_table
from lakekit.sql.tables import create_quarantine_table
from lakekit.table_properties import RUN_ID

# Why a late record is rejected.
LATE_FAULT = "its sequence is not after what is recorded of the key"


def quarantine(run: MergeRun, plan: Plan) -> None:
    """Append the rejected records of a run to `{table}_quarantine`.

    Those of an earlier attempt are replaced: main may have moved, and more records be late now.

    Raises:
        InvariantViolatedError: Others were found than were counted; nothing is published.
    """
    spark, run_id, count = run.spark, run.batch.run_id, plan.metrics.quarantined
    name = layout.quarantine_table(run.table)
    if spark.catalog.tableExists(name) and _has_rows_of(spark, name, run_id, look=count > 0):
        spark.sql(f"DELETE FROM {quote_table(name)} WHERE _run_id = {literal(run_id)}")
    if not count:
        return
    spark.sql(create_quarantine_table(run.contract, name))
    rejected(run, plan).withColumns(
        {"_run_id": F.lit(run_id), "_ingested_at": run.extracted}
    ).writeTo(quote_table(name)).option(f"snapshot-property.{RUN_ID}", run_id).append()
    added = _added(spark, name, run_id)
    if added != count:
        raise InvariantViolatedError(
            f"{name}: {count} records of run {run_id} are rejected, but {added} were found"
        )


def _has_rows_of(spark: SparkSession, name: str, run_id: str, *, look: bool) -> bool:
    """Whether a quarantine has rows of a run; its snapshots show it until they expire."""
    if run_id in published_runs(spark, name):
        return True
    if not look:
        return False
    rows = spark.table(quote_table(name)).where(F.col("_run_id") == run_id)
    return bool(rows.select(F.lit(1)).take(1))


def _added(spark: SparkSession, name: str, run_id: str) -> int:
    snapshot = published_runs(spark, name)[run_id].snapshot_id
    return int(load_table(spark, name).snapshot(snapshot).summary().get("added-records") or 0)


def rejected(run: MergeRun, plan: Plan) -> DataFrame:
    """Return the rejected records of a run: `_raw`, `_raw_bytes`, `_fault` and `_source_file`."""
    records = plan.records or read_records(run)
    rows = with_reasons(records.where("__fault IS NOT NULL"), run.contract)
    if plan.rejected_late is not None:
        place = ("_source_file", "__block_start", "__line")
        late = plan.rejected_late.select(*[F.col(f"__position.{name}") for name in place])
        late = records.join(F.broadcast(late), list(place))
        rows = rows.unionByName(late.withColumn("__fault", F.lit(LATE_FAULT)))
    # Spark takes any bytes for a text; no other engine does.
    text, landed = F.decode("__bytes", "UTF-8"), F.col("__bytes")
    return rows.withColumn("__bytes", F.col("__raw").cast("binary")).select(
        text.alias("_raw"),
        F.when(text.cast("binary") != landed, landed).alias("_raw_bytes"),
        F.col("__fault").alias("_fault"),
        "_source_file",
    )
