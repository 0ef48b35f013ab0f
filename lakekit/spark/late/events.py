"""All change events of some keys: one row for each time at which something is recorded.

The events of a key are its versions and the gaps between them, the journal's entries, what merged
full extracts held (the key is present or absent), and the records of the run.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from pyspark.sql import Column as Expression
from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from lakekit.contract.contract import Contract
from lakekit.spark.diff import order
from lakekit.spark.journal import FullExtract, Journal
from lakekit.spark.read.lines import POSITION, landed_at
from lakekit.spark.read.parse import sequence_of
from lakekit.spark.run import MergeRun
from lakekit.sql.identifiers import quote
from lakekit.sql.row_hash import row_hash
from lakekit.sql.scopes import scope_text
from lakekit.sql.tables import ARRIVAL, Op, marks

# At one time a record wins over presence in a full extract, and presence over absence. The journal
# has some presences itself.
RECORD, RECORDED_PRESENCE, PRESENCE, ABSENCE = 4, 3, 2, 1


def event(contract: Contract, frame: DataFrame, **columns: Any) -> DataFrame:
    """Select the columns of an event: `at`, `deletes`, `ingested`, `priority` and optional ones."""
    priority = columns["priority"]
    return frame.select(
        *[quote(c.name) for c in contract.stored],
        "_source_file",
        columns["ingested"].alias("__ingested"),
        columns["at"].alias("__event_time"),
        columns["deletes"].alias("__deleted"),
        (F.lit(priority) if isinstance(priority, int) else priority).alias("__priority"),
        _or_null(columns.get("position"), POSITION).alias("__position"),
        columns.get("from_run", F.lit(False)).alias("__from_run"),
        columns.get("shows_later", F.lit(False)).alias("__shows_later"),
        columns.get("from_journal", F.lit(False)).alias("__from_journal"),
        columns.get("from_version", F.lit(False)).alias("__from_version"),
        columns.get("split", F.lit(False)).alias("__split"),
        _or_null(columns.get("scopes"), "array<string>").alias("__scopes"),
        _or_null(columns.get("arrival"), "bigint").alias(ARRIVAL),
    )


def _or_null(value: Expression | None, kind: str) -> Expression:
    return F.lit(None).cast(kind) if value is None else value


def renewed_after(time: Expression, contract: Contract) -> Expression:
    """Whether a version shows untracked values that are younger than a time."""
    return sequence_of(contract) > time


def of_run() -> Expression:
    """Whether an event is the run's own: it alone has a position."""
    return F.col("__position").isNotNull()


def with_neighbours(versions: DataFrame, contract: Contract) -> DataFrame:
    """Add when the next version of a key begins (`__next`), and whether one is `__split`.

    Two versions that meet and hold the same in what is tracked now differed in what was tracked
    when they were merged: they stay two.
    """
    forward = Window.partitionBy(*map(quote, contract.keys)).orderBy("_valid_from")
    deleted = F.col("_is_deleted") if marks(contract) else F.lit(False)
    state = F.when(~deleted, F.expr(row_hash(contract.tracked)))
    before = F.lag(F.struct(F.col("_valid_to").alias("to"), "__state")).over(forward)
    split = (before["to"] == F.col("_valid_from")) & (before["__state"] == F.col("__state"))
    rows = versions.withColumn("__state", state).withColumns(
        {
            "__next": F.lead("_valid_from").over(forward),
            "__split": F.coalesce(split, F.lit(False)),
        }
    )
    return rows.drop("__state")


def gather_events(
    run: MergeRun, existing: DataFrame, own: DataFrame, keys: DataFrame, journal: Journal
) -> DataFrame:
    """Return every event of some keys.

    Args:
        run: The run.
        existing: All versions of these keys, each with `__earliest` and its neighbours.
        own: The staged rows of these keys.
        keys: The keys, with `__earliest`. What full extracts held before that time shows in the
            versions and the gaps between them.
        journal: The table's journal.

    Returns:
        The stored columns, `_source_file`, `__ingested` (extraction time of its run),
        `__event_time`, `__deleted`, `__priority`, `__position`, and flags: `__from_run`,
        `__from_journal`, `__from_version`, `__shows_later` (of a version that may show a later
        record than that of its start) and `__split`. An absence counts within `__scopes` only;
        null is everywhere. Entries of the journal have an arrival; other events came later.
    """
    extracts = journal.full_extracts
    parts = [
        _versions(existing, run, extracts),
        _gaps(existing, run.contract, extracts),
        _records(own, run),
    ]
    if run.full:
        parts.append(_presence(own, run))
    if journal.exists:
        entries = journal.entries().join(keys, list(run.contract.keys), "left_semi")
        if extracts:
            parts.append(full_extract_events(run, keys, existing, entries, extracts))
        parts.append(_entries(entries.where(F.col("_op") != Op.PRESENT_UNRECORDED), run.contract))
    union = parts[0]
    for part in parts[1:]:
        union = union.unionByName(part)
    return union


