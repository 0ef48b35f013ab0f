"""Mode append: insert the records that are new by key and sequence, or all of them."""

from typing import Any

from pyspark.sql import DataFrame, Observation
from pyspark.sql import functions as F

from lakekit.batch import MergeResult
from lakekit.spark.diff.metrics import null_keys
from lakekit.spark.diff.order import with_place
from lakekit.spark.plan.plan import Plan, refuse_rejected
from lakekit.spark.read.lines import with_position
from lakekit.spark.read.parse import read_batch, with_facts
from lakekit.spark.run import Merge
from lakekit.spark.session.staging import write_counted
from lakekit.spark.session.tuning import observed
from lakekit.sql.identifiers import quote


def plan_append(merge: Merge) -> Plan:
    """Stage the records of a run that are new.

    Raises:
        TooManyRejectedError: The run is refused.
    """
    contract, batch = merge.contract, merge.batch
    read = Observation()
    facts = with_facts(read_batch(merge), contract, batch).observe(
        read,
        F.count(F.lit(1)).alias("all"),
        F.count("__fault").alias("rejected"),
        F.min("__fault").alias("fault"),
        null_keys(contract),
    )
    rows = with_position(facts.where("__fault IS NULL"), batch)
    rows, lost = (_by_key if contract.keys else _by_file)(merge, rows)
    new = F.col("__aside").isNull() & ~F.col("__known")
    staged, counts = write_counted(
        rows,
        merge.place,
        F.count(F.when(new, 1)).alias("opened"),
        F.count("__aside").alias("ties"),
        F.count(F.when(F.col("__known") & F.col("__equal"), 1)).alias("known_equal"),
    )
    counts |= observed(read)
    counts |= observed(lost) if lost else {"lost_equal": 0}
    refuse_rejected(merge, counts)
    return Plan(
        result=_result(merge, counts),
        growth=counts["opened"],
        staged=staged.where(new),
        set_aside=staged.where("__aside IS NOT NULL"),
    )


def _by_file(merge: Merge, rows: DataFrame) -> tuple[DataFrame, None]:
    """Say of which records the table has the file: a run comes again, and its snapshot is gone."""
    told = merge.versions().where(F.col("_ingested_at") == merge.moment)
    files = told.select("_source_file", F.lit(True).alias("__known")).distinct()
    both = rows.join(F.broadcast(files), "_source_file", "left")
    known = F.coalesce("__known", F.lit(False))
    said = {"__known": known, "__equal": known, "__aside": F.lit(None).cast("string")}
    return both.withColumns(said), None


def _by_key(merge: Merge, rows: DataFrame) -> tuple[DataFrame, Observation]:
    """Keep the record that counts of each key and moment, and say whether the table has one.

    `__known` says that it has, `__equal` that it is the same; what is set aside has `__aside`.
    """
    contract, lost = merge.contract, Observation()
    identity = [*contract.keys]
    if contract.history.sequence_by:
        identity.append(contract.history.sequence_by)
    placed = with_place(
        rows.withColumns(dict.fromkeys(("__gone", "__absent"), F.lit(False))), contract
    )
    tied = F.col("__tied") & F.lit(contract.history.tie_break == "quarantine")
    placed = placed.withColumn("__aside", F.when(tied, "tie"))
    beside = (F.col("__place") > 1) & F.col("__aside").isNull() & F.col("__equal")
    best = placed.observe(lost, F.count(F.when(beside, 1)).alias("lost_equal"))
    best = best.where("__place = 1 OR __aside IS NOT NULL")
    stored = merge.versions().select(*map(quote, identity), F.col("_row_hash").alias("__had"))
    both = best.join(stored.dropDuplicates(identity), identity, "left")
    known = F.col("__had").isNotNull() & F.col("__aside").isNull()
    said = {"__known": known, "__equal": F.col("__had") == F.col("_row_hash")}
    return both.withColumns(said), lost


def _result(merge: Merge, n: dict[str, Any]) -> MergeResult:
    duplicates = n["lost_equal"] + n["known_equal"]
    quarantined = n["rejected"] + n["ties"]
    return MergeResult(
        table=merge.table,
        run_id=merge.batch.run_id,
        opened=n["opened"],
        duplicates=duplicates,
        superseded=n["all"] - quarantined - n["opened"] - duplicates,
        quarantined=quarantined,
    )
