"""Which rows come late. Frames in and out; no actions.

The newest full extract that tells of a row. Expressions; no actions.

Where absence counts within scopes, an extract tells of the keys of its scopes only.
"""

import json

from pyspark.sql import Column as Expression
from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from lakekit.contract.contract import Contract
from lakekit.spark.backfill import fills, may_fill, says_more
from lakekit.spark.diff.state import Sight
from lakekit.spark.session.tuning import kept_apart
from lakekit.sql.identifiers import quote
from lakekit.sql.line_hash import DIGEST
from lakekit.sql.row_hash import state_hash


def with_presence(
    rows: DataFrame, contract: Contract, sight: Sight, extracted: Expression
) -> DataFrame:
    """Let a full extract bring back, at its time, a key that was gone after its record.

    Or was not in the scope that the record tells, as far as an extract of that one knew.

    Exact histories derive it from all facts instead. Of several records the newest tells what the
    extract holds of the key.
    """
    moment, gone_at = F.col("__moment"), newest_full(sight)
    aside = contract.history.sets_late_aside
    gone = moment <= gone_at if aside else moment < gone_at
    if "__deleted_at" in rows.columns:
        at = F.col("__deleted_at")
        deleted = F.coalesce(moment <= at, F.lit(False)) if aside else _deleted(moment, extracted)
        gone = F.coalesce(gone, F.lit(False)) | deleted
        gone_at = F.greatest(gone_at, at)
    back = F.col("__base_hash").isNull() & gone & (gone_at < extracted)
    if sight.newest_by_scope is not None:
        newest = newest_full_of(sight, F.col("__scope"))
        back = back | (moved_before_full(sight) & (newest < extracted))
    back = F.coalesce(back, F.lit(False)) & ~F.col("__absent")
    keys = Window.partitionBy(*map(quote, contract.keys))
    here = ~F.col("__absent") & (moment <= extracted)
    if contract.history.tie_break == "quarantine":
        here = here & ~F.col("__tied")
    held = F.max(F.when(here, moment)).over(keys)
    older = back & (moment < held)
    # Its line says another moment than the version that it opens.
    line = {name: F.when(~back, F.col(name)) for name in DIGEST}
    rows = rows.withColumns(
        {
            **line,
            "__moment": F.when(back, extracted).otherwise(moment),
            # It does not count at its own moment either, though the winner of that is set aside.
            "__said_at": F.when(~older, F.col("__said_at")),
            "__place": F.when(older & (F.col("__place") == 1), 2).otherwise(F.col("__place")),
            "__equal": F.col("__equal") & ~older,
        }
    )
    return rows.withColumn("__digest", F.expr(state_hash(contract)))


def _deleted(moment: Expression, extracted: Expression) -> Expression:
    """Whether the newest deletion of the key beats a row."""
    at = F.col("__deleted_at")
    lost = (moment == at) & _loses(extracted, F.col("__deleted_tie"), F.col("__deleted_in"))
    return F.coalesce((moment < at) | lost, F.lit(False))


def _loses(extracted: Expression, tie: Expression, told: Expression) -> Expression:
    """Whether a row loses to what another run told of its moment.

    The columns of the tie-break decide, then the later extract; of one time the later arrival.
    """
    mine = F.col("__tie")
    return (mine < tie) | ((mine == tie) & (extracted < told))


def with_lateness(
    rows: DataFrame, contract: Contract, sight: Sight, extracted: Expression
) -> DataFrame:
    """Add `__late` to each row that does not come after all that is known of its key.

    Of the kind `more` are then those that say again what does, with first values beside.

    Args:
        rows: Rows with their base, and with `__deleted_at` where deletions are known.
        contract: Its mode, and what becomes of late changes.
        sight: What is known of the table.
        extracted: Extraction time of the run.
    """
    aside = contract.history.sets_late_aside
    if aside:
        rows = _as_brought_back(rows, contract, extracted)
    exact = contract.history.mode == "scd2" and not aside
    latest = contract.history.mode == "scd1" and not aside
    since, moment = F.col("__newest"), F.col("__moment")
    late = F.col("__known") & (moment <= since)
    if latest and contract.history.sequence_by:
        known = F.col("__base_tie"), F.col("__base_ingested")
        earlier = (moment == since) & _loses(extracted, *known)
        late = F.col("__known") & ((moment < since) | earlier)
    if "__deleted_at" in rows.columns:
        deleted = _deleted(moment, extracted) if latest else moment <= F.col("__deleted_at")
        late = late | deleted
    if sight.newest_full:
        # A key that was absent then, or deleted before it, is known to be gone or back there.
        # One that is absent from an older extract may be there in that one.
        # What changes before it hides what that extract held, which settling remembers.
        gone, newest = F.col("__base_hash").isNull(), newest_full(sight)
        late = late | ((gone | F.col("__gone") | F.lit(exact)) & (moment < newest))
        # Of a key that comes after an extract that lacks it, though its run was before that one,
        # or at its very moment: what ended there may go on.
        late = late | (gone & F.lit(exact) & (extracted < newest))
        late = late | (gone & F.lit(exact or aside) & (moment == newest))
        # Another extract of that moment may hold what this one lacks.
        late = late | (F.col("__absent") & F.lit(exact) & (moment == newest))
    if sight.newest_by_scope is not None:
        late = late | moved_before_full(sight)
    late = late | (F.col("__kind") == "past")
    if sight.later and contract.history.exact:
        # What is the same says nothing more, though all lines of a new reading are looked at.
        more = (F.col("__kind") != "same") & says_more(sight.later, contract, extracted)
        late = (late & ~more) | may_fill(sight.later, sight.unaware, contract)
        kind = F.when(more & ~late, "more").otherwise(F.col("__kind"))
        rows = rows.withColumn("__kind", kind)
    # What is known already is never late: extracts overlap.
    late = late & (F.col("__kind") != "same")
    if aside:
        late = late & ~F.coalesce(_says_again(rows, contract, sight), F.lit(False))
    return rows.withColumn("__late", F.coalesce(late, F.lit(False)))


