"""Mode append: insert the records that are new by key and sequence, or all of them."""

from pyspark.sql import Observation
from pyspark.sql import functions as F

from lakekit.batch import MergeResult
from lakekit.spark.context import Merge
from lakekit.spark.counts import null_keys
from lakekit.spark.order import first_of
from lakekit.spark.plan import Plan, refuse_rejected
from lakekit.spark.records import read_batch, with_facts, with_position
from lakekit.spark.staging import write_counted
from lakekit.sql.identifiers import quote


def plan_append(merge: Merge) -> Plan:
    """Stage the records of a run that are new.

    Raises:
        TooManyRejectedError: The run is refused.
    """
    spark, contract, batch = merge.spark, merge.contract, merge.batch
    identity = [*contract.keys]
    if identity and contract.history.sequence_by:
        identity.append(contract.history.sequence_by)
    read = Observation()
    facts = with_facts(read_batch(spark, contract, batch), contract, batch).observe(
        read,
        F.count(F.lit(1)).alias("all"),
        F.count("__fault").alias("rejected"),
        F.min("__fault").alias("fault"),
        null_keys(contract),
    )
    good = with_position(facts.where("__fault IS NULL"), batch)
    newest = (F.col("__tie").desc(), F.col("__position").desc())
    rows = first_of(good, identity, *newest) if identity else good
    known = merge.versions().select(*map(quote, identity)).distinct()
    new = rows.join(known, identity, "left_anti") if identity else rows
    staged, opened = write_counted(new, merge.place, F.count(F.lit(1)).alias("opened"))
    counts = {**read.get, **opened}
    refuse_rejected(merge, counts)
    result = MergeResult(
        table=merge.table,
        run_id=batch.run_id,
        opened=counts["opened"],
        duplicates=counts["all"] - counts["rejected"] - counts["opened"],
        quarantined=counts["rejected"],
    )
    return Plan(result=result, staged=staged)
