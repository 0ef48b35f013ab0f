"""Of the facts of one key and moment, which one counts, for late changes. No actions."""

from collections.abc import Sequence

from pyspark.sql import DataFrame, Window, WindowSpec
from pyspark.sql import functions as F

from lakekit.contracts import Contract
from lakekit.spark.fact import PRESENCE, TOLD, of_run
from lakekit.spark.later import as_first_told, aware
from lakekit.spark.ranks import content_hash
from lakekit.spark.records import sequence_of
from lakekit.sql.identifiers import quote
from lakekit.sql.later import Later
from lakekit.sql.row_hash import row_hash
from lakekit.sql.tables import ARRIVED


def ranked(facts: DataFrame, contract: Contract, later: Sequence[Later]) -> DataFrame:
    """Rank the facts of one key and moment; `__place` 1 counts."""
    keys = [quote(key) for key in contract.keys]
    moment = Window.partitionBy(*keys, "__moment")
    ties = () if contract.history.tie_break == "quarantine" else contract.history.tie_break
    stored = {c.name for c in contract.stored}
    held, told_before = F.col("__priority") == PRESENCE, F.max(F.col("__priority") == TOLD)
    best = moment.orderBy(
        F.when(F.col("__priority") == TOLD, PRESENCE).otherwise(F.col("__priority")).desc(),
        # Of what several full extracts held of a key, its newest record tells what it was.
        F.least(sequence_of(contract), "__moment").desc(),
        *[F.col(quote(name)).desc() for name in ties if name in stored],
        F.col("__ingested").desc(),
        F.col("__said").desc(),
        F.col(ARRIVED).desc_nulls_first(),
        F.col("__position").desc(),
    )
    # A version shows its newest untracked values; the companion knows the record of its start.
    known = F.col("__known") & ~F.col("__gone")
    gives_way, told = F.col("__shown") & F.max(known).over(moment), F.col("__ingested")
    # What the companion tells of a presence beats what the versions show of it.
    gives_way = gives_way | (held & ~of_run() & told_before.over(moment))
    if later:
        same = Window.partitionBy(*keys, "__moment", "__ingested", "__aware")
        gives_way = gives_way | (F.col("__first_values") & F.max(known).over(same))
        told = F.min(told).over(Window.partitionBy(*keys, "__moment", "__priority", "__content"))
    hashed = facts.withColumns(
        {
            "_row_hash": F.expr(row_hash(contract.tracked)),
            "__rest": F.expr(row_hash(contract.untracked)),
            # What a column is filled with is no other content.
            "__aware": F.expr(row_hash(aware(contract, later))),
            "__held_before": told_before.over(moment),
        }
    )
    rows = _told_apart(hashed.withColumn("__gives_way", gives_way), moment)
    rows = rows.where("NOT __gives_way").withColumn("__content", content_hash())
    rows = rows.withColumns(
        {
            "__place": F.row_number().over(best),
            "__equal": F.col("__content") == F.first("__content").over(best),
            "__told": told,
        }
    )
    return as_first_told(rows, later)


def _told_apart(facts: DataFrame, moment: WindowSpec) -> DataFrame:
    """Let what tells a version from the one before it stay with whatever says the same then."""
    names = [name for name in ("__split", "__dropped") if name in facts.columns]
    version = F.when(F.col("__version"), F.struct("__aware", *names))
    facts = facts.withColumn("__of", F.max(version).over(moment))
    # What a partial record holds is not known before it is filled.
    same = F.col("__partial") | (F.col("__aware") == F.col("__of.__aware"))
    for name in names:
        held = F.when(same & ~F.col("__gone"), F.col(f"__of.{name}"))
        facts = facts.withColumn(name, held)
    return facts.drop("__of")