def _versions(existing: DataFrame, run: MergeRun, full: Sequence[FullExtract]) -> DataFrame:
    """Return versions as events at their start; one that a full extract brought back as presence.

    A version whose untracked columns were renewed shows a later record: the journal has the one of
    its start.
    """
    contract, start = run.contract, F.col("_valid_from")
    brought = _at_extract(start, full) & (sequence_of(contract) < start)
    deleted = F.col("_is_deleted") if marks(contract) else F.lit(False)
    existing = existing.where(~(deleted & _shown_by_extract(start, full)))
    rank = F.when(deleted, ABSENCE).when(brought, PRESENCE).otherwise(RECORD)
    partial = contract.history.ignore_null_updates
    return event(
        contract, existing, ingested=F.col("_ingested_at"), at=start, deletes=deleted,
        priority=rank, from_version=F.lit(True), split=F.col("__split"),
        shows_later=F.lit(True) if partial else renewed_after(start, contract),
    )  # fmt: skip


def _at_extract(time: Expression, full: Sequence[FullExtract]) -> Expression:
    return time.isin([F.lit(each.time).cast("timestamp_ntz") for each in full])


def _shown_by_extract(time: Expression, full: Sequence[FullExtract]) -> Expression:
    """Whether an event of a full extract shows itself who was absent, and where that counts."""
    return _at_extract(time, full) & (time >= F.col("__earliest"))


def _gaps(existing: DataFrame, contract: Contract, full: Sequence[FullExtract]) -> DataFrame:
    """Return a deletion where a version ends without a next one, unless an extract shows it."""
    ends = existing.where("_valid_to IS NOT NULL AND (__next IS NULL OR __next > _valid_to)")
    ends = ends.where(~_shown_by_extract(F.col("_valid_to"), full))
    return event(
        contract, ends, ingested=F.col("_ingested_at"), at=F.col("_valid_to"),
        deletes=F.lit(True), priority=ABSENCE,
    )  # fmt: skip


def _entries(entries: DataFrame, contract: Contract) -> DataFrame:
    """Return the journal's entries as events."""
    return event(
        contract, entries, ingested=F.col("_ingested_at"), at=F.col("_sequence"),
        deletes=F.col("_op") == Op.DELETE, from_journal=F.lit(True),
        arrival=F.coalesce(ARRIVAL, F.lit(0)),
        priority=F.when(F.col("_op") == Op.PRESENT, RECORDED_PRESENCE).otherwise(RECORD),
    )  # fmt: skip


def _records(own: DataFrame, run: MergeRun) -> DataFrame:
    """Return the rows of the run as events: its records, and the keys that it lacks."""
    contract, content = run.contract, own
    scoped = run.full and contract.history.delete_scope
    if contract.history.ignore_null_updates:
        names = contract.content
        content = own.withColumns({name: F.col(f"__record.{quote(name)}") for name in names})
    return event(
        contract, content, ingested=landed_at(run), at=F.col("__event_time"),
        deletes=F.col("__deleted"), position=F.col("__position"),
        priority=F.when(F.col("__absent"), ABSENCE).otherwise(RECORD),
        from_run=~F.col("__absent"),
        scopes=F.when(F.col("__absent"), F.col("__scopes")) if scoped else None,
    )  # fmt: skip


def _presence(own: DataFrame, run: MergeRun) -> DataFrame:
    """Return the presence of each key of a full extract, with the content of its newest record."""
    here = own.where(~F.col("__absent") & (F.col("__event_time") <= run.extracted))
    newest = (F.col("__event_time").desc(), F.col("__position").desc())
    here = order.first_of(here, run.contract.keys, *newest)
    return event(
        run.contract, here, ingested=run.extracted, at=run.extracted, deletes=F.lit(False),
        priority=PRESENCE, position=F.col("__position"),
    )  # fmt: skip


_EXTRACTS = "array<struct<time:string,scopes:array<string>,runs:int,latest_until:string>>"


def full_extract_events(
    run: MergeRun,
    keys: DataFrame,
    existing: DataFrame,
    entries: DataFrame,
    extracts: Sequence[FullExtract],
) -> DataFrame:
    """Return the presences and absences of some keys in the full extracts since `__earliest`.

    A key was present if a version held then, within the extract's scopes. Where the versions do not
    show it, the journal does: a key without a record that counts is `present_unrecorded`, unless
    another extract of that time has one. The extracts of scd1 before the first version of a key
    show nothing: scd1 has replaced that.
    """
    contract = run.contract
    all_extracts = F.from_json(F.lit(json.dumps([asdict(each) for each in extracts])), _EXTRACTS)
    at, then, was = F.col("__at"), F.col("__then"), F.col("__was")
    found = (
        _by_key(run, keys, existing, entries)
        .withColumn("__extract", F.explode(F.filter(all_extracts, _since_the_run)))
        .withColumn("__at", _time(F.col("__extract")))
        .where(~F.coalesce(_had_replaced(), F.lit(False)))
        .where(~_had_no_record())
        .withColumn("__then", F.get(F.filter("__versions", _holds), F.lit(0)))
        .withColumn("__was", _newest(F.filter("__records", _is_of_extract)))
        # A version shows the first untracked values of its time or the last, not those of then.
        .withColumn("__content", F.coalesce(was["content"], then["content"]))
    )
    content = [F.col(f"__content.{quote(name)}") for name in (*contract.content, "_source_file")]
    found, absent, scopes = found.select("*", *content), then.isNull(), None
    if contract.history.delete_scope:
        scopes = F.col("__extract.scopes")
        scope = F.expr(scope_text(contract.history.delete_scope))
        absent = absent | ~F.coalesce(F.array_contains(scopes, scope), F.lit(True))
    return event(
        contract, found, ingested=at, at=at, deletes=absent,
        priority=F.when(absent, ABSENCE).otherwise(PRESENCE),
        shows_later=~absent & F.coalesce(renewed_after(at, contract), F.lit(False)),
        scopes=None if scopes is None else F.when(absent, scopes),
    )  # fmt: skip


