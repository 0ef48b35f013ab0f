"""All that is known of some keys, as facts: one row for each moment at which something is said.

The facts of a key are its versions and the gaps between them, the companion's records, what full
extracts say (a key is there or it is not), and the records of the run.
"""

from collections.abc import Sequence
from typing import Any

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from lakekit.contracts import Contract
from lakekit.spark import join
from lakekit.spark.context import Merge
from lakekit.spark.facts import Facts, FullExtract
from lakekit.spark.records import sequence
from lakekit.sql.identifiers import quote
from lakekit.sql.tables import marks

# At one moment a record beats presence in a full extract, and that beats absence.
RECORD, PRESENCE, ABSENCE = 3, 2, 1
_POSITION = "struct<file:bigint,_source_file:string,__start:bigint,__line:bigint>"


def gather_facts(
    merge: Merge, existing: DataFrame, own: DataFrame, keys: DataFrame, facts: Facts
) -> DataFrame:
    """Return every fact about some keys.

    Args:
        merge: The run.
        existing: All versions of these keys.
        own: The staged rows of these keys.
        keys: The keys.
        facts: The table's companion.

    Returns:
        The stored columns, `_source_file`, `__ingested` (extraction time of its run), `__moment`,
        `__gone`, `__priority`, `__position`, and flags: `__said` (by this run), `__shown` (by a
        version that may show a later one), `__known` (by the companion) and `__version`.
    """
    extracts, names = facts.full_extracts(), list(merge.contract.keys)
    known = None
    if facts.exists:
        known = facts.records().join(F.broadcast(keys), names, "left_semi")
    parts = [
        _versions(existing, merge.contract, extracts),
        _gaps(existing, merge.contract),
        _said(own, merge),
    ]
    if merge.full:
        parts.append(_presence(own, merge))
    if extracts:
        parts += _full_extracts(merge, existing, own, keys, extracts, known)
    if known is not None:
        parts.append(_known(known, merge.contract))
    union = parts[0]
    for part in parts[1:]:
        union = union.unionByName(part)
    return union


def _fact(contract: Contract, frame: DataFrame, **columns: Any) -> DataFrame:
    """Give a fact its columns; `__said` tells the run's own records."""
    content = [quote(c.name) for c in contract.stored]
    priority = columns["priority"]
    return frame.select(
        *content,
        "_source_file",
        columns["ingested"].alias("__ingested"),
        columns["moment"].alias("__moment"),
        columns["gone"].alias("__gone"),
        (F.lit(priority) if isinstance(priority, int) else priority).alias("__priority"),
        columns.get("position", F.lit(None).cast(_POSITION)).alias("__position"),
        columns.get("said", F.lit(False)).alias("__said"),
        columns.get("shown", F.lit(False)).alias("__shown"),
        columns.get("known", F.lit(False)).alias("__known"),
        columns.get("version", F.lit(False)).alias("__version"),
        columns.get("ahead", F.lit(False)).alias("__late_absence"),
        columns.get("partial", F.lit(False)).alias("__partial"),
    )


def _versions(existing: DataFrame, contract: Contract, full: Sequence[FullExtract]) -> DataFrame:
    """Each version says its content at its start; one that a full extract brought back less so.

    One whose untracked columns were renewed shows a later record (`__shown`): the companion knows
    the one of its start.
    """
    start = F.col("_valid_from")
    moments = [F.lit(each.moment).cast("timestamp_ntz") for each in full]
    column = contract.column(contract.history.sequence_by or "")
    own = F.expr(sequence(column)) if column in contract.stored else start
    brought = start.isin(moments) & (own < start) if moments else F.lit(False)
    gone = F.col("_is_deleted") if marks(contract) else F.lit(False)
    rank = F.when(gone, ABSENCE).when(brought, PRESENCE).otherwise(RECORD)
    partial = contract.history.ignore_null_updates
    renewed = (own > start) if column in contract.stored else F.lit(join.overwrites(contract))
    return _fact(
        contract, existing, ingested=F.col("_ingested_at"), moment=start, gone=gone,
        priority=rank, shown=F.lit(True) if partial else renewed, version=F.lit(True),
    )  # fmt: skip


def _gaps(existing: DataFrame, contract: Contract) -> DataFrame:
    """A version that ends without a next one says that its key is gone."""
    order = Window.partitionBy(*map(quote, contract.keys)).orderBy("_valid_from")
    ends = existing.withColumn("__next", F.lead("_valid_from").over(order)).where(
        "_valid_to IS NOT NULL AND (__next IS NULL OR __next > _valid_to)"
    )
    return _fact(
        contract, ends, ingested=F.col("_ingested_at"), moment=F.col("_valid_to"),
        gone=F.lit(True), priority=ABSENCE,
    )  # fmt: skip


def _known(records: DataFrame, contract: Contract) -> DataFrame:
    return _fact(
        contract, records, ingested=F.col("_ingested_at"), moment=F.col("_sequence"),
        gone=F.col("_op") != "U", known=F.lit(True), partial=F.col("_partial"),
        priority=F.when(F.col("_op") == "A", ABSENCE).otherwise(RECORD),
    )  # fmt: skip


def _said(own: DataFrame, merge: Merge) -> DataFrame:
    contract, content = merge.contract, own
    partial = contract.history.ignore_null_updates
    if partial:
        names = [c.name for c in contract.stored if c.name not in contract.keys]
        content = own.withColumns({name: F.col(f"__record.{quote(name)}") for name in names})
    return _fact(
        contract, content, ingested=merge.moment, moment=F.col("__moment"),
        gone=F.col("__gone"), position=F.col("__position"),
        priority=F.when(F.col("__absent"), ABSENCE).otherwise(RECORD), said=~F.col("__absent"),
        ahead=F.col("__absent") & F.col("__late"),
        partial=F.lit(partial and merge.batch.extract == "changes"),
    )  # fmt: skip


def _presence(own: DataFrame, merge: Merge) -> DataFrame:
    """A full extract says that a key is there, with the content of its newest record."""
    newest = Window.partitionBy(*merge.keys).orderBy(
        F.col("__moment").desc(), F.col("__position").desc()
    )
    here = own.where(~F.col("__absent") & (F.col("__moment") <= merge.moment))
    here = here.withColumn("__nth", F.row_number().over(newest)).where("__nth = 1")
    return _fact(
        merge.contract, here, ingested=merge.moment, moment=merge.moment, gone=F.lit(False),
        priority=PRESENCE,
    )  # fmt: skip


def _full_extracts(
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
    away = away.join(seen.select(*merge.keys, "__at"), [*names, "__at"], "left_anti")
    # Such a record is no content to come back with, if the extract had no other of the key.
    here = seen.where((F.col("_ingested_at") == at) & ~F.col("__other"))
    there = there.join(here.select(*merge.keys, "__at"), [*names, "__at"], "left_anti")
    empty = {c.name: F.lit(None).cast(c.type) for c in contract.stored if c.name not in names}
    away = away.withColumns({**empty, "_source_file": F.lit(None).cast("string")})
    return [
        _fact(contract, there, ingested=at, moment=at, gone=F.lit(False), priority=PRESENCE),
        _fact(contract, away, ingested=at, moment=at, gone=F.lit(True), priority=ABSENCE),
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
