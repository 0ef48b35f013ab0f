"""CompleteRun: check that the tables show each merge, then mark the landings complete."""

from collections.abc import Callable

from lakekit import layout
from lakekit.batch import Batch, MergeResult
from lakekit.errors import MissingEvidenceError
from lakekit.models import Model
from lakekit.ports import ObjectStore, TableCatalog, TableLeases
from lakekit.runs.documents import Run, TablePlan, put_once, read_document, read_plan, read_run
from lakekit.runs.record_failure import release_tables
from lakekit.runs.table_metadata import Metadata, main_ancestry
from lakekit.steps.functions import CompleteRun, CompleteRunResult
from lakekit.steps.jobs import MergeScd2Result
from lakekit.table_properties import runs_in


class TableLoaded(Model):
    """What is announced of one table: the sum of a run's merges into it."""

    table: str
    run_id: str
    source: str
    snapshot_id: int | None
    opened: int
    closed: int
    unchanged: int
    quarantined: int


def complete_run(
    step: CompleteRun,
    store: ObjectStore,
    catalog: TableCatalog,
    leases: TableLeases,
    announce: Callable[[TableLoaded], None],
) -> CompleteRunResult:
    """Finish what the tables show; again changes nothing and announces again.

    Raises:
        MissingEvidenceError: A table does not show what its merge says; the others are finished.
    """
    run = read_run(store, step.run_id)
    missing: list[str] = []
    faulty: set[str] = set()
    maintain = False
    loaded: list[TableLoaded] = []
    for plan in read_plan(store, step.run_id).tables:
        metadata = catalog.metadata(plan.table) or {}
        result = _result(store, run, plan)
        merges = {each.run_id: each for each in result.merges}
        faults = [f for b in plan.batches if (f := _fault(run, b, merges.get(b.run_id), metadata))]
        if faults:
            missing += [f"{plan.table}: {fault}" for fault in faults]
            faulty.add(plan.table)
            continue
        maintain |= result.maintain
        loaded.append(_summary(run, plan, merges, metadata))
    for key in step.manifests:
        if key.split("/")[2] not in faulty:
            put_once(store, layout.complete_key(layout.prefix_of(key)), run.run_id.encode())
    for each in loaded:
        announce(each)
    if missing:
        raise MissingEvidenceError("; ".join(missing))
    release_tables(run.run_id, store, leases)
    return CompleteRunResult(
        maintain=maintain,
        partial=_is_partial(run, step),
        tables=tuple(each.table for each in loaded),
    )


def _result(store: ObjectStore, run: Run, plan: TablePlan) -> MergeScd2Result:
    """Return what the job says it did to a table: nothing if it wrote no result."""
    key = layout.result_key(run.run_id, "merge_scd2", plan.table)
    if store.head(key) is None:
        return MergeScd2Result(table=plan.table, merges=())
    return read_document(store, key, MergeScd2Result)


def _fault(run: Run, batch: Batch, merge: MergeResult | None, metadata: Metadata) -> str | None:
    """Return why a batch has no evidence, or None if it has.

    PublishedRun is a snapshot in main's ancestry that carries the batch's id. Without one it is

    - a result that says there was nothing to commit, or
    - a result with a snapshot that may have expired since: no snapshot of the table has its id, and
      main's ancestry is cut. What this run committed itself can have expired only if the oldest
      ancestor that is left is younger than the run, because expiry takes the oldest first.
    """
    chain = main_ancestry(metadata)
    if any(batch.run_id in runs_in(each.get("summary", {})) for each in chain):
        return None
    if merge is None:
        return f"no snapshot and no result of batch {batch.run_id}"
    if merge.snapshot_id is None:
        moved = merge.committed or merge.opened or merge.closed
        return f"batch {batch.run_id} moved versions, but names no snapshot" if moved else None
    if merge.snapshot_id in {each["snapshot-id"] for each in metadata.get("snapshots", [])}:
        return f"snapshot {merge.snapshot_id} of batch {batch.run_id} is not on main"
    cut = bool(chain) and chain[-1].get("parent-snapshot-id") is not None
    younger = bool(chain) and chain[-1]["timestamp-ms"] > run.started_at.timestamp() * 1000
    if cut and (younger or not merge.committed):
        return None
    return f"snapshot {merge.snapshot_id} of batch {batch.run_id} does not exist any more"


def _summary(
    run: Run, plan: TablePlan, merges: dict[str, MergeResult], metadata: Metadata
) -> TableLoaded:
    done = [merges[batch.run_id] for batch in plan.batches if batch.run_id in merges]
    head = next((each["snapshot-id"] for each in main_ancestry(metadata)), None)
    own = [each.snapshot_id for each in done if each.snapshot_id is not None]
    return TableLoaded(
        table=plan.table,
        run_id=run.run_id,
        source=run.source.source,
        snapshot_id=own[-1] if own else head,
        opened=sum(each.opened for each in done),
        closed=sum(each.closed for each in done),
        unchanged=sum(each.unchanged for each in done),
        quarantined=sum(each.quarantined for each in done),
    )


def _is_partial(run: Run, step: CompleteRun) -> bool:
    """Say whether an endpoint failed, or a landing of the run is not among the good ones."""
    failed = any(not each.done for each in step.extracted)
    landed = {*run.claimed, *(each.manifest for each in step.extracted if each.manifest)}
    return failed or not landed <= set(step.manifests)
