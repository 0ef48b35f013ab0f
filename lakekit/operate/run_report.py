"""How far a run is, and what came of it: from the documents that its steps write."""

from collections.abc import Iterator
from contextlib import suppress

from lakekit import layout
from lakekit.batch import MergeMetrics, MergeResult
from lakekit.errors import LandingCorruptError, NewerDocumentError
from lakekit.extract.pagination import counts_pages
from lakekit.landing.index import blocked
from lakekit.landing.writer import Manifest, Progress
from lakekit.models import Model
from lakekit.ports import ObjectStore
from lakekit.runs.documents import (
    ClaimedTable,
    FailureRecord,
    LandingVerdict,
    Plan,
    Run,
    TablePlan,
    read_claim,
    read_optional,
    read_verdicts,
)
from lakekit.steps.jobs import CreateTablesResult, MaintainTablesResult, MergeScd2Result


class Failed(Model):
    """Why an endpoint or a table has failed; `landing` if that waits for a person."""

    error: str
    cause: str
    landing: str | None = None


class EndpointReport(Model):
    """The extraction of an endpoint.

    pages, rows: so far; while it is at work, as it was last kept. most_pages, most_rows: what the
    source says that there are, if it says so.
    """

    endpoint: str
    pages: int = 0
    rows: int = 0
    most_pages: int | None = None
    most_rows: int | None = None
    done: bool = False
    failed: Failed | None = None


class TableReport(MergeMetrics):
    """The merge into a table: the sum of its counts, what is left, what it has used.

    landings, rows: to merge. merged: landings that are merged. done: whether it has ended well.
    dpu_seconds, cost_usd: its share of the run's jobs, once the run is complete.
    """

    table: str
    landings: int = 0
    merged: int = 0
    rows: int = 0
    created: bool = False
    snapshot_id: int | None = None
    seconds: float = 0
    dpu_seconds: float = 0
    cost_usd: float = 0
    done: bool = False
    failed: Failed | None = None


class RunReport(Model):
    """A run of `load_source`. deferred, waiting: tables that others held, or that back off."""

    run_id: str
    source: str | None
    endpoints: tuple[EndpointReport, ...] = ()
    tables: tuple[TableReport, ...] = ()
    deferred: tuple[str, ...] = ()
    waiting: tuple[str, ...] = ()


def report_run(store: ObjectStore, run_id: str) -> RunReport:
    """Return how far a run is; of one that has not begun, nothing but its id."""
    run = read_optional(store, layout.run_key(run_id), Run)
    if run is None:
        return RunReport(run_id=run_id, source=None)
    claim = read_claim(store, run_id)
    tables: list[TableReport] = []
    if claim and claim.tables:
        verdicts: dict[str, LandingVerdict] = {}
        # ValidateLanding may be at work.
        with suppress(LandingCorruptError):
            verdicts = read_verdicts(store, claim)
        plan = read_optional(store, layout.plan_key(run_id), Plan)
        plans = {each.table: each for each in plan.tables} if plan else {}
        failed = plan.failed if plan else {}
        for claimed in claim.tables:
            found = _table(store, run_id, claimed, plans.get(claimed.table), verdicts)
            if reason := failed.get(claimed.table):
                why = Failed(error="SchemaMismatchError", cause=reason)
                found = found.model_copy(update={"failed": why})
            tables.append(found)
    return RunReport(
        run_id=run_id,
        source=run.source.source,
        endpoints=tuple(_endpoints(store, run)),
        tables=tuple(tables),
        deferred=claim.deferred if claim else (),
        waiting=claim.waiting if claim else (),
    )


def report_maintenance(store: ObjectStore, run_id: str) -> list[MaintainTablesResult]:
    """Return what a run of `maintain_tables` did so far, by table."""
    prefix = f"{layout.run_prefix(run_id)}results/maintain_tables/"
    keys = [info.key for info in store.list(prefix) if not info.key.endswith("-failure.json")]
    found = (read_optional(store, key, MaintainTablesResult) for key in keys)
    return [each for each in found if each]


def _endpoints(store: ObjectStore, run: Run) -> Iterator[EndpointReport]:
    """Yield the endpoints from which the run has extracted something, or failed to."""
    for contract in run.contracts:
        name = contract.contract
        prefix = layout.raw_prefix(run.source.source, name, run.extraction_time)
        record = read_optional(store, layout.failure_key(run.run_id, name), FailureRecord)
        failed = Failed(error=record.error, cause=record.cause) if record else None
        manifest = read_optional(store, layout.manifest_key(prefix), Manifest)
        if manifest and manifest.run_id == run.run_id:
            yield EndpointReport(
                endpoint=name, pages=manifest.pages, rows=manifest.rows, done=True, failed=failed
            )
            continue
        progress = None
        # One that is damaged is the matter of the extraction.
        with suppress(LandingCorruptError, NewerDocumentError):
            key = layout.progress_key(prefix, run.run_id)
            progress = read_optional(store, key, Progress)
        if progress is None and failed is None:
            continue
        found = EndpointReport(endpoint=name, failed=failed)
        if progress:
            total = progress.resume.get("total")
            kind = "most_pages" if counts_pages(contract.endpoint.paginator) else "most_rows"
            found = found.model_copy(
                update={
                    "pages": progress.pages,
                    "rows": sum(part.rows for part in progress.parts),
                    kind: total if isinstance(total, int) else None,
                }
            )
        yield found


def _table(
    store: ObjectStore,
    run_id: str,
    claimed: ClaimedTable,
    plan: TablePlan | None,
    verdicts: dict[str, LandingVerdict],
) -> TableReport:
    name = claimed.table
    merged, created = (layout.result_key(run_id, s, name) for s in ("merge_scd2", "create_tables"))
    result = read_optional(store, merged, MergeScd2Result)
    made = read_optional(store, created, CreateTablesResult)
    merges = result.merges if result else ()
    held = [verdicts[key].verdict for key in claimed.manifests if key in verdicts]
    failed = _failed(store, run_id, name) or _blocked(store, run_id, claimed)
    return TableReport(
        table=name,
        landings=len(plan.batches) if plan else len(claimed.manifests),
        merged=len(merges),
        rows=sum(each.rows for each in held if each),
        created=bool(made and made.created),
        snapshot_id=_newest(merges),
        seconds=result.seconds if result else 0,
        dpu_seconds=result.dpu_seconds if result else 0,
        cost_usd=result.cost_usd if result else 0,
        done=bool(result and result.seconds),
        failed=failed,
        **{
            count: sum(getattr(each, count) for each in merges)
            for count in MergeMetrics.model_fields
        },
    )


def _newest(merges: tuple[MergeResult, ...]) -> int | None:
    found = [each.snapshot_id for each in merges if each.snapshot_id is not None]
    return found[-1] if found else None


def _failed(store: ObjectStore, run_id: str, table: str) -> Failed | None:
    for step in ("create_tables", "merge_scd2"):
        key = layout.job_failure_key(run_id, step, table)
        if found := read_optional(store, key, FailureRecord):
            return Failed(error=found.error, cause=found.cause)
    return None


def _blocked(store: ObjectStore, run_id: str, claimed: ClaimedTable) -> Failed | None:
    for manifest in claimed.manifests:
        why = blocked(store, manifest)
        if why and why.run_id == run_id:
            return Failed(error=why.error, cause=why.cause, landing=manifest)
    return None
