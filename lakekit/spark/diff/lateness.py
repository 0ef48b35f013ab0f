"""Which rows come late. Frames in and out; no actions."""

from pyspark.sql import Column as Expression
from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from lakekit.contract.contract import Contract
from lakekit.spark.backfill import fills, repeats_newest
from lakekit.spark.run import TableState
from lakekit.spark.session.tuning import runtime_literal
from lakekit.sql.identifiers import quote
from lakekit.sql.line_hash import DIGEST
from lakekit.sql.row_hash import state_hash

# Why a row is rejected: a late record, and a late absence, which no record stands for.
LATE, LATE_ABSENCE = "late", "late_absence"


def with_presence(
    rows: DataFrame, contract: Contract, state: TableState, extracted: Expression
) -> DataFrame:
    """Let a full extract bring back, at its time, a key that was deleted after its record.

    Exact histories derive it from all change events instead. The newest of several records of a key
    decides what the extract holds.
    """
    time, deleted_at = F.col("__event_time"), newest_full(state)
    rejects = contract.history.rejects_late
    deleted = time <= deleted_at if rejects else time < deleted_at
    if "__deleted_at" in rows.columns:
        at = F.col("__deleted_at")
        by_record = F.coalesce(time <= at, F.lit(False)) if rejects else _loses_to_delete(extracted)
        deleted = F.coalesce(deleted, F.lit(False)) | by_record
        deleted_at = F.greatest(deleted_at, at)
    back = F.col("__current_hash").isNull() & deleted & (deleted_at < extracted)
    back = F.coalesce(back, F.lit(False)) & ~F.col("__absent")
    keys = Window.partitionBy(*map(quote, contract.keys))
    here = ~F.col("__absent") & (time <= extracted)
    newest = F.max(F.when(here, time)).over(keys)
    older = back & (time < newest)
    # Its line has another event time than the version that it opens.
    line = {name: F.when(~back, F.col(name)) for name in DIGEST}
    rows = rows.withColumns(
        {
            **line,
            "__event_time": F.when(back, extracted).otherwise(time),
            # It does not count at its own time either, though the winner of that time is rejected.
            "__recorded_at": F.when(~older, F.col("__recorded_at")),
            "__rank": F.when(older & (F.col("__rank") == 1), 2).otherwise(F.col("__rank")),
            "__equal": F.col("__equal") & ~older,
        }
    )
    return rows.withColumn("__digest", F.expr(state_hash(contract)))


def with_lateness(
    rows: DataFrame, contract: Contract, state: TableState, extracted: Expression
) -> DataFrame:
    """Add `__late` to each row that does not come after everything recorded of its key.

    A row of the kind `backfill` repeats the newest record, with values of added columns.

    Args:
        rows: Rows with their current row, and with `__deleted_at` where the journal has deletions.
        contract: Its mode, and what becomes of late changes.
        state: What the table was when the run began.
        extracted: Extraction time of the run.
    """
    rejects = contract.history.rejects_late
    if rejects:
        rows = _as_brought_back(rows, contract, extracted)
    exact = contract.history.mode == "scd2" and not rejects
    latest = contract.history.mode == "scd1" and not rejects
    newest, time = F.col("__newest"), F.col("__event_time")
    late = F.col("__known") & (time <= newest)
    if latest and contract.history.sequence_by:
        known = F.col("__current_tie"), F.col("__current_ingested")
        earlier = (time == newest) & _loses(extracted, *known)
        late = F.col("__known") & ((time < newest) | earlier)
    if "__deleted_at" in rows.columns:
        late = late | (_loses_to_delete(extracted) if latest else time <= F.col("__deleted_at"))
    if state.newest_full:
        late = late | _before_full_extract(state, extracted, exact=exact, rejects=rejects)
    late = late | (F.col("__kind") == "past")
    if state.added and contract.history.exact:
        more = (F.col("__kind") != "same") & repeats_newest(state.added, contract, extracted)
        late = late & ~more
        kind = F.when(more & ~late, "backfill").otherwise(F.col("__kind"))
        rows = rows.withColumn("__kind", kind)
    # A record that repeats the current row is never late: extracts overlap.
    late = late & (F.col("__kind") != "same")
    if rejects:
        late = late & ~F.coalesce(_repeats(rows, contract, state), F.lit(False))
    return rows.withColumn("__late", F.coalesce(late, F.lit(False)))


