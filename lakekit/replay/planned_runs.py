"""The landings of one table with the runs that planned them, as the documents below `runs/` say."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from lakekit import layout
from lakekit.batch import Batch, MergeResult
from lakekit.contract.contract import Contract
from lakekit.ports import ObjectStore
from lakekit.runs.documents import read_claim, read_document, read_plan, read_run
from lakekit.side_by_side import side_by_side
from lakekit.steps.jobs import MergeScd2Result

STEP = "merge_scd2"

Order = tuple[int, datetime, int]


@dataclass(frozen=True)
class Planned:
    """A landing in the plan of one run; `result` is what the merge said, if it said anything.

    order: epoch of the run's lease, start of the run, place in its plan. leased_at: when the run
    had its lease; its start if that is not known.
    """

    order: Order
    leased_at: datetime
    contract: Contract
    batch: Batch
    result: MergeResult | None

    @property
    def folder(self) -> str:
        """The folder of all landings of the endpoint."""
        return layout.endpoint_prefix(self.contract.source, self.contract.contract)

    @property
    def prefix(self) -> str:
        """The landing's folder."""
        contract = self.contract
        return layout.raw_prefix(contract.source, contract.contract, self.batch.extraction_time)


def read_plans(
    store: ObjectStore, table: str, keys: Collection[str], known: Mapping[str, datetime | None]
) -> dict[str, list[Planned]]:
    """Return each landing of a table with the runs that planned it, in the order of the runs.

    A plan without a result is read only where one is lost; most are those of other sources.

    Args:
        store: The landing bucket.
        table: Name of the table.
        keys: What there is below `runs/`.
        known: The landings of which the table knows, with the time of the commit, if it has one.
    """
    runs = {layout.run_of(key) for key in keys}
    runs = {run_id for run_id in runs if layout.plan_key(run_id) in keys}
    with_result = {run_id for run_id in runs if layout.result_key(run_id, STEP, table) in keys}
    found = _read(store, table, with_result, with_result)
    if any(map(found_there, found.values())) or _is_lost(found, known):
        found = _read(store, table, runs, with_result)
    return found


def documents_of(store: ObjectStore, source: str, table: str) -> set[str]:
    """Return what there is below `runs/` of the runs that planned a table."""
    prefix = layout.table_runs_prefix(source, table)
    runs = [info.key.removeprefix(prefix).partition("-")[2] for info in store.list(prefix)]

    def keys(run_id: str) -> list[str]:
        return [info.key for info in store.list(layout.run_prefix(run_id))]

    return {key for found in side_by_side(keys, sorted({*runs})) for key in found}


def found_there(planned: Sequence[Planned]) -> bool:
    """Say whether the first that has a result found the work of another, which has none."""
    first = next((each.result for each in planned if each.result), None)
    return first is not None and first.snapshot_id is not None and not first.committed


def in_merge_order(merged: Mapping[str, Planned], shown: Iterable[str]) -> list[str]:
    """Sort runs by their documents, but those that main shows as it shows them. Pure."""
    places: dict[str, tuple[Order, int, int]] = {}
    latest: Order | None = None
    for rank, run_id in enumerate(shown):
        own = merged[run_id].order
        latest = own if latest is None else max(latest, own)
        places[run_id] = (latest, 0, rank)
    return sorted(merged, key=lambda run_id: places.get(run_id, (merged[run_id].order, 1, 0)))


def _is_lost(found: Mapping[str, Sequence[Planned]], known: Mapping[str, datetime | None]) -> bool:
    """Say whether a landing is the work of none that was found: of none, or of an earlier one."""
    return any(
        run_id not in found or (at is not None and at < found[run_id][0].leased_at)
        for run_id, at in known.items()
    )


def _read(
    store: ObjectStore, table: str, runs: Collection[str], with_result: Collection[str]
) -> dict[str, list[Planned]]:
    def planned(run_id: str) -> list[Planned]:
        plans = [plan for plan in read_plan(store, run_id).tables if plan.table == table]
        if not plans:
            return []
        run, key = read_run(store, run_id), layout.result_key(run_id, STEP, table)
        claim = read_claim(store, run_id)
        merges = read_document(store, key, MergeScd2Result).merges if run_id in with_result else ()
        results = {each.run_id: each for each in merges}
        return [
            Planned(
                order=(claim.epoch(table) if claim else 0, run.started_at, place),
                leased_at=claim.leased_at if claim else run.started_at,
                contract=plan.contract,
                batch=batch,
                result=results.get(batch.run_id),
            )
            for plan in plans
            for place, batch in enumerate(plan.batches)
        ]

    every = [each for found in side_by_side(planned, sorted(runs)) for each in found]
    landings: defaultdict[str, list[Planned]] = defaultdict(list)
    for each in sorted(every, key=lambda each: each.order):
        landings[each.batch.run_id].append(each)
    return landings
