"""The form of a fact: what is said of a key at one moment.

All that is known of some keys, as facts: one row for each moment at which something is said.

The facts of a key are its versions and the gaps between them, the companion's records, what full
extracts say (a key is there or it is not), and the records of the run.

What the full extracts before a run say of a key: that it was there, or that it was not.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any

from pyspark.sql import Column as Expression
from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from lakekit.contract.contract import Contract
from lakekit.spark.diff import order
from lakekit.spark.journal import Facts, FullExtract
from lakekit.spark.late.first_values import aware, shows_first_values
from lakekit.spark.read.lines import POSITION
from lakekit.spark.read.parse import sequence_of
from lakekit.spark.run import Merge
from lakekit.spark.schema.conform import dropped_names, with_dropped_of
from lakekit.sql.identifiers import quote
from lakekit.sql.row_hash import row_hash
from lakekit.sql.scopes import scope_text
from lakekit.sql.tables import ARRIVED, marks

# At one moment a record beats presence in a full extract, and that beats absence. `TOLD` is a
# presence that the companion tells.
RECORD, TOLD, PRESENCE, ABSENCE = 4, 3, 2, 1


def fact(contract: Contract, frame: DataFrame, **columns: Any) -> DataFrame:
    """Give a fact its columns; `__said` tells the run's own records.

    One that does not delete keeps what its frame has in `held`, columns that the contract has
    dropped.
    """
    content = [quote(c.name) for c in contract.stored]
    held = [
        F.when(~columns["gone"], F.col(quote(name))).alias(name) for name in columns.get("held", ())
    ]
    priority = columns["priority"]
    return frame.select(
        *content,
        *held,
        "_source_file",
        columns["ingested"].alias("__ingested"),
        columns["moment"].alias("__moment"),
        columns["gone"].alias("__gone"),
        (F.lit(priority) if isinstance(priority, int) else priority).alias("__priority"),
        _or_null(columns.get("position"), POSITION).alias("__position"),
        columns.get("said", F.lit(False)).alias("__said"),
        columns.get("shown", F.lit(False)).alias("__shown"),
        columns.get("known", F.lit(False)).alias("__known"),
        columns.get("version", F.lit(False)).alias("__version"),
        columns.get("first_values", F.lit(False)).alias("__first_values"),
        columns.get("split", F.lit(False)).alias("__split"),
        _or_null(columns.get("dropped"), "bigint").alias("__dropped"),
        columns.get("partial", F.lit(False)).alias("__partial"),
        _or_null(columns.get("scopes"), "array<string>").alias("__scopes"),
        _or_null(columns.get("arrived"), "bigint").alias(ARRIVED),
    )


def _or_null(value: Expression | None, kind: str) -> Expression:
    return F.lit(None).cast(kind) if value is None else value


def renewed_after(moment: Expression, contract: Contract) -> Expression:
    """Whether a version shows untracked values that are younger than a moment."""
    return sequence_of(contract) > moment


def of_run() -> Expression:
    """Whether a fact is the run's own: it alone has a position."""
    return F.col("__position").isNotNull()


# As JSON tells them by itself, times are cut to milliseconds.
_WHOLE_TIMES = {
    "timestampFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX",
    "timestampNTZFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSS",
    "timeZone": "UTC",
}


def with_neighbours(versions: DataFrame, contract: Contract) -> DataFrame:
    """Add when the next version of a key begins (`__next`), and whether one is `__split`.

    Two that meet and hold the same in what is tracked now were told apart by what was tracked when
    the table was merged: they stay two.
    """
    forward = Window.partitionBy(*map(quote, contract.keys)).orderBy("_valid_from")
    gone = F.col("_is_deleted") if marks(contract) else F.lit(False)
    state = F.when(~gone, F.expr(row_hash(contract.tracked)))
    before = F.lag(F.struct(F.col("_valid_to").alias("to"), "__state")).over(forward)
    split = (before["to"] == F.col("_valid_from")) & (before["__state"] == F.col("__state"))
    rows = versions.withColumn("__state", state).withColumns(
        {
            "__next": F.lead("_valid_from").over(forward),
            "__split": F.coalesce(split, F.lit(False)),
        }
    )
    return rows.drop("__state")


