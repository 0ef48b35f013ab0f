"""Late changes, exactly: the history of the touched keys is derived again from all their events.

Only keys that a late change touches come here; a run without late changes pays nothing. One event
counts for each key and time (`ranked`). In the order of their times, each of these takes effect or
not (`with_effect`). The rest is what every merge does: `order.resolve`.
"""

from pyspark.sql import Column as Expression
from pyspark.sql import DataFrame, Window, WindowSpec
from pyspark.sql import functions as F

from lakekit.contract.contract import Contract
from lakekit.spark.diff import order
from lakekit.spark.diff.metrics import Counts
from lakekit.spark.diff.order import content_hash, with_filled
from lakekit.spark.journal import Journal
from lakekit.spark.late.changes import (
    Rederived,
    compare_versions,
    event_counts,
    rederived,
    version_counts,
)
from lakekit.spark.late.events import (
    PRESENCE,
    RECORD,
    RECORDED_PRESENCE,
    gather_events,
    of_run,
    with_neighbours,
)
from lakekit.spark.late.fold import Step, folded
from lakekit.spark.read.parse import sequence_of
from lakekit.spark.run import MergeRun
from lakekit.spark.session.staging import write_counted, write_staged
from lakekit.spark.session.tuning import broadcast_if_small
from lakekit.sql.identifiers import quote
from lakekit.sql.row_hash import row_hash, state_hash
from lakekit.sql.tables import ARRIVAL

_STATE = "struct<current:boolean,scope:{scope},hash:bigint,rest:bigint>"
_EFFECT = "struct<effective:boolean,before:{state}>"


def late_keys(run: MergeRun, staged: DataFrame, journal: Journal, n: Counts) -> DataFrame | None:
    """Return the keys that do not simply move forward, or None; written to the staging folder.

    With each key is `__earliest`: before that time, the run changes nothing of it.
    """
    goes_back = n.earliest and journal.any_since(n.earliest)
    if not goes_back and not n.late:
        return None
    names = list(run.contract.keys)
    time, backfills = F.col("__event_time"), F.col("__kind") == "backfill"
    news = staged.where("__kind != 'same'").groupBy(*run.keys)
    own = news.agg(
        _first_time(run, time).alias("__earliest"),
        _first_time(run, F.when(~backfills, time)).alias("__earliest_change"),
        F.min(F.when(backfills, time)).alias("__earliest_backfill"),
        F.max("__late").alias("__flagged"),
    )
    columns = [*run.keys, F.col("__earliest")]
    late = own.where("__flagged").select(*columns)
    if goes_back:
        known = journal.entries().select(*run.keys, F.col("_sequence").alias("__known_at"))
        # A record that backfills its version takes the place of the recorded one of its time.
        meets = "__known_at >= __earliest_change OR __known_at > __earliest_backfill"
        met = known.join(broadcast_if_small(own, n.touched), names).where(meets)
        late = late.unionByName(met.select(*columns)).distinct()
    path = f"{run.staging}/late"
    found, seen = write_counted(late, path, F.count(F.lit(1)).alias("keys"))
    return broadcast_if_small(found, seen["keys"]) if seen["keys"] else None


def _first_time(run: MergeRun, time: Expression) -> Expression:
    """Return the first of some times; a full extract also changes what holds at its own time."""
    return F.least(F.min(time), run.extracted) if run.full else F.min(time)


def rederive(run: MergeRun, rows: DataFrame, keys: DataFrame, journal: Journal) -> Rederived:
    """Derive the versions of some keys again and compare them with those of the table.

    Args:
        run: The run.
        rows: Its staged rows.
        keys: The keys, with `__earliest`; see `late_keys`.
        journal: The table's journal.
    """
    contract, names = run.contract, list(run.contract.keys)
    # It is read from several sides; the table itself is read once.
    versions = with_neighbours(run.state.versions.join(keys, names), contract)
    existing = write_staged(versions, f"{run.staging}/existing")
    own = rows.join(keys, names, "left_semi")
    events = gather_events(run, existing, own, keys, journal)
    path = f"{run.staging}/events"
    resolved, counted = write_counted(_resolve(events, contract), path, *event_counts())
    changes = compare_versions(resolved, existing, contract)
    path = f"{run.staging}/versions"
    versions, written = write_counted(changes, path, *version_counts())
    return rederived(resolved, versions, keys, counted | written)


