"""What the change journal must keep of a run: events that no version records.

Frames in and out; no actions.
"""

from pyspark.sql import Column as Expression
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from lakekit.spark.diff import order
from lakekit.spark.journal import Journal
from lakekit.spark.late.changes import Rederived
from lakekit.spark.late.events import PRESENCE
from lakekit.spark.plan.stage import Staged
from lakekit.spark.read.lines import landed_at
from lakekit.spark.read.parse import read_records, sequence_of, with_event
from lakekit.spark.run import MergeRun
from lakekit.spark.session.tuning import broadcast_if_small
from lakekit.sql.identifiers import quote
from lakekit.sql.tables import ARRIVAL, Op


def journal_entries(
    run: MergeRun, staged: Staged, journal: Journal, late: Rederived | None
) -> tuple[DataFrame, ...]:
    """Return the entries that the journal must keep of a run.

    Args:
        run: The run.
        staged: Its rows and counters.
        journal: The journal.
        late: The re-derived keys, if there are some.
    """
    if not journal.wanted:
        return ()
    contract, history, n = run.contract, run.contract.history, staged.counts
    rows = staged.rows.where("__reject_reason IS NULL AND NOT __absent")
    frames = []
    if history.ignore_null_updates:
        # As they came: other records fill them, and of a deletion nothing is left.
        partial = {name: F.col(f"__record.{quote(name)}") for name in contract.content}
        rows = rows.withColumns(partial)
    if history.ignore_null_updates and journal.exact:
        frames.append(_entries_of_rows(run, rows))
    else:
        if late and late.events is not None and late.keys is not None:
            rows = rows.join(late.keys, list(contract.keys), "left_anti")
            frames.append(_entries_of_events(run, late.events))
        if n.assert_ + n.overwrite + n.delete + n.tombstone + n.merged:
            wanted = _without_version() if journal.exact else F.col("__deleted")
            frames.append(_entries_of_rows(run, rows.where(wanted)))
        if n.rewritten and journal.exact:
            frames.append(_entries_of_versions(run, _renewed(run, rows, n.rewritten)))
    if run.full and history.deletes != "ignore":
        frames += _entries_of_extract(run, staged, journal)
    return tuple(frames)


def _entries_of_extract(run: MergeRun, staged: Staged, journal: Journal) -> list[DataFrame]:
    """Return the full extract itself, and the keys it held without a record that counts."""
    n, scopes = staged.counts, F.lit(None).cast("array<string>")
    if run.contract.history.delete_scope:
        scopes = F.array(*map(F.lit, n.scopes)).cast("array<string>")
    # A list of values is not compiled; its column has a name that no contract's has.
    one = run.spark.sql("VALUES (1) AS t(__one)")
    frames = [_without_content(run, one, Op.FULL_EXTRACT, scopes)]
    if journal.exact and n.rejected + n.ahead:
        keys = _without_record(run, staged)
        everywhere = F.lit(None).cast("array<string>")
        frames.append(_without_content(run, keys, Op.PRESENT_UNRECORDED, everywhere))
    return frames


def _without_record(run: MergeRun, staged: Staged) -> DataFrame:
    """Return the keys of a full extract without a record that shows what they were then.

    All their records are rejected, or later than the extract.
    """
    contract, keys, names = run.contract, run.keys, list(run.contract.keys)
    records = (staged.records or read_records(run)).dropna(subset=names)
    in_time = F.col("__event_time") <= run.extracted
    rows = with_event(records, contract, run.batch)
    good = F.count_if(F.col("__fault").isNull() & in_time)
    return rows.groupBy(*keys).agg(good.alias("__good")).where("__good = 0").select(*keys)


def _without_version() -> Expression:
    """Return which rows have no version of their own."""
    hidden = (F.col("__kind") != "same") & order.hidden() & ~_in_place()
    return F.col("__deleted") | hidden


def _in_place() -> Expression:
    """Whether a row takes the place of the record that began its version.

    That record is dropped, as is any record that another extract wins over at its event time.
    """
    at_start = F.coalesce(F.col("__event_time") == F.col("__current_from"), F.lit(False))
    return at_start & (F.col("__action") == "overwrite")


def _renewed(run: MergeRun, rows: DataFrame, count: int) -> DataFrame:
    """Return the versions that are written again and still show the record of their start."""
    renewed = rows.where(F.col("__first") & F.col("__rewritten") & ~_in_place())
    keys = broadcast_if_small(renewed.select(*run.keys), count)
    versions = run.state.current.join(keys, list(run.contract.keys), "left_semi")
    return versions.where(sequence_of(run.contract) <= F.col("_valid_from"))


def _entries_of_rows(run: MergeRun, rows: DataFrame) -> DataFrame:
    """Return staged rows as entries."""
    op = F.when(F.col("__deleted"), Op.DELETE).otherwise(Op.UPSERT)
    now = landed_at(run, F.col("__deleted"))
    return _entries(run, rows.withColumn("__from_run", F.lit(True)), now, "__event_time", op)


def _entries_of_events(run: MergeRun, events: DataFrame) -> DataFrame:
    """Return events of re-derived keys as entries, the run's own among them."""
    present = F.when(F.col("__priority") == PRESENCE, Op.PRESENT).otherwise(Op.UPSERT)
    op = F.when(F.col("__deleted"), Op.DELETE).otherwise(present)
    return _entries(run, events, F.col("__ingested"), "__event_time", op)


def _entries_of_versions(run: MergeRun, versions: DataFrame) -> DataFrame:
    """Return versions that are written again as the events that opened them.

    A version that began after its record was brought back by a full extract.
    """
    brought = sequence_of(run.contract) < F.col("_valid_from")
    op = F.when(brought, Op.PRESENT).otherwise(Op.UPSERT)
    return _entries(run, versions, F.col("_ingested_at"), "_valid_from", op)


def _entries(
    run: MergeRun, rows: DataFrame, ingested: Expression, time: str, op: Expression
) -> DataFrame:
    return rows.select(
        *[F.col(quote(column.name)) for column in run.contract.stored],
        "_source_file",
        "_row_hash",
        F.col(time).alias("_sequence"),
        op.alias("_op"),
        F.lit(None).cast("array<string>").alias("_scopes"),
        ingested.alias("_ingested_at"),
        _or_null(rows, "__from_run", "boolean"),
        _or_null(rows, ARRIVAL, "bigint"),
    )


def _or_null(rows: DataFrame, name: str, kind: str) -> Expression:
    return F.col(name) if name in rows.columns else F.lit(None).cast(kind).alias(name)


def _without_content(run: MergeRun, rows: DataFrame, op: Op, scopes: Expression) -> DataFrame:
    """Return entries of the run's time, with those of the stored columns that rows have."""
    time, have = run.extracted, set(rows.columns)
    columns = [
        F.col(quote(c.name)) if c.name in have else F.lit(None).cast(c.type).alias(c.name)
        for c in run.contract.stored
    ]
    return rows.select(
        *columns,
        F.lit(None).cast("string").alias("_source_file"),
        F.lit(None).cast("bigint").alias("_row_hash"),
        time.alias("_sequence"),
        F.lit(op).alias("_op"),
        scopes.alias("_scopes"),
        time.alias("_ingested_at"),
        F.lit(False).alias("__from_run"),
        F.lit(None).cast("bigint").alias(ARRIVAL),
    )