def _before_full_extract(
    state: TableState, extracted: Expression, *, exact: bool, rejects: bool
) -> Expression:
    """Whether the newest full extract may contradict a row.

    A key that the extract lacked, or that was deleted before it, is deleted or back at its time. A
    key that an older extract lacks may be in that one. A change before it hides what that extract
    held of the key, which re-deriving finds in the journal.
    """
    deleted, newest, time = (
        F.col("__current_hash").isNull(),
        newest_full(state),
        F.col("__event_time"),
    )
    late = (deleted | F.col("__deleted") | F.lit(exact)) & (time < newest)
    # A key that comes after an extract that lacks it, though its run was extracted before that one
    # or at that very time: the version that ended there may go on.
    late = late | (deleted & F.lit(exact) & (extracted < newest))
    late = late | (deleted & F.lit(exact or rejects) & (time == newest))
    # Another extract of that time may hold what this one lacks.
    return late | (F.col("__absent") & F.lit(exact) & (time == newest))


def newest_full(state: TableState) -> Expression:
    """Return the time of the newest merged full extract, null without one; it differs per run."""
    time = F.lit(state.newest_full).cast("timestamp_ntz")
    return runtime_literal(time, F.col("__current_hash").isNull())


def why_rejected(contract: Contract) -> Expression:
    """Return why a row is not merged, or null."""
    history = contract.history
    old = history.mode == "scd1" and history.sequence_by is not None
    if not (old or history.rejects_late):
        return F.lit(None).cast("string")
    return F.when(F.col("__late"), F.when(F.col("__absent"), LATE_ABSENCE).otherwise(LATE))


def _loses_to_delete(extracted: Expression) -> Expression:
    """Whether the newest deletion of its key wins over a row."""
    time, at = F.col("__event_time"), F.col("__deleted_at")
    lost = (time == at) & _loses(extracted, F.col("__deleted_tie"), F.col("__deleted_in"))
    return F.coalesce((time < at) | lost, F.lit(False))


def _loses(extracted: Expression, tie: Expression, ingested: Expression) -> Expression:
    """Whether a row loses against what another run recorded at its event time.

    The columns of the tie-break decide, then the later extract, then the later arrival.
    """
    mine = F.col("__tie")
    return (mine < tie) | ((mine == tie) & (extracted < ingested))


def _as_brought_back(rows: DataFrame, contract: Contract, extracted: Expression) -> DataFrame:
    """Give the record of a key that a full extract has brought back the start of its version.

    Without this, the same record in a later extract would be older than that version.
    """
    since, time = F.col("__current_from"), F.col("__event_time")
    brought = ~F.col("__deleted") & (time == F.col("__current_sequence")) & (time < since)
    same = F.expr(state_hash(contract, "__current_from")) == F.col("__current_hash")
    brought = F.coalesce(brought & same & _same_rest(contract) & (extracted >= since), F.lit(False))
    rows = rows.withColumn("__event_time", F.when(brought, since).otherwise(time))
    return rows.withColumn("__digest", F.expr(state_hash(contract)))


def _same_rest(contract: Contract) -> Expression:
    """Whether a row has the untracked values of the current row, where these are renewed."""
    return F.col("__rest") == F.col("__current_rest") if contract.overwrites else F.lit(True)


def _repeats(rows: DataFrame, contract: Contract, state: TableState) -> Expression:
    """Whether a row repeats what holds since its event time: no change, and never late."""
    time, current = F.col("__event_time"), F.col("__current_hash")
    known = F.col("__digest") == current
    if state.added:
        known = known | fills(state.added, contract)
    again = (time == F.col("__newest")) & known & _same_rest(contract)
    ends = [F.col("__current_from"), *([newest_full(state)] if state.newest_full else [])]
    ends += [F.col("__deleted_at")] if "__deleted_at" in rows.columns else []
    deleted = current.isNull() & (time == F.greatest(*ends, F.lit(None).cast("timestamp_ntz")))
    return F.when(F.col("__deleted"), deleted).otherwise(again)