def _resolve(events: DataFrame, contract: Contract) -> DataFrame:
    """Order the events, keep the one that counts at each time, and say what it does.

    Events that do not count are `lost` if they are the run's own; for `ineffective` see
    `_why_kept`.
    """
    placed = ranked(events.repartition(*map(quote, contract.keys)), contract)
    judged = with_effect(placed.where("__rank = 1 OR __from_run"), contract)
    kept = judged.withColumn("__reject_reason", _why_kept(contract))
    kept = kept.where("__effective OR __reject_reason IS NOT NULL")
    kept = kept.drop("__effective", "__before").withColumns(
        {
            "__current_hash": F.lit(None).cast("bigint"),
            "__current_rest": F.lit(None).cast("bigint"),
            "__current_from": F.lit(None).cast("timestamp_ntz"),
            "__absent": ~F.col("__from_run"),
        }
    )
    if contract.history.ignore_null_updates:
        row = ", ".join(quote(c.name) for c in contract.stored)
        kept = kept.withColumn("__current_row", F.expr(f"if(false, struct({row}), NULL)"))
        kept = with_filled(kept, contract).drop("__current_row", "__record", "__life")
    kept = kept.withColumn("__digest", F.expr(state_hash(contract)))
    resolved = order.resolve(kept, contract)
    action = F.coalesce("__reject_reason", "__action")
    return resolved.withColumns({"__action": action, "__opener": _opened_by_run(contract)})


def _opened_by_run(contract: Contract) -> Expression:
    """Whether the event that began the state of a resolved row is the run's own."""
    keys = [quote(key) for key in contract.keys]
    # The order of `order.resolve`, so that nothing is sorted again.
    forward = Window.partitionBy(*keys, "__rejected").orderBy("__event_time")
    so_far = forward.rowsBetween(Window.unboundedPreceding, Window.currentRow)
    turn = F.when(F.col("__changes"), F.col("__from_run"))
    return F.coalesce(F.last(turn, ignorenulls=True).over(so_far), F.lit(False))


def _why_kept(contract: Contract) -> Expression:
    """Return why an event that changes nothing is kept, or null.

    The presence of a key that is there is `ineffective` if it has other content than the key has
    then, or than an extract of that time recorded. A later deletion before it would make it
    effective.
    """
    other = ~F.col("_row_hash").eqNullSafe(F.col("__before.hash")) | (
        ~F.col("__shows_later") & ~F.col("__rest").eqNullSafe(F.col("__before.rest"))
    )
    other = other | F.col("__present_recorded")
    ineffective = ~F.col("__effective") & other & (F.col("__priority") == PRESENCE)
    return F.when(F.col("__rank") > 1, "lost").when(ineffective, "ineffective")


