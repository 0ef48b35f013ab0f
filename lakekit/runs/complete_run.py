"""CompleteRun: what the tables show is complete; what waits for a person is blocked.

Then the tables are given back, and the next run is started if landings are still pending.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from lakekit import layout
from lakekit.batch import Batch, MergeResult
from lakekit.landing.index import Blocked, block, remove_entry
from lakekit.landing.watermark import advance
from lakekit.landing.writer import Manifest, load_manifest
from lakekit.models import Model
from lakekit.passes import pass_in
from lakekit.ports import Flow, JobUse, ObjectStore, TableCatalog
from lakekit.runs.documents import (
    Claim,
    ClaimedTable,
    FailureRecord,
    LandingVerdict,
    Plan,
    Run,
    TablePlan,
    put_once,
    read_claim,
    read_document,
    read_optional,
    read_plan,
    read_run,
    read_verdicts,
)
from lakekit.runs.next_run import back_off, close_run, hand_over, recover
from lakekit.runs.superseded import landings_to_merge, record_newest
from lakekit.runs.table_metadata import Metadata, main_ancestry
from lakekit.steps.functions import CompleteRun, CompleteRunResult, Failure
from lakekit.steps.jobs import MergeScd2Result
from lakekit.table_properties import runs_in

# A person must decide about the landing: to try it again does not help.
BLOCKING = (
    "LandingCorruptError", "LateExtractError", "TooManyDeletedError", "TooManyRejectedError",
)  # fmt: skip
# How much of the errors is shown: the documents of the run have all of them.
_MOST_SHOWN = 2000


class TableLoaded(Model):
    """What is announced of one table: the sum of a run's merges into it, and how it is after them.

    rows, bytes: of the records that were merged. seconds: of the merge. share: of the run's merges,
    by their seconds. dpu_seconds, cost_usd: that share of what the jobs of the run have used.
    """

    table: str
    run_id: str
    source: str
    snapshot_id: int | None
    opened: int
    closed: int
    unchanged: int
    quarantined: int
    rows: int = 0
    bytes: int = 0
    seconds: float = 0
    share: float = 1
    data_files: int = 0
    delete_files: int = 0
    snapshots: int = 0
    dpu_seconds: float = 0
    cost_usd: float = 0

    @property
    def quarantine_ratio(self) -> float:
        """The share of the records that were rejected."""
        return self.quarantined / self.rows if self.rows else 0


@dataclass(frozen=True)
class _Failure:
    error: str
    text: str


@dataclass
class _Outcome:
    """What CompleteRun found so far."""

    failures: list[_Failure] = field(default_factory=list)
    loaded: list[TableLoaded] = field(default_factory=list)
    results: dict[str, MergeScd2Result] = field(default_factory=dict)
    maintain: bool = False


def complete_run(
    step: CompleteRun,
    flow: Flow,
    catalog: TableCatalog,
    announce: Callable[[TableLoaded], None],
    use_of: Callable[[str], JobUse] = lambda _: JobUse(),
) -> CompleteRunResult:
    """Finish what the tables show; again changes nothing and announces again.

    Args:
        step: The run.
        flow: Its bucket, and who holds tables.
        catalog: The tables.
        announce: Takes each table that was loaded.
        use_of: Returns what the jobs of a run have used.
    """
    run, claim = read_run(flow.store, step.run_id), read_claim(flow.store, step.run_id)
    found = _Outcome(failures=list(_endpoint_failures(flow.store, run)))
    extracted = not found.failures
    if claim and claim.manifests:
        _Completion(run, claim, step.failure, flow, catalog, found).complete()
    for each in with_use(with_shares(found.loaded), use_of) if found.loaded else ():
        _keep_use(flow.store, each, found.results[each.table])
        announce(each)
    tables = [each.table for each in claim.tables] if claim else []
    hand_over(flow, run.run_id, run.source.source, tables)
    if extracted:
        # An extraction that failed may have left objects, which the sweeper looks for.
        close_run(flow.store, run.run_id, run.source.source)
    return _result(claim, found)


class _Completion:
    """The tables that a run has claimed, one after the other."""

    def __init__(
        self,
        run: Run,
        claim: Claim,
        failure: Failure | None,
        flow: Flow,
        catalog: TableCatalog,
        found: _Outcome,
    ) -> None:
        self._run, self._claim, self._failure = run, claim, failure
        self._store, self._clock = flow.store, flow.clock
        self._catalog, self._found = catalog, found
        self._verdicts = read_verdicts(flow.store, claim)
        self._plan: Plan = read_plan(flow.store, run.run_id)

    def complete(self) -> None:
        plans = {each.table: each for each in self._plan.tables}
        for claimed in self._claim.tables:
            verdicts = [self._verdicts[key] for key in claimed.manifests]
            self._decided(verdicts)
            good = landings_to_merge(self._run.contract(claimed.table), verdicts)
            if reason := self._plan.failed.get(claimed.table):
                self._fail(claimed, "SchemaMismatchError", reason)
            elif plan := plans.get(claimed.table):
                self._merged(claimed, plan, good)
            else:
                self._finish(claimed, self._manifests(good))

    def _decided(self, verdicts: list[LandingVerdict]) -> None:
        """Take what was decided before from the index, and block what does not hold."""
        for each in verdicts:
            if each.decided:
                remove_entry(self._store, each.manifest)
            elif each.error:
                self._block(each.manifest, each.error, each.cause)

    def _merged(self, claimed: ClaimedTable, plan: TablePlan, good: list[str]) -> None:
        """Complete the landings up to the first whose batch has no evidence."""
        metadata = self._catalog.metadata(plan.table) or {}
        shown = _snapshots(metadata)
        result = self._merged_by_job(plan, shown)
        merges = {each.run_id: each for each in result.merges}
        faults = {
            b.run_id: fault
            for b in plan.batches
            if b.run_id not in shown
            and (fault := _fault(self._claim, b, merges.get(b.run_id), metadata))
        }
        manifests = self._manifests(good)
        lacking = [key for key, each in manifests.items() if each.run_id in faults]
        done = {key: each for key, each in manifests.items() if each.run_id not in faults}
        self._finish(claimed, done, recovered=bool(done) or not lacking)
        if merges:
            self._found.loaded.append(_summary(self._run, plan, result, metadata))
            self._found.results[plan.table] = result
        self._found.maintain |= result.maintain
        if lacking:
            first = lacking[0]
            self._refuse(claimed, first, faults[manifests[first].run_id])

    def _merged_by_job(self, plan: TablePlan, shown: Mapping[str, Metadata]) -> MergeScd2Result:
        """Return what was done to a table; `shown` are the snapshots of the runs on main.

        A job that died after a commit could not say so. Its snapshot does, until it expires: for a
        rebuild it is kept as a result.
        """
        result = _result_of(self._store, self._run, plan)
        merges = {each.run_id: each for each in result.merges}
        died = [b.run_id for b in plan.batches if b.run_id in shown and b.run_id not in merges]
        if died:
            merges |= {run_id: self._merge_of(plan, run_id, shown[run_id]) for run_id in died}
            done = tuple(merges[b.run_id] for b in plan.batches if b.run_id in merges)
            result = result.model_copy(update={"merges": done})
            key = layout.result_key(self._run.run_id, "merge_scd2", plan.table)
            self._store.put(key, result.to_json())
        return result

    def _merge_of(self, plan: TablePlan, run_id: str, snapshot: Metadata) -> MergeResult:
        # What is older was committed by a run before this one.
        own = snapshot["timestamp-ms"] >= self._claim.leased_at.timestamp() * 1000
        return MergeResult(
            table=plan.table,
            run_id=run_id,
            snapshot_id=snapshot["snapshot-id"],
            committed=own,
            pass_id=pass_in(snapshot["summary"]),
        )

    def _refuse(self, claimed: ClaimedTable, manifest: str, fault: str) -> None:
        """Block the first landing that is not merged if its error says so, else back off."""
        failure = self._job_failure(claimed.table)
        if failure and failure.error in BLOCKING:
            self._block(manifest, failure.error, failure.cause)
        elif failure:
            self._fail(claimed, failure.error, failure.cause)
        elif self._failure:
            self._fail(claimed, self._failure.error, self._failure.message)
        else:
            self._fail(claimed, "MissingEvidenceError", fault)

    def _job_failure(self, table: str) -> FailureRecord | None:
        for step in ("create_tables", "merge_scd2"):
            key = layout.job_failure_key(self._run.run_id, step, table)
            if found := read_optional(self._store, key, FailureRecord):
                return found
        return None

    def _finish(
        self, claimed: ClaimedTable, manifests: Mapping[str, Manifest], *, recovered: bool = True
    ) -> None:
        contract = self._run.contract(claimed.table)
        record_newest(self._store, contract, manifests.values())
        for key in manifests:
            marker = layout.complete_key(layout.prefix_of(key))
            put_once(self._store, marker, self._run.run_id.encode())
            remove_entry(self._store, key)
        advance(self._store, contract, manifests.values(), self._clock())
        if manifests:
            loaded = layout.loaded_key(self._run.source.source, claimed.table)
            self._store.put(loaded, self._run.run_id.encode())
        if recovered:
            recover(self._store, self._run.source.source, claimed.table)

    def _block(self, manifest: str, error: str, cause: str) -> None:
        run_id = self._run.run_id
        why = Blocked(run_id=run_id, error=error, cause=cause, blocked_at=self._clock())
        block(self._store, manifest, why)
        text = f"{error}: {cause} ({manifest} waits for a person)"
        self._found.failures.append(_Failure(error, text))

    def _fail(self, claimed: ClaimedTable, error: str, cause: str) -> None:
        source = self._run.source.source
        back_off(self._store, source, claimed.table, self._run.run_id, self._clock())
        self._found.failures.append(_Failure(error, f"{claimed.table}: {error}: {cause}"))

    def _manifests(self, keys: list[str]) -> dict[str, Manifest]:
        return {key: load_manifest(self._store, key) for key in keys}


def _endpoint_failures(store: ObjectStore, run: Run) -> Iterator[_Failure]:
    """Yield the errors of the endpoints that could not be extracted."""
    for info in store.list(layout.failures_prefix(run.run_id)):
        record = read_document(store, info.key, FailureRecord)
        yield _Failure(record.error, f"{record.endpoint}: {record.error}: {record.cause}")


def _result(claim: Claim | None, found: _Outcome) -> CompleteRunResult:
    if found.failures:
        text = "; ".join(each.text for each in found.failures)
        more = f" … ({len(found.failures)} errors)" if len(text) > _MOST_SHOWN else ""
        return CompleteRunResult(
            outcome="failed",
            maintain=found.maintain,
            error=found.failures[0].error,
            cause=text[:_MOST_SHOWN] + more,
        )
    deferred = claim is not None and not claim.tables and bool(claim.deferred)
    return CompleteRunResult(outcome="deferred" if deferred else "done", maintain=found.maintain)


def _result_of(store: ObjectStore, run: Run, plan: TablePlan) -> MergeScd2Result:
    """Return what the job says it did to a table: nothing if it wrote no result."""
    key = layout.result_key(run.run_id, "merge_scd2", plan.table)
    found = read_optional(store, key, MergeScd2Result)
    return found or MergeScd2Result(table=plan.table, merges=())


def _snapshots(metadata: Metadata) -> dict[str, Metadata]:
    """Return the runs that main shows, each with the snapshot that has it."""
    return {
        run_id: each
        for each in main_ancestry(metadata)
        for run_id in runs_in(each.get("summary", {}))
    }


def _fault(claim: Claim, batch: Batch, merge: MergeResult | None, metadata: Metadata) -> str | None:
    """Return why a batch that main does not show has no evidence, or None if it has.

    Evidence is a snapshot in main's ancestry that carries the batch's id. Without one it is

    - a result that says there was nothing to commit, or
    - a result with a snapshot that may have expired since: no snapshot of the table has its id, and
      main's ancestry is cut. What this run committed itself can have expired only if the oldest
      ancestor that is left is younger than the claim, because expiry takes the oldest first.
    """
    if merge is None:
        return f"no snapshot and no result of batch {batch.run_id}"
    if merge.snapshot_id is None:
        moved = merge.committed or merge.opened or merge.closed
        return f"batch {batch.run_id} moved versions, but names no snapshot" if moved else None
    if merge.snapshot_id in {each["snapshot-id"] for each in metadata.get("snapshots", [])}:
        return f"snapshot {merge.snapshot_id} of batch {batch.run_id} is not on main"
    chain = main_ancestry(metadata)
    cut = bool(chain) and chain[-1].get("parent-snapshot-id") is not None
    younger = bool(chain) and chain[-1]["timestamp-ms"] > claim.leased_at.timestamp() * 1000
    if cut and (younger or not merge.committed):
        return None
    return f"snapshot {merge.snapshot_id} of batch {batch.run_id} does not exist any more"


def _summary(run: Run, plan: TablePlan, result: MergeScd2Result, metadata: Metadata) -> TableLoaded:
    merges = {each.run_id: each for each in result.merges}
    done = [merges[batch.run_id] for batch in plan.batches if batch.run_id in merges]
    head = next(iter(main_ancestry(metadata)), {})
    own = [each.snapshot_id for each in done if each.snapshot_id is not None]
    totals = head.get("summary", {})
    return TableLoaded(
        table=plan.table,
        run_id=run.run_id,
        source=run.source.source,
        snapshot_id=own[-1] if own else head.get("snapshot-id"),
        opened=sum(each.opened for each in done),
        closed=sum(each.closed for each in done),
        unchanged=sum(each.unchanged for each in done),
        quarantined=sum(each.quarantined for each in done),
        rows=sum(each.records for each in done),
        bytes=sum(each.bytes or 0 for each in plan.batches if each.run_id in merges),
        seconds=result.seconds,
        data_files=int(totals.get("total-data-files", 0)),
        delete_files=int(totals.get("total-delete-files", 0)),
        snapshots=len(metadata.get("snapshots", [])),
    )


def with_use(loaded: list[TableLoaded], use_of: Callable[[str], JobUse]) -> Iterator[TableLoaded]:
    """Yield the tables of a run with what they have used of its jobs, by their shares."""
    use = use_of(loaded[0].run_id)
    for each in loaded:
        own = {
            "dpu_seconds": round(use.dpu_seconds * each.share, 1),
            "cost_usd": round(use.cost_usd * each.share, 6),
        }
        yield each.model_copy(update=own)


def _keep_use(store: ObjectStore, loaded: TableLoaded, result: MergeScd2Result) -> None:
    """Write what a table has used into the result of its merge."""
    own = {"dpu_seconds": loaded.dpu_seconds, "cost_usd": loaded.cost_usd}
    key = layout.result_key(loaded.run_id, "merge_scd2", loaded.table)
    store.put(key, result.model_copy(update=own).to_json())


def with_shares(loaded: list[TableLoaded]) -> list[TableLoaded]:
    """Return tables with their share of all; equal ones where no merge has said its seconds."""
    total = sum(each.seconds for each in loaded)
    shares = [each.seconds / total if total else 1 / len(loaded) for each in loaded]
    return [
        each.model_copy(update={"share": share}) for each, share in zip(loaded, shares, strict=True)
    ]
