"""The merged runs of a table in the order in which they were merged, from the landing bucket.

Which runs are merged: those that the table or its companion shows, and those whose result says so
and whose landing is not open. A landing without `.complete` that the table does not show is the
next run's to merge: the table was rolled back, or the run failed before its end.

In which order: a run holds a table's lease from its start to its end, so that the runs of a table
come one after another, and the lease's epoch, which the run document has, grows with each of them.
Within a run the plan has the order. This holds for a merge that changed nothing, and for one whose
snapshot has expired. Start times do not tell: of two runs that wait for the lease, any may get it
first. Extraction times do not either: a landing may be merged after a newer one. Main's ancestry
has the last word on what it shows, as a lease can expire under a run that is still at work.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from lakekit import layout
from lakekit.batch import Batch
from lakekit.contract.contract import Contract
from lakekit.errors import LandingCorruptError, MissingEvidenceError
from lakekit.landing.validate import validate_landing
from lakekit.landing.writer import load_manifest
from lakekit.ports import ObjectStore
from lakekit.replay.left_out import unexplained
from lakekit.replay.planned_runs import Planned, found_there, in_merge_order, read_plans
from lakekit.runs.plan_tables import batch_of
from lakekit.runs.validate_landing import as_merged


@dataclass(frozen=True)
class Shown:
    """A run that a table shows; `at` is when it was committed, None if only a rebuild names it."""

    run_id: str
    at: datetime | None = None


@dataclass(frozen=True)
class Seen:
    """What a table says of its runs.

    shown: what main shows, in the order of its ancestry, oldest first. told: what the companion
    shows of runs that have ended. off_main: the table's snapshots that main does not descend from.
    """

    shown: Sequence[Shown] = ()
    told: Sequence[Shown] = ()
    off_main: Collection[int] = field(default_factory=frozenset)


def merged_runs(
    store: ObjectStore, source: str, table: str, seen: Seen
) -> list[tuple[Contract, Batch]]:
    """Return the contract and batch of each merged run, in the order of the merges.

    Args:
        store: The landing bucket.
        source: The table's source.
        table: Name of the table and its contract.
        seen: What the table says of its runs; nothing if it is gone.

    Raises:
        LandingCorruptError: A run that the table has seen is not in the landing any more, or a
            landed object is not what was merged, or nothing says what a completed landing did.
        MissingEvidenceError: A completed landing is on the table no more: it was rolled back.
    """
    times = {each.run_id: each.at for each in (*seen.told, *seen.shown)}
    documents = {info.key for info in store.list(layout.RUNS)}
    landings = read_plans(store, table, documents, times)
    if lost := sorted(times.keys() - landings.keys()):
        raise LandingCorruptError(f"{table}: no plan below runs/ has {_some(lost, 'merged runs')}")
    folders = {layout.endpoint_prefix(source, table)}
    folders |= {each.folder for planned in landings.values() for each in planned}
    landed = {info.key for folder in sorted(folders) for info in store.list(folder)}
    shown = [each.run_id for each in seen.shown]
    main = set(shown)
    open_again = {each for each, found in landings.items() if _comes_again(landed, found, seen)}
    merged = {
        run_id: _merging(planned, times.get(run_id))
        for run_id, planned in landings.items()
        if run_id in main
        or (run_id not in open_again and _counts(landed, planned, told=run_id in times))
    }
    _refuse_gone(table, landed, merged)
    _refuse_rolled_back(table, [landings[each] for each in merged.keys() - main], seen)
    done = {each.prefix for each in merged.values()}
    open_ends = unexplained(store, table, documents, _completed(landed) - done)
    if open_ends:
        raise LandingCorruptError(
            f"{table}: {_some(open_ends, 'completed landings')} are in no plan and no result below "
            "runs/; bring those back, or mark the landings as .rejected"
        )
    order = in_merge_order(merged, shown)
    return [(merged[run_id].contract, _verified(store, merged[run_id])) for run_id in order]


def _merging(planned: Sequence[Planned], at: datetime | None) -> Planned:
    """Return the run that merged a landing, of those that planned it.

    It is the last one that says so: what an earlier one committed was rolled back, or the table
    would have refused the later. Without its result it is the last that had its lease before the
    commit `at`. Who found it there did not do it, however early it had begun to wait.
    """
    for each in reversed(planned):
        if each.result and each.result.committed:
            return each
    first = next((n for n, each in enumerate(planned) if each.result), None)
    able = planned
    if first is not None and found_there(planned):
        able = planned[:first] or planned[:1]
    elif first is not None and at is None:
        return planned[first]
    if at is None:
        return able[-1]
    return next((each for each in reversed(able) if each.leased_at <= at), able[0])


def _counts(landed: Collection[str], planned: Sequence[Planned], *, told: bool) -> bool:
    """Say whether a landing that main does not show is merged all the same.

    Its snapshot has expired, or it changed nothing, or only the companion was `told`. If its folder
    is gone nobody can tell, and it counts, so that it is missed. What a person has rejected does
    not count.
    """
    prefix = planned[0].prefix
    if layout.rejected_key(prefix) in landed:
        return False
    if told or not any(each.result for each in planned):
        return told
    return layout.complete_key(prefix) in landed or layout.manifest_key(prefix) not in landed


def _comes_again(landed: Collection[str], planned: Sequence[Planned], seen: Seen) -> bool:
    """Say whether a landing was merged and taken back, and is open, so that the next run has it."""
    prefix = planned[0].prefix
    is_open = layout.complete_key(prefix) not in landed and layout.manifest_key(prefix) in landed
    return is_open and _taken_back(planned, seen)


def _taken_back(planned: Sequence[Planned], seen: Seen) -> bool:
    """Say whether what a landing's last run did to the table is there, but not on main."""
    results = [each.result for each in planned if each.result]
    return bool(results) and results[-1].snapshot_id in seen.off_main


