"""Mode append: insert the records that are new by key and sequence, or all of them."""

from pyspark.sql import DataFrame, Observation
from pyspark.sql import functions as F

from lakekit.batch import MergeMetrics
from lakekit.spark.diff.metrics import Counts, null_keys
from lakekit.spark.diff.order import with_rank
from lakekit.spark.plan.plan import Plan, refuse_rejected
from lakekit.spark.read.lines import with_position
from lakekit.spark.read.parse import read_records, with_event
from lakekit.spark.run import MergeRun
from lakekit.spark.session.staging import write_counted
from lakekit.spark.session.tuning import observed
from lakekit.sql.identifiers import quote


def plan_append(run: MergeRun) -> Plan:
    """Stage the records of a run that are new.

    Raises:
        TooManyRejectedError: The run is refused.
    """
    contract, batch = run.contract, run.batch
    read, lost = Observation(), Observation()
    records = with_event(read_records(run), contract, batch).observe(
        read,
        F.count(F.lit(1)).alias("records"),
        F.count("__fault").alias("rejected"),
        null_keys(contract),
    )
    rows = with_position(records.where("__fault IS NULL"), batch)
    rows = _by_key(run, rows, lost) if contract.keys else _by_file(run, rows)
    new = ~F.col("__known")
    staged, counted = write_counted(
        rows,
        run.staging,
        F.count(F.when(new, 1)).alias("opened"),
        F.count(F.when(F.col("__known") & F.col("__equal"), 1)).alias("known_equal"),
    )
    n = Counts.of(observed(read))
    if contract.keys:
        n = n.updated(observed(lost))
    refuse_rejected(run, n)
    opened, duplicates = counted["opened"], n.lost_equal + counted["known_equal"]
    metrics = MergeMetrics(
        opened=opened,
        duplicates=duplicates,
        superseded=n.records - n.rejected - opened - duplicates,
        quarantined=n.rejected,
    )
    return Plan(metrics=metrics, growth=opened, staged=staged.where(new))


def _by_file(run: MergeRun, rows: DataFrame) -> DataFrame:
    """Mark the records whose file is in the table: the run comes again, its snapshot expired."""
    own = run.state.versions.where(F.col("_ingested_at") == run.extracted)
    files = own.select("_source_file", F.lit(True).alias("__known")).distinct()
    both = rows.join(F.broadcast(files), "_source_file", "left")
    known = F.coalesce("__known", F.lit(False))
    return both.withColumns({"__known": known, "__equal": known})


def _by_key(run: MergeRun, rows: DataFrame, lost: Observation) -> DataFrame:
    """Keep the record that counts of each key and event time, and say whether the table has one.

    `__known`: it has one; `__equal`: with the same content.
    """
    contract = run.contract
    identity = [*contract.keys]
    if contract.history.sequence_by:
        identity.append(contract.history.sequence_by)
    flags = dict.fromkeys(("__deleted", "__absent"), F.lit(False))
    ranked = with_rank(rows.withColumns(flags), contract)
    lost_equal = (F.col("__rank") > 1) & F.col("__equal")
    best = ranked.observe(lost, F.count(F.when(lost_equal, 1)).alias("lost_equal"))
    stored = run.state.versions.select(*map(quote, identity), F.col("_row_hash").alias("__stored"))
    both = best.where("__rank = 1").join(stored.dropDuplicates(identity), identity, "left")
    known = F.col("__stored").isNotNull()
    return both.withColumns({"__known": known, "__equal": F.col("__stored") == F.col("_row_hash")})
