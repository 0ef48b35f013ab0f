"""Late changes, exactly: the history of the touched keys is derived again from all their facts.

Only keys that a late change touches come here; a run without late changes pays nothing.
"""

from typing import Any

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from lakekit.contracts import Contract
from lakekit.spark import join, order
from lakekit.spark.context import Merge
from lakekit.spark.fact import PRESENCE
from lakekit.spark.facts import Facts
from lakekit.spark.late_facts import gather_facts
from lakekit.spark.partial import with_filled
from lakekit.spark.settled import Settled, compare, counted
from lakekit.sql.identifiers import quote
from lakekit.sql.row_hash import row_hash


def late_keys(
    merge: Merge, staged: DataFrame, facts: Facts, counts: dict[str, Any]
) -> DataFrame | None:
    """Return the keys that do not simply move forward, or None; written beside the change set."""
    flagged = staged.where("__late AND __aside IS NULL").select(*merge.keys)
    if counts["earliest"] and facts.any_since(counts["earliest"]):
        own = staged.where("__aside IS NULL AND __kind != 'same'")
        first = F.broadcast(own.groupBy(*merge.keys).agg(F.min("__moment").alias("__moment")))
        known = facts.records().select(*merge.keys, F.col("_sequence").alias("__known_at"))
        met = known.join(first, list(merge.contract.keys)).where("__known_at >= __moment")
        flagged = flagged.unionByName(met.select(*merge.keys))
    elif not counts["late"]:
        return None
    path = f"{merge.place}/late"
    flagged.distinct().write.mode("overwrite").parquet(path)
    found = merge.spark.read.parquet(path)
    return found if found.take(1) else None


def settle(merge: Merge, rows: DataFrame, keys: DataFrame, facts: Facts) -> Settled:
    """Derive the versions of some keys again and compare them with what the table has."""
    names, late = list(merge.contract.keys), F.broadcast(keys)
    existing = merge.versions().join(late, names, "left_semi")
    own = rows.where("__aside IS NULL").join(late, names, "left_semi")
    resolved = _resolve(gather_facts(merge, existing, own, keys, facts), merge.contract)
    resolved = _written(resolved, f"{merge.place}/settled")
    versions = _written(compare(resolved, existing, merge.contract), f"{merge.place}/versions")
    return counted(resolved, versions, keys)


def _written(frame: DataFrame, path: str) -> DataFrame:
    frame.write.mode("overwrite").parquet(path)
    return frame.sparkSession.read.parquet(path)


def _ranked(facts: DataFrame, contract: Contract) -> DataFrame:
    """Rank the facts of one key and moment; `__place` 1 counts."""
    keys = [quote(key) for key in contract.keys]
    moment = Window.partitionBy(*keys, "__moment")
    ties = () if contract.history.tie_break == "quarantine" else contract.history.tie_break
    stored = {c.name for c in contract.stored}
    best = moment.orderBy(
        F.col("__priority").desc(),
        *[F.col(quote(name)).desc() for name in ties if name in stored],
        F.col("__ingested").desc(),
        F.col("__said").desc(),
        F.col("__position").desc(),
    )
    # A version shows its newest untracked values; the companion knows the record of its start.
    told = facts.withColumn("__told", F.max("__known").over(moment))
    told = told.where("NOT (__shown AND __told)").withColumns(
        {
            "_row_hash": F.expr(row_hash(contract.tracked)),
            "__rest": F.expr(row_hash(contract.untracked)),
        }
    )
    content = F.xxhash64("_row_hash", "__rest", "__gone")
    return told.withColumn("__content", content).withColumns(
        {
            "__place": F.row_number().over(best),
            "__equal": F.col("__content") == F.first("__content").over(best),
        }
    )


def _resolve(facts: DataFrame, contract: Contract) -> DataFrame:
    """Order the facts, keep the one that counts at each moment, and say what it does."""
    forward = Window.partitionBy(*map(quote, contract.keys)).orderBy("__moment")
    ranked = _ranked(facts, contract)
    lost = ranked.where("__place > 1 AND __said").withColumn("__act", F.lit("lost"))
    kept = ranked.where("__place = 1").withColumn(
        "__was_gone", F.coalesce(F.lag("__gone").over(forward), F.lit(True))
    )
    # A key that is there already stays what it is.
    kept = kept.where((F.col("__priority") != PRESENCE) | F.col("__was_gone"))
    kept = kept.withColumns(
        {
            "__base_hash": F.lit(None).cast("bigint"),
            "__base_rest": F.lit(None).cast("bigint"),
            "__since": F.lit(None).cast("timestamp_ntz"),
            "__aside": F.lit(None).cast("string"),
            "__absent": ~F.col("__said"),
        }
    )
    if contract.history.ignore_null_updates:
        row = ", ".join(quote(c.name) for c in contract.stored)
        kept = kept.withColumn("__base_row", F.expr(f"if(false, struct({row}), NULL)"))
        kept = with_filled(kept, contract).drop("__base_row", "__record", "__life")
    kept = kept.withColumn("__digest", F.expr(join.digest(contract)))
    resolved = order.resolve(kept, contract, order.Sight())
    return resolved.unionByName(lost, allowMissingColumns=True)
