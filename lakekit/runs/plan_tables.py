"""PlanTables: which tables to create or evolve, and what to merge into each, in which order."""

from collections.abc import Iterable

from lakekit import layout
from lakekit.batch import Batch
from lakekit.config.workers import Jobs
from lakekit.contract.contract import Contract
from lakekit.errors import LandingCorruptError, SchemaMismatchError
from lakekit.landing.writer import Manifest, load_manifest
from lakekit.ports import ObjectStore, TableCatalog
from lakekit.runs.documents import (
    ClaimedTable,
    Plan,
    Superseded,
    SupersededLandings,
    TablePlan,
    read_claim,
    read_run,
    read_verdicts,
)
from lakekit.runs.superseded import (
    extraction_time_of,
    landings_to_merge,
    moves_something,
    newest_landings,
    superseded_landings,
)
from lakekit.runs.table_metadata import must_evolve
from lakekit.runs.validate_landing import is_approved
from lakekit.steps.functions import PlanTables, PlanTablesResult


def plan_tables(
    step: PlanTables, store: ObjectStore, catalog: TableCatalog, jobs: Jobs
) -> PlanTablesResult:
    """Write the plan: every table that has something to merge, with its batches in order.

    One job run merges all tables: its workers follow from the bytes of all batches. A table that
    differs from its contract beyond what can be evolved stops no other.
    """
    run, claim = read_run(store, step.run_id), read_claim(store, step.run_id)
    if claim is None:
        raise LandingCorruptError(f"{layout.claim_key(step.run_id)}: missing")
    verdicts = read_verdicts(store, claim)
    tables: list[TablePlan] = []
    failed: dict[str, str] = {}
    superseded = 0
    for each in claim.tables:
        contract = run.contract(each.table)
        keys = landings_to_merge(contract, (verdicts[key] for key in each.manifests))
        good = [load_manifest(store, key) for key in keys]
        try:
            plan, late = _plan(store, catalog, contract, good)
        except SchemaMismatchError as error:
            failed[each.table] = str(error)
            continue
        _note(store, run.run_id, contract, late)
        superseded += len(late)
        if good:
            _list_run(store, contract, each, run.run_id)
        if plan.batches:
            tables.append(plan)
    workers = jobs.workers(sum(batch.bytes or 0 for plan in tables for batch in plan.batches))
    document = Plan(run_id=run.run_id, tables=tuple(tables), failed=failed, workers=workers)
    store.put(layout.plan_key(run.run_id), document.to_json())
    return PlanTablesResult(
        create=any(plan.create for plan in tables),
        merge=bool(tables),
        workers=workers,
        superseded=superseded,
    )


def batch_of(store: ObjectStore, manifest: Manifest) -> Batch:
    """Return a landing as a merge reads it.

    Its id is a function of the landing alone, so that every run that brings the landing finds the
    commit of the first: a run lands an endpoint once, and each dropped file has a run id of its
    own.
    """
    parts = manifest.merged
    return Batch(
        run_id=manifest.run_id,
        extract=manifest.extract,
        extraction_time=manifest.extraction_time,
        files=tuple(store.uri(part.key) for part in parts),
        bytes=sum(part.uncompressed_bytes for part in parts),
    )


def _plan(
    store: ObjectStore, catalog: TableCatalog, contract: Contract, landings: list[Manifest]
) -> tuple[TablePlan, tuple[Superseded, ...]]:
    """Return what one table needs, and which landings newer ones have superseded."""
    metadata = catalog.metadata(contract.contract)
    newest = newest_landings(store, contract)
    late = superseded_landings(contract, landings, metadata or {}, newest.full)
    left_out = {each.manifest for each in late}
    kept = [each for each in landings if layout.manifest_key(each.prefix) not in left_out]
    plan = TablePlan(
        table=contract.contract,
        contract=contract,
        create=metadata is None or must_evolve(contract, metadata),
        batches=_batches(store, contract, kept, newest.moving),
    )
    return plan, late


def _batches(
    store: ObjectStore, contract: Contract, manifests: Iterable[Manifest], newest: str | None
) -> tuple[Batch, ...]:
    """Return what there is to merge; a batch knows of a younger landing that is merged."""
    until = extraction_time_of(newest) if newest else None
    found = []
    for manifest in manifests:
        if moves_something(manifest, contract):
            late = until is not None and manifest.extraction_time < until
            own = {
                "merged_until": until if late else None,
                "approved": is_approved(store, manifest),
            }
            found.append(batch_of(store, manifest).model_copy(update=own))
    return tuple(found)


def _list_run(store: ObjectStore, contract: Contract, claimed: ClaimedTable, run_id: str) -> None:
    """Name the run among those of the table, so that a rebuild finds it without a listing."""
    store.put(layout.table_run_key(contract.source, claimed.table, claimed.epoch, run_id), b"")


def _note(
    store: ObjectStore, run_id: str, contract: Contract, late: tuple[Superseded, ...]
) -> None:
    """Say which landings are completed without a merge; nothing is left out silently."""
    if late:
        key = layout.result_key(run_id, "plan_tables", contract.contract)
        store.put(key, SupersededLandings(table=contract.contract, landings=late).to_json())
