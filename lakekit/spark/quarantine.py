"""Rejected records: kept with their bytes and the reason, once."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from lakekit import layout
from lakekit.batch import RUN_ID
from lakekit.spark.context import Merge
from lakekit.spark.evidence import published_runs
from lakekit.spark.plan import Plan
from lakekit.spark.records import read_batch
from lakekit.sql.identifiers import literal, quote_table
from lakekit.sql.tables import create_quarantine_table

REASONS = {
    "tie": "another record of the key and sequence has other content",
    "late": "its sequence is not after what is known of the key",
}


def quarantine(merge: Merge, plan: Plan) -> None:
    """Append the rejected records of a run to `{table}_quarantine`.

    What an attempt before has left there gives way: main may have moved, and more be late now.
    """
    spark, batch = merge.spark, merge.batch
    name = layout.quarantine_table(merge.table)
    if spark.catalog.tableExists(name) and batch.run_id in published_runs(spark, name):
        spark.sql(f"DELETE FROM {quote_table(name)} WHERE _run_id = {literal(batch.run_id)}")
    if not plan.result.quarantined:
        return
    spark.sql(create_quarantine_table(merge.contract, name))
    rejected(merge, plan).withColumns(
        {"_run_id": F.lit(batch.run_id), "_ingested_at": merge.moment}
    ).writeTo(quote_table(name)).option(f"snapshot-property.{RUN_ID}", batch.run_id).append()


def rejected(merge: Merge, plan: Plan) -> DataFrame:
    """Return the rejected records of a run: `_raw`, `_fault` and `_source_file`."""
    records = plan.records or read_batch(merge)
    rows = records.where("__fault IS NOT NULL")
    if plan.set_aside is not None:
        reason = F.create_map(*[F.lit(part) for pair in REASONS.items() for part in pair])
        place = ("_source_file", "__start", "__line")
        told = plan.set_aside.select(
            *[F.col(f"__position.{name}").alias(name) for name in place],
            reason[F.col("__aside")].alias("__why"),
        )
        aside = records.drop("__fault").join(F.broadcast(told), list(place))
        rows = rows.unionByName(aside.withColumnRenamed("__why", "__fault"))
    return rows.select(
        F.col("__raw").alias("_raw"), F.col("__fault").alias("_fault"), "_source_file"
    )
