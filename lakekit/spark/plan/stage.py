"""One reading of a batch: what may change is staged on disk, everything is counted on the way."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from pyspark.sql import DataFrame, Observation
from pyspark.sql import functions as F

from lakekit.contract.contract import Contract
from lakekit.spark.diff import order
from lakekit.spark.diff.compare import added_hashes, join_current, select_current, with_kind
from lakekit.spark.diff.lateness import why_rejected, with_lateness, with_presence
from lakekit.spark.diff.metrics import (
    Counts,
    action_counts,
    current_counts,
    joined_counts,
    kind_counts,
    late_counts,
    rank_counts,
)
from lakekit.spark.diff.order import with_filled, with_rank, with_rank_of_accepted
from lakekit.spark.read.lines import landed_at, with_position
from lakekit.spark.read.parse import parse_keys, with_event
from lakekit.spark.run import MergeRun
from lakekit.spark.session.session import session_settings
from lakekit.spark.session.staging import write_counted
from lakekit.spark.session.tuning import estimated_bytes, observed
from lakekit.spark.skip.lines import Inputs, read_all, read_changed
from lakekit.sql.scopes import scope_text


@dataclass(frozen=True)
class Staged:
    """Rows on disk and counters.

    all_rows: whether it has the unchanged rows too. renews: whether the digests of their lines are
    to be written. records: the lines that were not skipped, parsed, if some were.
    """

    rows: DataFrame
    counts: Counts
    all_rows: bool
    renews: bool = False
    records: DataFrame | None = None


def stage(run: MergeRun, deletions: DataFrame | None = None) -> Staged:
    """Stage the rows that may change something.

    Args:
        run: The run, with the state of its table.
        deletions: The newest recorded deletion of each key, where order needs it.
    """
    current = _current(run)
    inputs = read_changed(run, current)
    if inputs.counted is None:
        staged = _stage(run, deletions, inputs)
    else:
        staged = _nothing(run, inputs.counted, inputs.lines)
    n, extracted = staged.counts, run.batch.extraction_time
    if not staged.all_rows and (_misses(n) or inputs.is_wrong(n, extracted)):
        # A dropped row may have been the last of its key.
        inputs = replace(read_all(run, current), all_rows=True)
        staged = _stage(run, deletions, inputs)
    if run.full and run.contract.history.delete_scope:
        rows, counts = _within_scopes(run, staged.rows, staged.counts)
        staged = replace(staged, rows=rows, counts=counts)
    return staged


def _current(run: MergeRun) -> DataFrame:
    """Return the versions that records are compared with; see `select_current`."""
    contract, state = run.contract, run.state
    versions = state.current
    if state.behind:
        # The newest version of every key, those of deleted keys too.
        versions = order.first_of(state.versions, contract.keys, F.col("_valid_from").desc())
    return select_current(versions, contract, ended=state.behind, added=state.added)


def _nothing(run: MergeRun, counted: Counts, lines: int) -> Staged:
    """Stage an extract whose lines are all unchanged, and shown by all versions."""
    rows = order.no_rows(run.state.versions, run.contract)
    return Staged(rows, counted.with_skipped(lines), all_rows=False)


def _misses(n: Counts) -> bool:
    """Whether a dropped row may be needed: a key came more than once.

    Otherwise each current row is joined to one row.
    """
    return n.same > 0 and n.matched + n.absent_rows > n.current


def _stage(run: MergeRun, deletions: DataFrame | None, inputs: Inputs) -> Staged:
    joined, kept, ranked = (Observation() for _ in range(3))
    current = inputs.observed or Observation()
    contract, state, all_rows = run.contract, run.state, inputs.all_rows
    extracted = landed_at(run, F.col("__current_hash").isNull())
    both = _joined(run, current, inputs)
    kinds = with_kind(both, contract, extracted)
    kinds = kinds.observe(joined, *joined_counts(contract, extracted))
    if not all_rows:
        kinds = kinds.where("__kind != 'same'")
    wanted = ["candidate", *(["same"] if all_rows else [])]
    if run.full and contract.history.deletes != "ignore":
        wanted += ["absent", "past"]
    # One shuffle by key serves every window that follows.
    rows = kinds.observe(kept, *kind_counts(contract))
    rows = rows.where(F.col("__kind").isin(wanted))
    rows = order.packed(rows, contract).repartition(*run.keys)
    rows = with_rank(with_position(rows, run.batch), contract)
    if deletions is not None:
        rows = rows.join(deletions, list(contract.keys), "left")
    if run.full and contract.history.sequence_by and not contract.history.exact:
        rows = with_presence(rows, contract, state, extracted)
    rows = with_lateness(rows, contract, state, extracted)
    rows = rows.withColumn("__reject_reason", why_rejected(contract))
    rows = with_rank_of_accepted(rows, contract)
    rows = rows.observe(ranked, *rank_counts())
    rows = rows.where("__rank = 1 OR __reject_reason IS NOT NULL")
    if contract.history.ignore_null_updates:
        rows = with_filled(rows, contract)
        rows = _with_added(rows, run)
    if state.behind:
        # A version that has ended is not closed twice.
        start = F.when(F.col("__current_to").isNull(), F.col("__current_from"))
        rows = rows.withColumn("__current_from", start)
    resolved = order.select_staged(order.resolve(rows, contract, state.added), contract)
    settings = run.settings_for(rows=inputs.left) if inputs.skipped else {}
    with session_settings(run.spark, settings):
        place = f"{run.staging}/{'all' if all_rows else 'changed'}"
        staged, actions = write_counted(resolved, place, *action_counts())
    counts = Counts.of(actions)
    for each in (joined, kept, ranked, *([current] if run.full else [])):
        counts = counts.updated(observed(each))
    counts = counts.with_same()
    if not inputs.skipped:
        return Staged(staged, counts, all_rows, inputs.renews)
    return Staged(staged, counts.with_skipped(inputs.lines), all_rows, records=inputs.records)


def _joined(run: MergeRun, counted: Observation, inputs: Inputs) -> DataFrame:
    """Join the records to the current rows of their keys."""
    contract, current = run.contract, inputs.current
    partial = contract.history.ignore_null_updates
    records = _with_added(with_event(inputs.records, contract, run.batch), run)
    # Building on the narrow side spares the sort of whole records.
    how, hint = "left_outer", "shuffle_hash"
    if run.full:
        how = "full_outer"
        if not inputs.skipped:
            current = current.observe(counted, *current_counts())
    elif run.is_small and not partial:
        hint = "broadcast"
    elif estimated_bytes(inputs.records.select("__raw")) <= run.tuning.little_bytes:
        current = _of_batch(current, inputs.records, contract)
        # Whole versions, which partial records need, may be too many bytes for every worker.
        hint = hint if partial else "broadcast"
    return join_current(records, current, contract, how, hint=hint)


def _with_added(rows: DataFrame, run: MergeRun) -> DataFrame:
    """Add the hashes of the columns that are still backfilled, if there are some."""
    if not run.state.added:
        return rows
    hashes = added_hashes(run.contract, run.state.added)
    return rows.drop("__without_added", "__added").selectExpr("*", *hashes)


def _of_batch(current: DataFrame, records: DataFrame, contract: Contract) -> DataFrame:
    """Keep the current rows of a small batch's keys, so that no others are moved.

    The batch's keys are read twice for it, which is cheaper than to shuffle all current rows.
    """
    keys = parse_keys(records, contract).drop("__fault").distinct()
    return current.join(F.broadcast(keys), list(contract.keys), "left_semi")


def _within_scopes(run: MergeRun, staged: DataFrame, counts: Counts) -> tuple[DataFrame, Counts]:
    """Drop the absences outside the scopes that the extract holds, and count again.

    Where the current version of a key shows a later change, the scope of its version then decides.
    """
    scopes = counts.scopes
    younger = F.col("__current_hash").isNull() | (F.col("__newest") > F.col("__event_time"))
    then = F.lit(run.contract.history.exact) & F.col("__late") & younger
    rows = staged.where(~F.col("__absent") | then | F.col("__scope").isin(*scopes))
    rows = rows.withColumn("__scopes", F.array(*map(F.lit, scopes)).cast("array<string>"))
    absent = F.count(F.when(F.col("__kind") == "absent", 1)).alias("absent")
    row = rows.agg(*action_counts(), absent, *late_counts("true")).first()
    again = counts.updated(row.asDict() if row else {})
    if again.absent:
        again = replace(again, undeleted=_undeleted_within(run, scopes))
    return rows, again


def _undeleted_within(run: MergeRun, scopes: Sequence[str]) -> int:
    """Return how many keys of some scopes are there: a small scope may end as a whole."""
    scope = F.expr(scope_text(run.contract.history.delete_scope))
    return run.state.undeleted.where(scope.isin(*scopes)).count()
