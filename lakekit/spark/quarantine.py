"""Rejected records: kept with their bytes and the reason, once per run."""

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from lakekit.batch import Batch, naive_utc
from lakekit.contracts import Contract
from lakekit.spark.changes import read_batch
from lakekit.spark.evidence import RUN_ID, published_runs
from lakekit.sql.identifiers import quote_table
from lakekit.sql.tables import create_quarantine_table


def quarantine(
    spark: SparkSession, contract: Contract, batch: Batch, table: str, rejected: int
) -> None:
    """Append the rejected records of a run to `{table}_quarantine`, unless they are there."""
    name = f"{table}_quarantine"
    if not rejected:
        return
    spark.sql(create_quarantine_table(contract, name))
    if batch.run_id in published_runs(spark, name):
        return
    moment = F.lit(naive_utc(batch.extraction_time)).cast("timestamp_ntz")
    rows = read_batch(spark, contract, batch).where("_fault IS NOT NULL")
    rows.select(
        "_raw",
        "_fault",
        F.lit(batch.run_id).alias("_run_id"),
        "_source_file",
        moment.alias("_ingested_at"),
    ).writeTo(quote_table(name)).option(f"snapshot-property.{RUN_ID}", batch.run_id).append()
