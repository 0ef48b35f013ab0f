"""Settled keys: what their new versions change in the table, and what is counted of it."""

from dataclasses import dataclass

from pyspark.sql import Column as Expression
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from lakekit.contracts import Contract
from lakekit.spark.fact import ABSENCE, RECORD
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


def compare(resolved: DataFrame, existing: DataFrame, contract: Contract) -> DataFrame:
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


def counted(resolved: DataFrame, versions: DataFrame, keys: DataFrame) -> Settled:
    """Count what settled keys change; `versions` are those of `compare`."""
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
