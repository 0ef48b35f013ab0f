"""One reading of a batch: what may change is staged on disk, everything is counted on the way.

Absences of a full extract that holds some scopes only.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from pyspark.sql import DataFrame, Observation
from pyspark.sql import functions as F

from lakekit.contract.contract import Contract
from lakekit.spark.diff import compare as join
from lakekit.spark.diff import order
from lakekit.spark.diff.compare import later_hashes, select_base
from lakekit.spark.diff.lateness import why_aside, with_lateness, with_presence
from lakekit.spark.diff.metrics import (
    NOTHING,
    act_counts,
    based_counts,
    joined_counts,
    kind_counts,
    late_counts,
    place_counts,
    scopes_of,
    with_known,
    with_uncounted,
)
from lakekit.spark.diff.order import with_filled, with_place, with_place_beside_aside
from lakekit.spark.diff.state import Sight
from lakekit.spark.read.lines import with_position
from lakekit.spark.read.parse import parsed_keys, with_facts
from lakekit.spark.run import Merge
from lakekit.spark.session.session import session_settings
from lakekit.spark.session.staging import write_counted
from lakekit.spark.session.tuning import estimated_bytes, kept_apart, observed
from lakekit.spark.skip import rows as known
from lakekit.spark.skip.lines import Sides, read_sides, read_whole
from lakekit.sql.scopes import scope_text

# Bytes of files whose keys are sent to every worker.
SMALL_BATCH = 64 * 1024 * 1024


@dataclass(frozen=True)
class Staged:
    """Rows on disk and counts.

    all_rows: whether it holds those too that say what is known. renewed: whether the digests of
    their lines are to be written down. records: the lines that are not known, parsed, if
    known ones were left out and there are others.
    """

    rows: DataFrame
    counts: dict[str, Any]
    all_rows: bool
    renewed: bool = False
    records: DataFrame | None = None


def stage(merge: Merge, sight: Sight, deletions: DataFrame | None = None) -> Staged:
    """Stage the rows that may change something."""
    base = _base(merge, sight)
    read = read_sides(merge, sight, base)
    if read.counted is None:
        staged = _read(merge, sight, deletions, read)
    else:
        staged = _nothing(merge, read.counted, read.known)
    n, extracted = staged.counts, merge.batch.extraction_time
    if not staged.all_rows and (_misses(n) or read.errs(n, extracted)):
        # What was dropped as known may have had the last word on its key, or been none.
        read = replace(read_whole(merge, base), all_rows=True)
        staged = _read(merge, sight, deletions, read)
    if merge.full and merge.contract.history.delete_scope:
        rows, counts = within_scopes(merge, staged.rows, staged.counts)
        staged = replace(staged, rows=rows, counts=counts)
    return staged


def _base(merge: Merge, sight: Sight) -> DataFrame:
    """Return the versions that records are compared with; see `base.select_base`."""
    versions = _newest_versions(merge) if sight.behind else merge.current()
    return select_base(versions, merge.contract, ended=sight.behind, later=sight.later)


def _nothing(merge: Merge, counted: dict[str, Any], known_lines: int) -> Staged:
    """Stage an extract whose lines are all known, and shown by all versions."""
    counts = with_known(with_uncounted(NOTHING | counted), known_lines)
    return Staged(order.no_rows(merge.versions(), merge.contract), counts, all_rows=False)


def _misses(n: dict[str, Any]) -> bool:
    """Whether what was dropped as known is needed.

    It was not known, or a known key came more than once: else each known version is joined to one
    row.
    """
    return bool(n["unlike"] or (n["same"] and n["matched"] + n["lost_sight"] > n["based"]))


def _read(merge: Merge, sight: Sight, deletions: DataFrame | None, sides: Sides) -> Staged:
    joined, told, placed = (Observation() for _ in range(3))
    based = sides.based or Observation()
    contract, all_rows = merge.contract, sides.all_rows
    place = f"{merge.place}/{'all' if all_rows else 'new'}"
    now = kept_apart(merge.moment, F.col("__base_hash").isNull())
    both = _joined(merge, sight, based, sides)
    kinds = join.with_kind(both, contract, now, sight.later, partial=merge.partial)
    kinds = kinds.observe(joined, *joined_counts(contract, now))
    if not all_rows:
        kinds = kinds.where("__kind != 'same'")
    kept = ["candidate", *(["same"] if all_rows else [])]
    if merge.full and contract.history.deletes != "ignore":
        kept += ["absent", "past"]
    # One shuffle by key serves every window that follows.
    rows = kinds.observe(told, *kind_counts(contract), known.unlike(kinds))
    rows = rows.where(F.col("__kind").isin(kept))
    rows = order.packed(known.unpacked(rows), contract).repartition(*merge.keys)
    rows = with_place(with_position(rows, merge.batch), contract)
    if deletions is not None:
        rows = rows.join(deletions, list(contract.keys), "left")
    if merge.full and contract.history.sequence_by and not contract.history.exact:
        rows = with_presence(rows, contract, sight, now)
    rows = with_lateness(rows, contract, sight, now)
    rows = with_place_beside_aside(rows.withColumn("__aside", why_aside(contract)), contract)
    rows = rows.observe(placed, *place_counts()).where("__place = 1 OR __aside IS NOT NULL")
    if contract.history.ignore_null_updates:
        rows = with_filled(rows.withColumn("__partial", F.lit(merge.partial)), contract)
        rows = _with_later(rows, contract, sight)
    if sight.behind:
        # What has ended does not end again.
        rows = rows.withColumn("__since", F.when(F.col("__ended").isNull(), F.col("__since")))
    resolved = order.select_staged(order.resolve(rows, contract, sight), contract)
    settings = merge.settings_for(rows=sides.left) if sides.sifted else {}
    with session_settings(merge.spark, settings):
        staged, acts = write_counted(resolved, place, *act_counts())
    seen = (joined, told, placed, *([based] if merge.full else []))
    counts = {name: n for each in seen for name, n in observed(each).items()}
    counts = with_uncounted(counts | acts)
    if not sides.sifted:
        return Staged(staged, counts, all_rows, sides.renews)
    return Staged(staged, with_known(counts, sides.known), all_rows, records=sides.records)


def _joined(merge: Merge, sight: Sight, based: Observation, sides: Sides) -> DataFrame:
    """Join the records to the current versions of their keys.

    If those that say what is known are not wanted, they may come without what they hold.
    """
    contract, base = merge.contract, sides.base
    partial = contract.history.ignore_null_updates
    records = with_facts(sides.records, contract, merge.batch)
    records = _with_later(records, contract, sight)
    # Building on the narrow side spares the sort of whole records.
    how, hint = "left_outer", "shuffle_hash"
    if merge.full:
        how = "full_outer"
        if sides.many and not sides.all_rows:
            alike = base.where(~join.was_filled(sight.later)) if sight.later else base
            records = known.with_content(records, alike, contract)
        if not sides.sifted:
            base = base.observe(based, *based_counts())
    elif merge.is_small and not partial:
        hint = "broadcast"
    elif estimated_bytes(sides.records.select("__raw")) <= SMALL_BATCH:
        base = _near(base, sides.records, contract)
        # Whole versions, which partial records need, may be too many bytes for every worker.
        hint = hint if partial else "broadcast"
    return join.join_base(records, base, contract, how, hint=hint)


def _with_later(rows: DataFrame, contract: Contract, sight: Sight) -> DataFrame:
    """Add the hashes of the columns that the table still fills, if there are some."""
    if not sight.later:
        return rows
    hashes = later_hashes(contract, sight.later)
    return rows.drop("__without_later", "__later").selectExpr("*", *hashes)


def _newest_versions(merge: Merge) -> DataFrame:
    """Return the newest version of every key, those that are gone too."""
    return order.first_of(merge.versions(), merge.contract.keys, F.col("_valid_from").desc())


def _near(base: DataFrame, records: DataFrame, contract: Contract) -> DataFrame:
    """Keep the current versions of a small batch's keys, so that no others are moved.

    The batch's keys are read twice for it, which is cheaper than to shuffle all current versions.
    """
    names = list(contract.keys)
    keys = parsed_keys(records, contract).distinct()
    return base.join(F.broadcast(keys), names, "left_semi")


def within_scopes(
    merge: Merge, staged: DataFrame, counts: dict[str, Any]
) -> tuple[DataFrame, dict[str, Any]]:
    """Forget the absences outside the scopes that the extract holds, and count again.

    Of a key whose current version shows what came later, the scope that it had then will tell.

    Args:
        merge: The run.
        staged: Its rows.
        counts: What was counted of them.
    """
    scopes = scopes_of(counts)
    younger = F.col("__base_hash").isNull() | (F.col("__newest") > F.col("__moment"))
    then = F.lit(merge.contract.history.exact) & F.col("__late") & younger
    rows = staged.where(~F.col("__absent") | then | F.col("__scope").isin(scopes))
    rows = rows.withColumn("__scopes", F.array(*map(F.lit, scopes)).cast("array<string>"))
    absent = F.count(F.when(F.col("__kind") == "absent", 1)).alias("absent")
    row = rows.agg(*act_counts(), absent, *late_counts("true")).first()
    again = {**counts, **(row.asDict() if row else {})}
    if again["absent"]:
        again["based_alive"] = _alive_within(merge, scopes)
    return rows, again


def _alive_within(merge: Merge, scopes: Sequence[str]) -> int:
    """Return how many keys of some scopes are there: one that is small may be gone as a whole."""
    scope = F.expr(scope_text(merge.contract.history.delete_scope))
    return merge.alive().where(scope.isin(*scopes)).count()
