"""Mode append: insert the records that are new by key and sequence, or all of them."""

from pyspark.sql import DataFrame, Observation, Window
from pyspark.sql import functions as F

from lakekit.batch import MergeResult
from lakekit.errors import TooManyRejectedError
from lakekit.spark.context import Merge
from lakekit.spark.evidence import published_runs
from lakekit.spark.plan import Plan
from lakekit.spark.publish import publish_rows
from lakekit.spark.quarantine import quarantine
from lakekit.spark.records import read_batch, with_facts, with_position
from lakekit.spark.session import session_settings
from lakekit.spark.stage import COUNTED
from lakekit.sql.identifiers import quote


def append_new(merge: Merge) -> MergeResult | None:
    """Append one run on a branch and publish it; None if main moved in between."""
    contract, batch, table = merge.contract, merge.batch, merge.table
    plan = plan_append(merge)
    quarantine(merge, plan)
    if not plan.result.opened:
        return plan.result
    columns = [F.col(quote(c.name)) for c in contract.stored]
    written = plan.staged.select(
        *columns, merge.moment.alias("_ingested_at"), "_source_file", "_row_hash"
    )
    if not publish_rows(merge, written):
        return None
    snapshot = published_runs(merge.spark, table)[batch.run_id].snapshot_id
    return plan.result.model_copy(update={"snapshot_id": snapshot, "committed": True})


def plan_append(merge: Merge) -> Plan:
    """Stage the records of a run that are new.

    Raises:
        TooManyRejectedError: The run is refused.
    """
    spark, contract, batch, table = merge.spark, merge.contract, merge.batch, merge.table
    identity = [*contract.keys]
    if identity and contract.history.sequence_by:
        identity.append(contract.history.sequence_by)
    read, staged = Observation(), Observation()
    facts = with_facts(read_batch(spark, contract, batch), contract, batch).observe(
        read, F.count(F.lit(1)).alias("all"), F.count("__fault").alias("rejected")
    )
    good = with_position(facts.where("__fault IS NULL"), batch)
    rows = _newest(good, identity) if identity else good
    known = merge.versions().select(*map(quote, identity)).distinct()
    new = rows.join(known, identity, "left_anti") if identity else rows
    new = new.observe(staged, F.count(F.lit(1)).alias("opened"))
    with session_settings(spark, COUNTED):
        new.write.mode("overwrite").parquet(merge.place)
    counts = {**read.get, **staged.get}
    if counts["rejected"] > contract.quality.max_rejected_ratio * counts["all"]:
        raise TooManyRejectedError(
            f"{table}: {counts['rejected']} of {counts['all']} records of run {batch.run_id} break "
            f"the contract; quality.max_rejected_ratio allows {contract.quality.max_rejected_ratio}"
        )
    result = MergeResult(
        table=table,
        run_id=batch.run_id,
        opened=counts["opened"],
        duplicates=counts["all"] - counts["rejected"] - counts["opened"],
        quarantined=counts["rejected"],
    )
    return Plan(result=result, staged=spark.read.parquet(merge.place))


def _newest(rows: DataFrame, identity: list[str]) -> DataFrame:
    order = Window.partitionBy(*map(quote, identity)).orderBy(
        F.col("__tie").desc(), F.col("__position").desc()
    )
    return rows.withColumn("__nth", F.row_number().over(order)).where("__nth = 1").drop("__nth")