def _as_brought_back(rows: DataFrame, contract: Contract, extracted: Expression) -> DataFrame:
    """Let the record of a key that a full extract has brought back begin when its version does.

    Else what a later extract says of it again would be older than that.
    """
    since, moment = F.col("__since"), F.col("__moment")
    brought = ~F.col("__gone") & (moment == F.col("__base_sequence")) & (moment < since)
    same = F.expr(state_hash(contract, "__since")) == F.col("__base_hash")
    brought = F.coalesce(brought & same & _same_rest(contract) & (extracted >= since), F.lit(False))
    rows = rows.withColumn("__moment", F.when(brought, since).otherwise(moment))
    return rows.withColumn("__digest", F.expr(state_hash(contract)))


def _same_rest(contract: Contract) -> Expression:
    """Whether a row says of the untracked columns what is known, where they are renewed."""
    return F.col("__rest") == F.col("__base_rest") if contract.overwrites else F.lit(True)


def _says_again(rows: DataFrame, contract: Contract, sight: Sight) -> Expression:
    """Whether a row says what holds since its moment: no change, and never late."""
    moment, base = F.col("__moment"), F.col("__base_hash")
    known = F.col("__digest") == base
    if sight.later:
        known = known | fills(sight.later, contract)
    again = (moment == F.col("__newest")) & known & _same_rest(contract)
    ends = [F.col("__since"), *([newest_full(sight)] if sight.newest_full else [])]
    ends += [F.col("__deleted_at")] if "__deleted_at" in rows.columns else []
    gone = base.isNull() & (moment == F.greatest(*ends, F.lit(None).cast("timestamp_ntz")))
    return F.when(F.col("__gone"), gone).otherwise(again)


def why_aside(contract: Contract) -> Expression:
    """Return why a row is not merged, or null."""
    history = contract.history
    aside = F.lit(None).cast("string")
    old = history.mode == "scd1" and history.sequence_by is not None
    if old or history.sets_late_aside:
        aside = F.when(F.col("__late"), F.when(F.col("__absent"), "gone").otherwise("late"))
    if history.tie_break == "quarantine":
        aside = F.when(F.col("__tied"), "tie").otherwise(aside)
    return aside


def newest_full(sight: Sight) -> Expression:
    """Return the moment of the newest full extract that tells of a row, null if none does.

    It differs from run to run. A key that is there tells its scope, else the row does, unless it
    need not.
    """
    gone = F.col("__base_hash").isNull()
    if sight.newest_by_scope is None or not sight.scopes_are_said:
        return kept_apart(F.lit(sight.newest_full).cast("timestamp_ntz"), gone)
    return newest_full_of(sight, F.coalesce("__base_scope", "__scope"))


def newest_full_of(sight: Sight, scope: Expression) -> Expression:
    """Return the moment of the newest full extract of a scope, null if none told of it."""
    gone, newest = F.col("__base_hash").isNull(), sight.newest_by_scope or {}
    named = {name: at for name, at in newest.items() if name is not None}
    told = F.from_json(F.lit(json.dumps(named)), "map<string,string>")
    moment = F.try_element_at(kept_apart(told, gone), scope)
    others = kept_apart(F.lit(newest.get(None)).cast("timestamp_ntz"), gone)
    return F.coalesce(moment.cast("timestamp_ntz"), others)


def moved_before_full(sight: Sight) -> Expression:
    """Whether a row puts its key into a scope in which a younger full extract did not find it.

    An extract of both scopes held the key, as it is still there; one of the new scope alone would
    have moved it.
    """
    moved = ~F.col("__gone") & (F.col("__scope") != F.col("__base_scope"))
    moment, newest = F.col("__moment"), newest_full_of(sight, F.col("__scope"))
    held = F.coalesce(newest <= newest_full_of(sight, F.col("__base_scope")), F.lit(False))
    moved = moved & (moment > F.col("__newest")) & (moment < newest) & ~held
    return F.coalesce(moved, F.lit(False))
