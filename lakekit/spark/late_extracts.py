"""What full extracts say of a key: that it was there, or that it was not."""

from collections.abc import Sequence

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from lakekit.contracts import Contract
from lakekit.spark import join
from lakekit.spark.context import Merge
from lakekit.spark.fact import ABSENCE, PRESENCE, fact, renewed_after
from lakekit.spark.facts import FullExtract
from lakekit.sql.identifiers import quote
from lakekit.sql.tables import marks


def full_extract_facts(
    merge: Merge,
    existing: DataFrame,
    own: DataFrame,
    keys: DataFrame,
    extracts: Sequence[FullExtract],
    known: DataFrame | None,
) -> list[DataFrame]:
    """Each full extract before says of a key that it was there, or that it was not.

    Of a key whose record lies ahead of an extract the table cannot tell; the companion has its
    absences.
    """
    contract, names, at = merge.contract, list(merge.contract.keys), F.col("__at")
    moments = merge.spark.createDataFrame(
        [(each.moment, list(each.scopes)) for each in extracts],
        "__text string, __scopes array<string>",
    ).select(F.col("__text").cast("timestamp_ntz").alias("__at"), "__scopes")
    alive = existing.where(~F.col("_is_deleted")) if marks(contract) else existing
    within = (F.col("_valid_from") <= at) & (
        F.col("_valid_to").isNull() | (at < F.col("_valid_to"))
    )
    there = alive.join(F.broadcast(moments), within)
    away = keys.crossJoin(F.broadcast(moments))
    if contract.history.delete_scope:
        scoped = away.join(_scope_of_keys(existing, own, contract), names)
        away = scoped.where(F.array_contains("__scopes", F.col("__scope")))
    away = away.join(there.select(*merge.keys, "__at"), [*names, "__at"], "left_anti")
    seen = _records_ahead(merge, existing, known, moments)
    if known is not None:
        bad = known.where("_op = 'W'").select(*merge.keys, F.col("_sequence").alias("__at"))
        away = away.join(bad, [*names, "__at"], "left_anti")
        there = there.join(bad, [*names, "__at"], "left_anti")
    away = away.join(seen.select(*merge.keys, "__at"), [*names, "__at"], "left_anti")
    # Such a record is no content to come back with, if the extract had no other of the key.
    here = seen.where((F.col("_ingested_at") == at) & ~F.col("__other"))
    there = there.join(here.select(*merge.keys, "__at"), [*names, "__at"], "left_anti")
    empty = {n: F.lit(None).cast(contract.column(n).type) for n in contract.content}
    away = away.withColumns({**empty, "_source_file": F.lit(None).cast("string")})
    # A later run could not tell whether the extract knew of a record that lies ahead of it.
    last = F.max("__moment").alias("__last")
    mine = own.where(~F.col("__absent")).groupBy(*merge.keys).agg(last)
    away = away.join(mine, names, "left")
    return [
        fact(
            contract,
            there,
            ingested=at,
            moment=at,
            gone=F.lit(False),
            priority=PRESENCE,
            shown=renewed_after(at, contract),
        ),
        fact(
            contract,
            away,
            ingested=at,
            moment=at,
            gone=F.lit(True),
            priority=ABSENCE,
            ahead=(F.col("__last") > at) & (merge.moment <= at),
        ),
    ]


def _records_ahead(
    merge: Merge, existing: DataFrame, known: DataFrame | None, moments: DataFrame
) -> DataFrame:
    """Return the keys whose records lay ahead of a full extract (`__at`) when it was merged.

    `__other` says whether the same run also had one that did not.
    """
    ahead = existing.select(*merge.keys, "_ingested_at", F.col("_valid_from").alias("__ahead"))
    if known is not None:
        said = known.where("_op = 'U'").withColumnRenamed("_sequence", "__ahead")
        ahead = ahead.unionByName(said.select(*merge.keys, "_ingested_at", "__ahead"))
    at, same_run = F.col("__at"), Window.partitionBy(*merge.keys, "__at", "_ingested_at")
    known_then = ahead.join(F.broadcast(moments.select("__at")), F.col("_ingested_at") <= at)
    other = F.max(F.col("__ahead") <= at).over(same_run)
    return known_then.withColumn("__other", other).where(F.col("__ahead") > at)


def _scope_of_keys(existing: DataFrame, own: DataFrame, contract: Contract) -> DataFrame:
    scope = F.expr(join.scope_text(contract.history.delete_scope)).alias("__scope")
    keys = [quote(key) for key in contract.keys]
    held = existing.select(*keys, scope, F.col("_valid_from").alias("__at"))
    said = own.where("NOT __absent AND NOT __gone").select(
        *keys, scope, F.col("__moment").alias("__at")
    )
    newest = F.max_by("__scope", "__at").alias("__scope")
    return held.unionByName(said).groupBy(*keys).agg(newest)