def _completed(landed: Iterable[str]) -> set[str]:
    """Return the folders that are marked as merged, without those that are rejected."""
    keys = [key for key in landed if key.endswith("/.complete")]
    prefixes = {key.removesuffix(".complete") for key in keys}
    return {each for each in prefixes if layout.rejected_key(each) not in landed}


def _refuse_gone(table: str, landed: Collection[str], merged: Mapping[str, Planned]) -> None:
    prefixes = {each.prefix for each in merged.values()}
    gone = sorted(each for each in prefixes if layout.manifest_key(each) not in landed)
    if gone:
        raise LandingCorruptError(
            f"{table}: {_some(gone, f'of {len(merged)} merged landings')} are gone"
        )


def _refuse_rolled_back(table: str, unseen: Iterable[Sequence[Planned]], seen: Seen) -> None:
    """Raise if what a run did to the table is there, but not on main."""
    if found := [planned[0].prefix for planned in unseen if _taken_back(planned, seen)]:
        raise MissingEvidenceError(
            f"{table}: {_some(sorted(found), 'completed landings')} were rolled back: mark them as "
            ".rejected, or remove .complete so that the next run merges them"
        )


def _verified(store: ObjectStore, run: Planned) -> Batch:
    """Return what a run merged, where it is now; raise if it is not what was merged."""
    key = layout.manifest_key(run.prefix)
    manifest = load_manifest(store, key)
    landing, now = as_merged(manifest), batch_of(store, manifest)
    then = run.batch
    # A bucket may have been copied to another name.
    same = len(landing.parts) == len(then.files) and all(
        file.endswith(f"/{part.key}") for file, part in zip(then.files, landing.parts, strict=True)
    )
    if now.run_id != then.run_id or not same:
        raise LandingCorruptError(f"{key}: is not the landing that run {then.run_id} merged")
    validate_landing(store, landing, run.contract)
    return then.model_copy(update={"files": now.files})


def _some(names: Sequence[str], what: str) -> str:
    more = ", …" if len(names) > 5 else ""
    return f"{len(names)} {what} ({', '.join(names[:5])}{more})"
