"""PlanTables: which tables to create or evolve, and what to merge into each, in which order."""

from collections import defaultdict
from collections.abc import Iterable
from itertools import tee

from lakekit import layout
from lakekit.batch import Batch
from lakekit.contract.contract import Contract
from lakekit.landing.writer import Manifest, load_manifest
from lakekit.ports import ObjectStore, TableCatalog
from lakekit.runs.documents import (
    Plan,
    Superseded,
    SupersededLandings,
    TablePlan,
    read_run,
    to_json,
)
from lakekit.runs.superseded import superseded_landings, younger_landings
from lakekit.runs.table_metadata import must_evolve
from lakekit.steps.functions import PlanTables, PlanTablesResult


def plan_tables(step: PlanTables, store: ObjectStore, catalog: TableCatalog) -> PlanTablesResult:
    """Write the plan: every table that has something to merge, with its batches in order.

    Raises:
        SchemaMismatchError: A table differs from its contract beyond what can be evolved.
    """
    run = read_run(store, step.run_id)
    landings: defaultdict[str, list[Manifest]] = defaultdict(list)
    for key in step.manifests:
        manifest = load_manifest(store, key)
        landings[run.contract(manifest.endpoint).contract].append(manifest)
    tables: list[TablePlan] = []
    superseded: dict[str, str] = {}
    for contract in run.contracts:
        if contract.contract not in landings:
            continue
        metadata = catalog.metadata(contract.contract)
        at_hand = landings[contract.contract]
        # Both ask for one of them; none is read twice.
        younger, again = tee(younger_landings(store, contract, at_hand))
        late = superseded_landings(contract, at_hand, metadata or {}, younger)
        _note(store, run.run_id, contract, late)
        superseded |= {each.manifest: each.by for each in late}
        kept = [each for each in at_hand if layout.manifest_key(each.prefix) not in superseded]
        if batches := _batches(store, contract, kept, again):
            create = metadata is None or must_evolve(contract, metadata)
            plan = TablePlan(
                table=contract.contract, contract=contract, create=create, batches=batches
            )
            tables.append(plan)
    store.put(layout.plan_key(run.run_id), to_json(Plan(run_id=run.run_id, tables=tuple(tables))))
    return PlanTablesResult(
        create=any(plan.create for plan in tables), merge=bool(tables), superseded=superseded
    )


def batch_of(store: ObjectStore, manifest: Manifest) -> Batch:
    """Return a landing as a merge reads it.

    Its id is a function of the landing alone, so that every run that brings the landing finds the
    commit of the first: a run lands an endpoint once, and each dropped file has a run id of its
    own.
    """
    parts = manifest.converted if manifest.format == "csv" else manifest.parts
    return Batch(
        run_id=manifest.run_id,
        extract=manifest.extract,
        extraction_time=manifest.extraction_time,
        files=tuple(store.uri(part.key) for part in parts),
        bytes=sum(part.uncompressed_bytes for part in parts),
    )


def moves_something(manifest: Manifest, contract: Contract) -> bool:
    """Say whether a merge could do anything: an empty full extract may mean deletes."""
    closes = manifest.extract == "full" and contract.history.deletes != "ignore"
    return manifest.rows > 0 or closes


def _batches(
    store: ObjectStore,
    contract: Contract,
    manifests: Iterable[Manifest],
    younger: Iterable[Manifest],
) -> tuple[Batch, ...]:
    """Return what there is to merge; a batch knows of a younger landing that is merged."""
    moving = [each for each in manifests if moves_something(each, contract)]
    newest = next((each for each in younger if moves_something(each, contract)), None)
    found = []
    for manifest in moving:
        late = newest is not None and manifest.extraction_time < newest.extraction_time
        until = newest.extraction_time if newest and late else None
        found.append(batch_of(store, manifest).model_copy(update={"merged_until": until}))
    return tuple(found)


def _note(
    store: ObjectStore, run_id: str, contract: Contract, late: tuple[Superseded, ...]
) -> None:
    """Say which landings are completed without a merge; nothing is left out silently."""
    if late:
        key = layout.result_key(run_id, "plan_tables", contract.contract)
        store.put(key, to_json(SupersededLandings(table=contract.contract, landings=late)))