def ranked(events: DataFrame, contract: Contract) -> DataFrame:
    """Rank the events of one key and time; `__rank` 1 counts."""
    keys = [quote(key) for key in contract.keys]
    at_once = Window.partitionBy(*keys, "__event_time")
    stored = {c.name for c in contract.stored}
    held = F.col("__priority") == PRESENCE
    recorded = F.max(F.col("__priority") == RECORDED_PRESENCE).over(at_once)
    priority = F.when(F.col("__priority") == RECORDED_PRESENCE, PRESENCE)
    best = at_once.orderBy(
        priority.otherwise(F.col("__priority")).desc(),
        # Where several full extracts hold a key, its newest record decides.
        F.least(sequence_of(contract), "__event_time").desc(),
        *[F.col(quote(name)).desc() for name in contract.history.tie_break if name in stored],
        F.col("__ingested").desc(),
        F.col("__from_run").desc(),
        F.col(ARRIVAL).desc_nulls_first(),
        F.col("__position").desc(),
    )
    # A version shows its newest untracked values; the journal has the record of its start.
    known = F.col("__from_journal") & ~F.col("__deleted")
    gives_way = F.col("__shows_later") & F.max(known).over(at_once)
    # What the journal has of a presence wins over what the versions show of it.
    gives_way = gives_way | (held & ~of_run() & recorded)
    hashed = events.withColumns(
        {
            "_row_hash": F.expr(row_hash(contract.tracked)),
            "__rest": F.expr(row_hash(contract.untracked)),
            "__present_recorded": recorded,
        }
    )
    rows = hashed.withColumn("__gives_way", gives_way)
    rows = _with_split(rows, at_once, partial=contract.history.ignore_null_updates)
    rows = rows.where("NOT __gives_way").withColumn("__content", content_hash())
    return rows.withColumns(
        {
            "__rank": F.row_number().over(best),
            "__equal": F.col("__content") == F.first("__content").over(best),
        }
    )


def _with_split(events: DataFrame, at_once: WindowSpec, *, partial: bool) -> DataFrame:
    """Let a version that is split from the one before it stay so, whichever event shows it then."""
    version = F.when(F.col("__from_version"), F.struct("_row_hash", "__split"))
    events = events.withColumn("__of", F.max(version).over(at_once))
    # The content of a partial record is known only once it is filled.
    same = F.lit(partial) | (F.col("_row_hash") == F.col("__of._row_hash"))
    split = F.when(same & ~F.col("__deleted"), F.col("__of.__split"))
    return events.withColumn("__split", split).drop("__of")


def with_effect(placed: DataFrame, contract: Contract) -> DataFrame:
    """Add whether each event is `__effective`, and the state of its key before it (`__before`).

    A record is always effective; the state before it is left open. Presence is only if the key is
    deleted; absence only if the key is there, with a content within the scopes of the extract. An
    event that is not first at its time (`__rank`) is not.

    Args:
        placed: Events, one first among those of a key and time.
        contract: Its keys and scopes.
    """
    state = _STATE.format(scope=_scope_type(contract))
    restarts = f"__rank = 1 AND __priority = {RECORD}"
    judged = folded(
        placed.withColumn("__scope", _scope(contract)), contract.keys, _none(state),
        _EFFECT.format(state=state), _step(contract, state), F.expr(restarts),
    )  # fmt: skip
    found = {f"__{name}": F.col(f"__folded.{name}") for name in ("effective", "before")}
    return judged.withColumns(found).drop("__folded", "__scope")


def _scope(contract: Contract) -> Expression:
    names = contract.history.delete_scope
    return F.struct(*map(quote, names)) if names else F.lit(None).cast("string")


def _scope_type(contract: Contract) -> str:
    fields = [f"{quote(n)}:{contract.column(n).type}" for n in contract.history.delete_scope]
    return f"struct<{','.join(fields)}>" if fields else "string"


def _none(state: str) -> Expression:
    return F.struct(F.lit(False), *[F.lit(None)] * 3).cast(state)


def _step(contract: Contract, state: str) -> Step:
    """Return the step from the state of a key before an event to the state after it."""
    scope = contract.history.delete_scope

    def judge(before: Expression, event: Expression) -> tuple[Expression, Expression]:
        deletes = event["__deleted"]
        within = F.lit(True)
        if scope:
            text = F.to_json(before["scope"], {"ignoreNullFields": "false"})
            within = event["__scopes"].isNull() | F.array_contains(event["__scopes"], text)
        changes = F.when(deletes, before["current"] & within).otherwise(~before["current"])
        effective = (event["__rank"] == 1) & ((event["__priority"] == RECORD) | changes)
        hashes = (event["_row_hash"], event["__rest"])
        current = F.struct(F.lit(True), event["__scope"], *hashes).cast(state)
        after = F.when(~effective, before).when(deletes, _none(state)).otherwise(current)
        found = F.struct(effective, before).cast(_EFFECT.format(state=state))
        return after, found

    return judge
