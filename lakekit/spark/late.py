"""Late changes, exactly: the history of the touched keys is derived again from all their facts.

Only keys that a late change touches come here; a run without late changes pays nothing.
"""

from dataclasses import dataclass
from typing import Any

from pyspark.sql import Column as Expression
from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from lakekit.contracts import Contract
from lakekit.spark import join, order
from lakekit.spark.context import Merge
from lakekit.spark.facts import Facts
from lakekit.spark.late_facts import ABSENCE, PRESENCE, RECORD, gather_facts
from lakekit.sql.identifiers import quote
from lakekit.sql.row_hash import row_hash
from lakekit.sql.tables import marks


@dataclass(frozen=True)
class Settled:
    """The versions of the settled keys, and what was counted.

    versions: `__change` (insert, replace, close or drop) with the stored columns, `__from`,
    `__to` and `__gone`; what stays as it is has no row.
    """

    versions: DataFrame | None = None
    keys: DataFrame | None = None
    opened: int = 0
    closed: int = 0
    deleted: int = 0
    unchanged: int = 0
    deletes: int = 0
    restored: int = 0
    lost_equal: int = 0
    lost_other: int = 0
    alive: int = 0
    changes: int = 0
    facts: DataFrame | None = None


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
    versions = _written(_compare(resolved, existing, merge.contract), f"{merge.place}/versions")
    return _counted(resolved, versions, keys)


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
        kept = order.with_filled(kept, contract).drop("__base_row", "__record", "__life")
    kept = kept.withColumn("__digest", F.expr(join.digest(contract)))
    resolved = order.resolve(kept, contract, order.Sight())
    return resolved.unionByName(lost, allowMissingColumns=True)


def _compare(resolved: DataFrame, existing: DataFrame, contract: Contract) -> DataFrame:
    """Return what must change in the table, found by key and start of validity."""
    names = [c.name for c in contract.stored if c.name not in contract.keys]
    keys = list(contract.keys)
    opened = ["open", "delete"] if marks(contract) else ["open"]
    gone = F.col("__gone")
    new = resolved.where(F.col("__act").isin(opened)).select(
        *map(quote, keys),
        F.when(gone, F.col("__moment")).otherwise(F.col("__start")).alias("__from"),
        F.col("__until").alias("__to"),
        *[F.when(~gone, F.col(quote(name))).alias(name) for name in names],
        "_source_file",
        F.coalesce("_row_hash", F.lit(0)).alias("_row_hash"),
        F.coalesce("__rest", F.lit(0)).alias("__rest"),
        gone.alias("__gone"),
        "__said",
        F.lit(True).alias("__new"),
    )
    marked = F.col("_is_deleted") if marks(contract) else F.lit(False)
    old = existing.select(
        *map(quote, keys),
        F.col("_valid_from").alias("__from"),
        F.col("_valid_to").alias("__old_to"),
        F.col("_row_hash").alias("__old_hash"),
        F.expr(row_hash(contract.untracked)).alias("__old_rest"),
        marked.alias("__old_gone"),
        F.lit(True).alias("__old"),
    )
    same = (F.col("__gone") == F.col("__old_gone")) & (
        F.col("__gone")
        | ((F.col("_row_hash") == F.col("__old_hash")) & (F.col("__rest") == F.col("__old_rest")))
    )
    ends = F.col("__to").eqNullSafe(F.col("__old_to"))
    kind = (
        F.when(F.col("__new").isNull(), "drop")
        .when(F.col("__old").isNull(), "insert")
        .when(same & ends, "keep")
        .when(same & F.col("__to").isNotNull(), "close")
        .otherwise("replace")
    )
    joined = old.join(new, [*keys, "__from"], "full_outer").withColumn("__change", kind)
    return joined.drop("__new", "__old", "__old_hash", "__old_rest", "__old_gone")


def _unseen() -> Expression:
    """Return which facts show in no version of their own, so that the companion must know them."""
    act, fresh = F.col("__act"), F.col("__said") | F.col("__version")
    hidden = act.isin("assert", "overwrite") | (
        (act == "open") & (F.col("__moment") != F.col("__start"))
    )
    record = (F.col("__priority") == RECORD) & ~F.col("__known") & (act != "lost")
    deleted = F.col("__said") & F.col("__gone")
    absent = (F.col("__priority") == ABSENCE) & F.col("__late_absence")
    return (record & fresh & (hidden | deleted)) | absent


def _counted(resolved: DataFrame, versions: DataFrame, keys: DataFrame) -> Settled:
    act, said = F.col("__act"), F.col("__said")
    record = resolved.agg(
        F.count(F.when(said & act.isin("assert", "overwrite"), 1)).alias("unchanged"),
        F.count(F.when(said & act.isin("delete", "tombstone"), 1)).alias("deletes"),
        F.count(F.when(said & (act == "delete"), 1)).alias("deleted"),
        F.count(F.when(said & (act == "open"), 1)).alias("shown"),
        F.count(F.when((act == "lost") & F.col("__equal"), 1)).alias("lost_equal"),
        F.count(F.when((act == "lost") & ~F.col("__equal"), 1)).alias("lost_other"),
    ).first()
    kind, ends = F.col("__change"), F.col("__to").isNotNull()
    fresh = kind.isin("insert", "replace") & ~F.col("__gone")
    table = versions.agg(
        F.count(F.when(fresh & F.col("__said"), 1)).alias("opened"),
        F.count(F.when(fresh & ~F.col("__said"), 1)).alias("restored"),
        F.count(F.when((kind == "close") & F.col("__old_to").isNull(), 1)).alias("cut"),
        F.count(F.when((kind == "insert") & ends, 1)).alias("short"),
        F.count(F.when((kind != "drop") & ~ends, 1)).alias("alive"),
        F.count(F.when(kind != "keep", 1)).alias("changes"),
    ).first()
    if record is None or table is None:
        return Settled(versions=versions, keys=keys)
    return Settled(
        versions=versions.where("__change != 'keep'"),
        keys=keys,
        opened=table["opened"],
        closed=table["cut"] + table["short"],
        deleted=record["deleted"],
        unchanged=record["unchanged"] + record["shown"] - table["opened"],
        deletes=record["deletes"],
        restored=table["restored"],
        lost_equal=record["lost_equal"],
        lost_other=record["lost_other"],
        alive=table["alive"],
        changes=table["changes"],
        facts=resolved.where(_unseen()),
    )