def gather_facts(
    merge: Merge, existing: DataFrame, own: DataFrame, keys: DataFrame, facts: Facts
) -> DataFrame:
    """Return every fact about some keys.

    Args:
        merge: The run.
        existing: All versions of these keys, each with `__earliest` and its neighbours.
        own: The staged rows of these keys.
        keys: The keys, with `__earliest`: what full extracts said before that moment the versions
            show, and the gaps between them.
        facts: The table's companion.

    Returns:
        The stored columns, `_source_file`, `__ingested` (extraction time of its run), `__moment`,
        `__gone`, `__priority`, `__position`, and flags: `__said` (by this run), `__shown` (by a
        version that may show a later one), `__first_values` (by a version that may have got some),
        `__known` (by the companion), `__version` and `__split`. What the companion tells has an
        `__arrived`; what else is known came later, as it shows.
        An absence counts within `__scopes` only; null is everywhere. If there are dropped columns,
        also these, as far as a fact knows them, and `__dropped`, a hash of what a version holds in
        them.
    """
    extracts, names = facts.full_extracts, list(merge.contract.keys)
    known = None
    if facts.exists:
        known = with_dropped_of(facts.records(), existing, merge.contract)
        known = known.join(keys, names, "left_semi")
    parts = [
        _versions(existing, merge, extracts),
        _gaps(existing, merge.contract, extracts),
        _said(own, merge),
    ]
    if merge.full:
        parts.append(_presence(own, merge))
    if known is not None:
        if extracts:
            parts.append(full_extract_facts(merge, keys, existing, known, extracts))
        parts.append(_known(known.where("_op != 'W'"), merge.contract))
    union = parts[0]
    for part in parts[1:]:
        union = union.unionByName(part, allowMissingColumns=True)
    return union if dropped_names(existing, merge.contract) else union.drop("__dropped")


def _versions(existing: DataFrame, merge: Merge, full: Sequence[FullExtract]) -> DataFrame:
    """Each version says its content at its start; one that a full extract brought back less so.

    One whose untracked columns were renewed shows a later record (`__shown`): the companion knows
    the one of its start. So it may of one that shows a first value of a later column.
    """
    contract, start = merge.contract, F.col("_valid_from")
    brought = _at_extract(start, full) & (sequence_of(contract) < start)
    gone = F.col("_is_deleted") if marks(contract) else F.lit(False)
    existing = existing.where(~(gone & _told_by_extract(start, full)))
    rank = F.when(gone, ABSENCE).when(brought, PRESENCE).otherwise(RECORD)
    partial = contract.history.ignore_null_updates
    renewed = renewed_after(start, contract)
    names = dropped_names(existing, contract)
    held = F.xxhash64(F.to_json(F.struct(*map(quote, names)), _WHOLE_TIMES)) if names else None
    return fact(
        contract, existing, ingested=F.col("_ingested_at"), moment=start, gone=gone,
        priority=rank, shown=F.lit(True) if partial else renewed, version=F.lit(True),
        first_values=shows_first_values(merge.later), split=F.col("__split"),
        dropped=None if held is None else F.when(~gone, held), held=names,
    )  # fmt: skip


def _at_extract(moment: Expression, full: Sequence[FullExtract]) -> Expression:
    return moment.isin([F.lit(each.moment).cast("timestamp_ntz") for each in full])


def _told_by_extract(moment: Expression, full: Sequence[FullExtract]) -> Expression:
    """Whether a full extract says itself who was absent, and where that counts."""
    return _at_extract(moment, full) & (moment >= F.col("__earliest"))


def _gaps(existing: DataFrame, contract: Contract, full: Sequence[FullExtract]) -> DataFrame:
    """A version that ends without a next one says that its key is gone, if no extract says it."""
    ends = existing.where("_valid_to IS NOT NULL AND (__next IS NULL OR __next > _valid_to)")
    ends = ends.where(~_told_by_extract(F.col("_valid_to"), full))
    return fact(
        contract, ends, ingested=F.col("_ingested_at"), moment=F.col("_valid_to"),
        gone=F.lit(True), priority=ABSENCE,
    )  # fmt: skip


def _known(records: DataFrame, contract: Contract) -> DataFrame:
    return fact(
        contract, records, ingested=F.col("_ingested_at"), moment=F.col("_sequence"),
        gone=F.col("_op") == "D", known=F.lit(True), partial=F.col("_partial"),
        arrived=F.coalesce(ARRIVED, F.lit(0)),
        priority=F.when(F.col("_op") == "P", TOLD).otherwise(RECORD),
        held=dropped_names(records, contract),
    )  # fmt: skip


def _said(own: DataFrame, merge: Merge) -> DataFrame:
    contract, content = merge.contract, own
    scoped = merge.full and contract.history.delete_scope
    if contract.history.ignore_null_updates:
        names = contract.content
        content = own.withColumns({name: F.col(f"__record.{quote(name)}") for name in names})
    return fact(
        contract, content, ingested=merge.moment, moment=F.col("__moment"),
        gone=F.col("__gone"), position=F.col("__position"),
        priority=F.when(F.col("__absent"), ABSENCE).otherwise(RECORD), said=~F.col("__absent"),
        partial=F.lit(merge.partial),
        scopes=F.when(F.col("__absent"), F.col("__scopes")) if scoped else None,
    )  # fmt: skip


def _presence(own: DataFrame, merge: Merge) -> DataFrame:
    """A full extract says that a key is there, with the content of its newest record."""
    here = own.where(~F.col("__absent") & (F.col("__moment") <= merge.moment))
    newest = (F.col("__moment").desc(), F.col("__position").desc())
    here = order.first_of(here, merge.contract.keys, *newest)
    return fact(
        merge.contract, here, ingested=merge.moment, moment=merge.moment, gone=F.lit(False),
        priority=PRESENCE, position=F.col("__position"),
    )  # fmt: skip


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
