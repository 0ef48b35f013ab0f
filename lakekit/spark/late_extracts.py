"""What the full extracts before a run say of a key: that it was there, or that it was not."""

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict

from pyspark.sql import Column as Expression
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from lakekit.contracts import Contract
from lakekit.spark.context import Merge
from lakekit.spark.fact import ABSENCE, PRESENCE, fact, renewed_after
from lakekit.spark.facts import FullExtract
from lakekit.spark.forms import dropped_names
from lakekit.spark.later import aware
from lakekit.spark.scopes import scope_text
from lakekit.sql.identifiers import quote
from lakekit.sql.row_hash import row_hash
from lakekit.sql.tables import marks

_EXTRACTS = "array<struct<moment:string,scopes:array<string>,runs:int,latest_until:string>>"


def full_extract_facts(
    merge: Merge,
    keys: DataFrame,
    existing: DataFrame,
    known: DataFrame,
    extracts: Sequence[FullExtract],
) -> DataFrame:
    """Return the presences and absences of some keys in the full extracts since `__earliest`.

    A key was there if it was alive then, within the extract's scopes. Where the versions cannot
    tell, the companion does: of keys that were there without a record that counts (W), unless
    another extract of that moment says more. What the extracts of scd1 said before the first
    version of a key, that one had replaced.
    """
    contract = merge.contract
    told_then = F.from_json(F.lit(json.dumps([asdict(each) for each in extracts])), _EXTRACTS)
    at, then, was = F.col("__at"), F.col("__then"), F.col("__was")
    told = (
        _by_key(merge, keys, existing, known)
        .withColumn("__extract", F.explode(F.filter(told_then, _not_before_the_run)))
        .withColumn("__at", _moment(F.col("__extract")))
        .where(~F.coalesce(_had_replaced(), F.lit(False)))
        .where(~_had_no_record())
        .withColumn("__then", F.get(F.filter("__versions", _holds), F.lit(0)))
        .withColumn("__was", _newest(F.filter("__records", _says(contract))))
        # A version shows the first untracked values of its time or the last, not those of then.
        .withColumn("__content", F.coalesce(was["content"], then["content"]))
    )
    content = [F.col(f"__content.{quote(name)}") for name in (*contract.content, "_source_file")]
    dropped = dropped_names(existing, contract)
    held = [F.coalesce(was["content"][n], then["content"][n]).alias(n) for n in dropped]
    told, gone, scopes = told.select("*", *content, *held), then.isNull(), None
    if contract.history.delete_scope:
        scopes = F.col("__extract.scopes")
        scope = F.expr(scope_text(contract.history.delete_scope))
        gone = gone | ~F.coalesce(F.array_contains(scopes, scope), F.lit(True))
    return fact(
        contract, told, ingested=at, moment=at, gone=gone,
        priority=F.when(gone, ABSENCE).otherwise(PRESENCE),
        shown=~gone & F.coalesce(renewed_after(at, contract), F.lit(False)),
        scopes=None if scopes is None else F.when(gone, scopes), held=dropped,
    )  # fmt: skip


def _by_key(merge: Merge, keys: DataFrame, existing: DataFrame, known: DataFrame) -> DataFrame:
    """Return one row per key: its `__versions`, and its `__records` in the companion."""
    contract = merge.contract
    names = [quote(key) for key in contract.keys]
    held = (*contract.content, *dropped_names(existing, contract))
    content = F.struct(*map(quote, held), "_source_file").alias("content")
    gone = F.col("_is_deleted") if marks(contract) else F.lit(False)
    # What is stored is of the columns of its time; a version may show what its record lacks.
    hashed = F.expr(row_hash(aware(contract, merge.later))).alias("hash")
    version = F.struct(
        "_valid_from", "_valid_to", gone.alias("gone"), hashed, content, "_ingested_at"
    )
    at, op = F.col("_sequence").alias("at"), F.col("_op").alias("op")
    record = F.struct(at, op, "_run_id", "_ingested_at", hashed, "_partial", content)
    rows = existing.select(*names, version.alias("__version")).unionByName(
        known.select(*names, record.alias("__record")), allowMissingColumns=True
    )
    rows = rows.unionByName(keys, allowMissingColumns=True)
    return rows.groupBy(*names).agg(
        F.max("__earliest").alias("__earliest"),
        F.collect_list("__version").alias("__versions"),
        F.collect_list("__record").alias("__records"),
    )


def _moment(extract: Expression) -> Expression:
    return extract["moment"].cast("timestamp_ntz")


def _not_before_the_run(extract: Expression) -> Expression:
    """Whether a run says anything of the key that an extract may have judged otherwise."""
    return _moment(extract) >= F.col("__earliest")


def _had_replaced() -> Expression:
    """Return whether scd1 may have replaced what an extract held of a key: none began by `__at`.

    A key that came after the table began to keep versions had no row then.
    """
    at, versions = F.col("__at"), F.col("__versions")
    until = F.col("__extract.latest_until").cast("timestamp_ntz")
    # One that is renewed shows a younger run: the companion knows the one of its start.
    known = F.exists(versions, lambda v: v["_ingested_at"] <= until) | F.exists(
        "__records", lambda r: (r["op"] == "U") & (r["_ingested_at"] <= until)
    )
    return known & ~F.exists(versions, lambda v: v["_valid_from"] <= at)


def _had_no_record() -> Expression:
    """Return whether each extract of `__at` held the key, and none a record of it that counts."""
    there = F.filter("__records", lambda r: (r["op"] == "W") & (r["at"] == F.col("__at")))
    # A run that comes again may tell it again.
    runs = F.array_distinct(F.transform(there, lambda r: r["_run_id"]))
    return F.size(runs) >= F.col("__extract.runs")


def _holds(version: Expression) -> Expression:
    """Return whether a version held at `__at`."""
    at, ends = F.col("__at"), version["_valid_to"]
    return (version["_valid_from"] <= at) & (ends.isNull() | (at < ends)) & ~version["gone"]


def _says(contract: Contract) -> Callable[[Expression], Expression]:
    """Return whether a record says what the extract held.

    Of partial histories the companion has all records, those of the extract itself too; of others
    it has what says the same as `__then`, between its start and `__at`.
    """

    def own(record: Expression) -> Expression:
        complete = (record["op"] == "U") & ~record["_partial"]
        return (
            complete & (record["_ingested_at"] == F.col("__at")) & (record["at"] <= F.col("__at"))
        )

    def like(record: Expression) -> Expression:
        since = F.col("__then._valid_from")
        same = record["hash"] == F.col("__then.hash")
        # What brought the key back has no record of that moment.
        of_then = (record["op"] == "U") | ((record["op"] == "P") & (record["at"] == since))
        return of_then & same & record["at"].between(since, F.col("__at"))

    return own if contract.history.ignore_null_updates else like


def _newest(records: Expression) -> Expression:
    def later_first(one: Expression, other: Expression) -> Expression:
        this, that = (F.struct(each["at"], each["_ingested_at"]) for each in (one, other))
        return F.when(this < that, 1).when(this > that, -1).otherwise(0)

    return F.get(F.array_sort(records, later_first), F.lit(0))