def _by_key(run: MergeRun, keys: DataFrame, existing: DataFrame, entries: DataFrame) -> DataFrame:
    """Return one row per key: its `__versions`, and its `__records` in the journal."""
    contract = run.contract
    names = [quote(key) for key in contract.keys]
    content = F.struct(*map(quote, contract.content), "_source_file").alias("content")
    deleted = F.col("_is_deleted") if marks(contract) else F.lit(False)
    # The stored hash covers the columns that were tracked at its time.
    hashed = F.expr(row_hash(contract.tracked)).alias("hash")
    renewed = renewed_after(F.col("_valid_from"), contract).alias("renewed")
    version = F.struct(
        "_valid_from", "_valid_to", deleted.alias("deleted"), renewed, hashed, content,
        "_ingested_at",
    )  # fmt: skip
    at, op = F.col("_sequence").alias("at"), F.col("_op").alias("op")
    record = F.struct(at, op, "_run_id", "_ingested_at", hashed, content)
    rows = existing.select(*names, version.alias("__version")).unionByName(
        entries.select(*names, record.alias("__record")), allowMissingColumns=True
    )
    rows = rows.unionByName(keys, allowMissingColumns=True)
    return rows.groupBy(*names).agg(
        F.max("__earliest").alias("__earliest"),
        F.collect_list("__version").alias("__versions"),
        F.collect_list("__record").alias("__records"),
    )


def _time(extract: Expression) -> Expression:
    return extract["time"].cast("timestamp_ntz")


def _since_the_run(extract: Expression) -> Expression:
    """Whether the run changes something of the key that an extract may have judged otherwise."""
    return _time(extract) >= F.col("__earliest")


def _had_replaced() -> Expression:
    """Whether scd1 may have replaced what an extract held of a key: no version began by `__at`.

    A key that came after the table began to keep versions had no row then.
    """
    at, versions = F.col("__at"), F.col("__versions")
    until = F.col("__extract.latest_until").cast("timestamp_ntz")
    # A renewed version shows a younger run: the journal has the one of its start.
    known = F.exists(versions, lambda v: v["_ingested_at"] <= until) | F.exists(
        "__records", lambda r: (r["op"] == Op.UPSERT) & (r["_ingested_at"] <= until)
    )
    return known & ~F.exists(versions, lambda v: v["_valid_from"] <= at)


def _had_no_record() -> Expression:
    """Whether each extract of `__at` held the key, and none a record of it that counts."""
    there = F.filter(
        "__records", lambda r: (r["op"] == Op.PRESENT_UNRECORDED) & (r["at"] == F.col("__at"))
    )
    # A run that comes again may record it again.
    runs = F.array_distinct(F.transform(there, lambda r: r["_run_id"]))
    return F.size(runs) >= F.col("__extract.runs")


def _holds(version: Expression) -> Expression:
    """Whether a version held at `__at`."""
    at, ends = F.col("__at"), version["_valid_to"]
    return (version["_valid_from"] <= at) & (ends.isNull() | (at < ends)) & ~version["deleted"]


def _is_of_extract(record: Expression) -> Expression:
    """Return whether a record may be one that the extract held.

    It has the content of `__then`, and lies between its start and `__at`.
    """
    start = F.col("__then._valid_from")
    # A version that was renewed may be backfilled: the journal has the record of its start.
    first = F.col("__then.renewed") & (record["at"] == start)
    same = first | (record["hash"] == F.col("__then.hash"))
    # What brought the key back has no record of that time.
    of_then = (record["op"] == Op.UPSERT) | ((record["op"] == Op.PRESENT) & (record["at"] == start))
    return of_then & same & record["at"].between(start, F.col("__at"))


def _newest(records: Expression) -> Expression:
    def later_first(one: Expression, other: Expression) -> Expression:
        this, that = (F.struct(each["at"], each["_ingested_at"]) for each in (one, other))
        return F.when(this < that, 1).when(this > that, -1).otherwise(0)

    return F.get(F.array_sort(records, later_first), F.lit(0))
