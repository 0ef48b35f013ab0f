"""The merged runs of a table in the order in which they were merged, from the landing bucket.

Which runs are merged: those that the table or its journal shows, and those whose result says so and
whose landing is not open. A landing without `.complete` that the table does not show is merged by
the next run: the table was rolled back, or the run failed before its end.

In which order: a run holds a table's lease from its claim to its end. So the runs of a table come
one after another, and the lease's epoch in the claim grows with each of them. Within a run
the plan has the order. This also orders merges that changed nothing, and merges whose snapshot has
expired. Start times do not order runs: whichever waits for the lease may get it first. Nor do
extraction times: a landing may be merged after a newer one. Where main's ancestry shows another
order, it wins, as a lease can expire under a run that is still at work.
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
from lakekit.replay.planned_runs import (
    Planned,
    documents_of,
    found_there,
    in_merge_order,
    read_plans,
)
from lakekit.runs.plan_tables import batch_of
from lakekit.runs.validate_landing import as_merged


@dataclass(frozen=True)
class CommittedRun:
    """A run that a table shows; `at` is when it was committed, None if only a rebuild lists it."""

    run_id: str
    at: datetime | None = None


@dataclass(frozen=True)
class MergedRun:
    """A merged run: its contract as it was then, its landed records, and its pass, if any."""

    contract: Contract
    batch: Batch
    pass_id: str | None = None


@dataclass(frozen=True)
class TableRuns:
    """The runs that a table shows.

    main: those of main, in the order of its ancestry, oldest first. journal: runs that have ended,
    by the change journal. off_main: the table's snapshots that main does not descend from.
    """

    main: Sequence[CommittedRun] = ()
    journal: Sequence[CommittedRun] = ()
    off_main: Collection[int] = field(default_factory=frozenset)


def merged_runs(
    store: ObjectStore, source: str, table: str, table_runs: TableRuns
) -> list[MergedRun]:
    """Return the merged runs of a table, in the order of the merges.

    Args:
        store: The landing bucket.
        source: The table's source.
        table: Name of the table and its contract.
        table_runs: The runs that the table shows; none if there is no table.

    Raises:
        LandingCorruptError: A run of the table is not in the landing any more, or a landed object
            is not what was merged, or nothing says what a completed landing did.
        MissingEvidenceError: A completed landing is no longer in the table: it was rolled back.
    """
    try:
        return _merged_runs(store, source, table, table_runs, documents_of(store, source, table))
    except LandingCorruptError:
        # The index may lack a run.
        documents = {info.key for info in store.list(layout.RUNS)}
        return _merged_runs(store, source, table, table_runs, documents)


def _merged_runs(
    store: ObjectStore, source: str, table: str, table_runs: TableRuns, documents: set[str]
) -> list[MergedRun]:
    times = {each.run_id: each.at for each in (*table_runs.journal, *table_runs.main)}
    landings = read_plans(store, table, documents, times)
    if lost := sorted(times.keys() - landings.keys()):
        raise LandingCorruptError(f"{table}: no plan below runs/ has {_some(lost, 'merged runs')}")
    folders = {layout.endpoint_prefix(source, table)}
    folders |= {each.folder for planned in landings.values() for each in planned}
    landed = {info.key for folder in sorted(folders) for info in store.list(folder)}
    shown = [each.run_id for each in table_runs.main]
    main = set(shown)
    open_again = {
        each for each, found in landings.items() if _comes_again(landed, found, table_runs)
    }
    merged = {
        run_id: _merging(planned, times.get(run_id))
        for run_id, planned in landings.items()
        if run_id in main
        or (run_id not in open_again and _counts(landed, planned, recorded=run_id in times))
    }
    _refuse_missing(table, landed, merged)
    _refuse_rolled_back(table, [landings[each] for each in merged.keys() - main], table_runs)
    done = {each.prefix for each in merged.values()}
    open_ends = unexplained(store, table, documents, _completed(landed) - done)
    if open_ends:
        raise LandingCorruptError(
            f"{table}: {_some(open_ends, 'completed landings')} are in no plan and no result below "
            "runs/; bring those back, or mark the landings as .rejected"
        )
    order = in_merge_order(merged, shown)
    return [
        MergedRun(each.contract, _verified(store, each), _pass_of(landings[each.batch.run_id]))
        for each in (merged[run_id] for run_id in order)
    ]


def _pass_of(planned: Sequence[Planned]) -> str | None:
    """Return the pass that merged a landing with others, as the last result that names one says."""
    results = [each.result for each in planned if each.result]
    return next((each.pass_id for each in reversed(results) if each.pass_id), None)


def _merging(planned: Sequence[Planned], at: datetime | None) -> Planned:
    """Return the run that merged a landing, of those that planned it.

    It is the last one with a result that says so: the commit of an earlier one was rolled back, or
    the table would have refused the later. Without a result it is the last run that had its lease
    before the commit `at`. A run that found the commit there did not make it.
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


def _counts(landed: Collection[str], planned: Sequence[Planned], *, recorded: bool) -> bool:
    """Say whether a landing that main does not show is merged all the same.

    Its snapshot has expired, or it changed nothing, or only the journal has `recorded` it. If its
    folder is missing it counts, so that the rebuild reports it. A landing that a person has
    rejected does not count.
    """
    prefix = planned[0].prefix
    if layout.rejected_key(prefix) in landed:
        return False
    if recorded or not any(each.result for each in planned):
        return recorded
    return layout.complete_key(prefix) in landed or layout.manifest_key(prefix) not in landed


def _comes_again(
    landed: Collection[str], planned: Sequence[Planned], table_runs: TableRuns
) -> bool:
    """Say whether a landing was merged and taken back, and is open, so that the next run has it."""
    prefix = planned[0].prefix
    is_open = layout.complete_key(prefix) not in landed and layout.manifest_key(prefix) in landed
    return is_open and _taken_back(planned, table_runs)


def _taken_back(planned: Sequence[Planned], table_runs: TableRuns) -> bool:
    """Say whether the snapshot of a landing's last run exists, but is not on main."""
    results = [each.result for each in planned if each.result]
    return bool(results) and results[-1].snapshot_id in table_runs.off_main


def _completed(landed: Iterable[str]) -> set[str]:
    """Return the folders that are marked as merged, without those that are rejected."""
    keys = [key for key in landed if key.endswith("/.complete")]
    prefixes = {key.removesuffix(".complete") for key in keys}
    return {each for each in prefixes if layout.rejected_key(each) not in landed}


def _refuse_missing(table: str, landed: Collection[str], merged: Mapping[str, Planned]) -> None:
    prefixes = {each.prefix for each in merged.values()}
    missing = sorted(each for each in prefixes if layout.manifest_key(each) not in landed)
    if missing:
        raise LandingCorruptError(
            f"{table}: {_some(missing, f'of {len(merged)} merged landings')} are missing"
        )


def _refuse_rolled_back(
    table: str, unseen: Iterable[Sequence[Planned]], table_runs: TableRuns
) -> None:
    """Raise if the snapshot of a run exists, but is not on main."""
    if found := [planned[0].prefix for planned in unseen if _taken_back(planned, table_runs)]:
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
