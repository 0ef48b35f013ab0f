"""PlanTables: which tables to create or evolve, and what to merge into each, in which order."""

from collections import defaultdict

from lakekit import layout
from lakekit.batch import Batch
from lakekit.contracts import Contract
from lakekit.landing import Manifest, load_manifest
from lakekit.ports import ObjectStore, TableCatalog
from lakekit.runs.documents import Plan, TablePlan, read_run, to_json
from lakekit.runs.table_metadata import must_evolve
from lakekit.steps import PlanTables, PlanTablesResult


def plan_tables(step: PlanTables, store: ObjectStore, catalog: TableCatalog) -> PlanTablesResult:
    """Write the plan: every table that has something to merge, with its batches in order.

    Raises:
        SchemaMismatchError: A table differs from its contract beyond what can be evolved.
    """
    run = read_run(store, step.run_id)
    batches: defaultdict[str, list[Batch]] = defaultdict(list)
    for key in step.manifests:
        manifest = load_manifest(store, key)
        if _moves_something(manifest, run.contract(manifest.endpoint)):
            batches[manifest.endpoint].append(batch_of(store, manifest))
    tables = [
        TablePlan(
            table=contract.contract,
            contract=contract,
            create=_must_create(contract, catalog),
            batches=tuple(batches[contract.contract]),
        )
        for contract in run.contracts
        if contract.contract in batches
    ]
    plan = Plan(run_id=run.run_id, tables=tuple(tables))
    store.put(layout.plan_key(run.run_id), to_json(plan))
    return PlanTablesResult(create=any(t.create for t in tables), merge=bool(tables))


def batch_of(store: ObjectStore, manifest: Manifest) -> Batch:
    """Return a landing as a merge reads it.

    Its id is a function of the landing alone, so that every run that brings the landing finds the
    evidence of the first: a run lands an endpoint once, and each dropped file has a run id of its
    own.
    """
    parts = manifest.converted if manifest.format == "csv" else manifest.parts
    return Batch(
        run_id=manifest.run_id,
        extract=manifest.extract,
        extraction_time=manifest.extraction_time,
        files=tuple(store.uri(part.key) for part in parts),
    )


def _moves_something(manifest: Manifest, contract: Contract) -> bool:
    """Say whether a merge could do anything: an empty full extract may mean deletes."""
    closes = manifest.extract == "full" and contract.history.deletes == "close"
    return manifest.rows > 0 or closes


def _must_create(contract: Contract, catalog: TableCatalog) -> bool:
    metadata = catalog.metadata(contract.contract)
    return metadata is None or must_evolve(contract, metadata)
