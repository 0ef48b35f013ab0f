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

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime

from lakekit import layout
from lakekit.batch import Batch, MergeResult
from lakekit.contracts import Contract
from lakekit.errors import LandingCorruptError
from lakekit.landing import load_manifest
from lakekit.ports import ObjectStore
from lakekit.runs.documents import read_document, read_plan, read_run
from lakekit.runs.plan_tables import batch_of
from lakekit.runs.validate_landing import as_merged
from lakekit.steps import MergeScd2Result
from lakekit.validate import validate_landing

STEP = "merge_scd2"
# Documents are small; to read them is to wait.
_AT_ONCE = 16

Order = tuple[int, datetime, int]


@dataclass(frozen=True)
class Shown:
    """A run that a table shows; `at` is when it was committed, None if only a rebuild names it."""

    run_id: str
    at: datetime | None = None


@dataclass(frozen=True)
class Planned:
    """A landing in the plan of one run; `result` is what the merge said, if it said anything.

    order: epoch of the run's lease, start of the run, place in its plan.
    """

    order: Order
    contract: Contract
    batch: Batch
    result: MergeResult | None

    @property
    def prefix(self) -> str:
        """The landing's folder."""
        contract = self.contract
        return layout.raw_prefix(contract.source, contract.contract, self.batch.extraction_time)


def merged_runs(
    store: ObjectStore, table: str, shown: Sequence[Shown], told: Iterable[Shown] = ()
) -> list[tuple[Contract, Batch]]:
    """Return the contract and batch of each merged run, in the order of the merges.

    Args:
        store: The landing bucket.
        table: Name of the table and its contract.
        shown: What main shows, in the order of its ancestry, oldest first.
        told: What the companion shows of runs that have ended.

    Raises:
        LandingCorruptError: A run that the table has seen is not in the landing any more, or a
            landed object is not what was merged.
    """
    times = {each.run_id: each.at for each in (*told, *shown)}
    landings = _read_plans(store, table, times)
    if lost := sorted(times.keys() - landings.keys()):
        raise LandingCorruptError(f"{table}: no plan below runs/ has {_some(lost, 'merged runs')}")
    merged = {
        run_id: _merging(planned, times.get(run_id))
        for run_id, planned in landings.items()
        if run_id in times or _is_settled(store, planned)
    }
    prefixes = {each.prefix for each in merged.values()}
    if gone := sorted(prefix for prefix in prefixes if not _has_manifest(store, prefix)):
        raise LandingCorruptError(
            f"{table}: {_some(gone, f'of {len(merged)} merged landings')} are gone"
        )
    runs = [merged[run_id] for run_id in in_merge_order(merged, [each.run_id for each in shown])]
    for run in runs:
        _verify(store, run)
    return [(run.contract, run.batch) for run in runs]


def in_merge_order(merged: Mapping[str, Planned], shown: Iterable[str]) -> list[str]:
    """Sort runs by their documents, but those that main shows as it shows them. Pure."""
    places: dict[str, tuple[Order, int, int]] = {}
    latest: Order | None = None
    for rank, run_id in enumerate(shown):
        own = merged[run_id].order
        latest = own if latest is None else max(latest, own)
        places[run_id] = (latest, 0, rank)
    return sorted(merged, key=lambda run_id: places.get(run_id, (merged[run_id].order, 1, 0)))


def _read_plans(store: ObjectStore, table: str, known: Iterable[str]) -> dict[str, list[Planned]]:
    """Return each landing of a table with the runs that planned it, in the order of the runs.

    A plan without a result is read only where one is lost; most are those of other sources.
    """
    keys = {info.key for info in store.list(layout.RUNS)}
    runs = {layout.run_of(key) for key in keys}
    runs = {run_id for run_id in runs if layout.plan_key(run_id) in keys}
    told = {run_id for run_id in runs if layout.result_key(run_id, STEP, table) in keys}
    found = _read(store, table, told, told)
    by_others = any(_committed_before(planned) for planned in found.values())
    if by_others or not set(known) <= found.keys():
        found = _read(store, table, runs, told)
    return found


def _read(
    store: ObjectStore, table: str, runs: Collection[str], told: Collection[str]
) -> dict[str, list[Planned]]:
    def planned(run_id: str) -> list[Planned]:
        plans = [plan for plan in read_plan(store, run_id).tables if plan.table == table]
        if not plans:
            return []
        run, key = read_run(store, run_id), layout.result_key(run_id, STEP, table)
        merges = read_document(store, key, MergeScd2Result).merges if run_id in told else ()
        results = {each.run_id: each for each in merges}
        return [
            Planned(
                order=(run.epochs.get(table, 0), run.started_at, place),
                contract=plan.contract,
                batch=batch,
                result=results.get(batch.run_id),
            )
            for plan in plans
            for place, batch in enumerate(plan.batches)
        ]

    with ThreadPoolExecutor(_AT_ONCE) as pool:
        every = [each for found in pool.map(planned, sorted(runs)) for each in found]
    landings: defaultdict[str, list[Planned]] = defaultdict(list)
    for each in sorted(every, key=lambda each: each.order):
        landings[each.batch.run_id].append(each)
    return landings


def _committed_before(planned: Sequence[Planned]) -> bool:
    """Say whether the first that has a result found the work of another, which has none."""
    first = next((each.result for each in planned if each.result), None)
    return first is not None and first.snapshot_id is not None and not first.committed


def _merging(planned: Sequence[Planned], at: datetime | None) -> Planned:
    """Return the run that merged a landing, of those that planned it.

    It is the one that says so. One that lost its result had begun before the commit `at`, or
    before another found its work.
    """
    for each in planned:
        if each.result and each.result.committed:
            return each
    if at is not None:
        return [each for each in planned if each.order[1] <= at or each is planned[0]][-1]
    first = next((n for n, each in enumerate(planned) if each.result), len(planned))
    if first == len(planned) or (first and _committed_before(planned)):
        first -= 1
    return planned[first]


def _is_settled(store: ObjectStore, planned: Sequence[Planned]) -> bool:
    """Say whether a landing that the table does not show is merged all the same.

    Its snapshot has expired, or it changed nothing. If its folder is gone nobody can tell, and it
    counts, so that it is missed.
    """
    prefix = planned[0].prefix
    if not any(each.result for each in planned):
        return False
    return store.head(layout.complete_key(prefix)) is not None or not _has_manifest(store, prefix)


def _has_manifest(store: ObjectStore, prefix: str) -> bool:
    return store.head(layout.manifest_key(prefix)) is not None


def _verify(store: ObjectStore, run: Planned) -> None:
    """Raise if a landing is not what was merged."""
    key = layout.manifest_key(run.prefix)
    manifest = load_manifest(store, key)
    now = batch_of(store, manifest)
    if (now.run_id, now.files) != (run.batch.run_id, run.batch.files):
        raise LandingCorruptError(f"{key}: is not the landing that run {run.batch.run_id} merged")
    validate_landing(store, as_merged(manifest), run.contract)


def _some(names: Sequence[str], what: str) -> str:
    more = ", …" if len(names) > 5 else ""
    return f"{len(names)} {what} ({', '.join(names[:5])}{more})"
