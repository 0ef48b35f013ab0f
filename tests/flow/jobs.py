"""Stand-ins of the Glue jobs: they read the plan and commit landings in its order, as those do."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from lakekit import layout
from lakekit.batch import Batch, MergeResult
from lakekit.documents import Document
from lakekit.errors import (
    CommitConflictError,
    LakekitError,
    LateExtractError,
    TableBusyError,
    TerminalError,
    TooManyDeletedError,
)
from lakekit.passes import as_pass, passes
from lakekit.runs.documents import FailureRecord, TablePlan, read_optional, read_plan
from lakekit.steps.jobs import CreateTablesResult, MergeScd2Result
from tests.flow.catalog import Commit, ConflictError, Table
from tests.flow.lake import BROKEN_TABLES, CONTRACTS, DELETING, REPEATED, kind_of

if TYPE_CHECKING:
    from tests.flow.world import World

ATTEMPTS = 5


def create_tables(world: "World", run_id: str, source: str) -> None:
    """Create or evolve what the plan says."""
    for plan in read_plan(world.store, run_id).tables:
        if plan.create:
            world.kernel.sleep(5)
            with world.request(f"CREATE {plan.table}"):
                world.tables.setdefault(plan.table, Table(plan.contract)).contract = plan.contract
            _keep(world, run_id, "create_tables", plan.table, CreateTablesResult(table=plan.table))


def merge_scd2(world: "World", run_id: str, source: str) -> None:
    """Merge table after table, side by side; fail if one of them did."""
    plans = [plan for plan in read_plan(world.store, run_id).tables if plan.batches]
    _each(world, run_id, "merge_scd2", plans, lambda plan: _Merge(world, run_id, plan).run())


def maintain_tables(world: "World", run_id: str, source: str) -> None:
    """Compact and expire the tables that nobody holds."""
    owner = layout.maintenance_owner(run_id)
    for contract in CONTRACTS[source]:
        if contract.contract not in world.tables:
            continue
        try:
            world.flow.leases.acquire(contract.contract, owner)
        except TableBusyError:
            continue
        try:
            world.kernel.sleep(world.random.uniform(10, 600))
            with world.request(f"COMPACT {contract.contract}"):
                table = world.tables[contract.contract]
                table.compact(
                    world.clock(), world.random.choice((1, 5)), partial(_done, world, table)
                )
        finally:
            world.flow.leases.release(contract.contract, owner)


def _done(world: "World", table: Table, batch: str) -> bool:
    commit = next(each for each in table.commits if each.batch == batch)
    name, source = table.contract.contract, table.contract.source
    folder = layout.raw_prefix(source, name, commit.extraction_time)
    return world.plain.head(layout.complete_key(folder)) is not None


JOBS: dict[str, Callable[["World", str, str], None]] = {
    "create_tables": create_tables,
    "merge_scd2": merge_scd2,
    "maintain_tables": maintain_tables,
}


class NoPassError(Exception):
    """The landings of a run must be merged one after the other."""


class _Merge:
    """The batches of one table, one after the other."""

    def __init__(self, world: "World", run_id: str, plan: TablePlan) -> None:
        self._world, self._run_id, self._plan = world, run_id, plan
        self._table = world.tables[plan.table]

    def run(self) -> None:
        key = layout.result_key(self._run_id, "merge_scd2", self._plan.table)
        done = read_optional(self._world.store, key, MergeScd2Result) or MergeScd2Result(
            table=self._plan.table, merges=()
        )
        before = {each.run_id for each in done.merges}
        left = [each for each in self._plan.batches if each.run_id not in before]
        for landings in passes(self._plan.contract, left):
            for merged in self._merge_landings(landings):
                done = done.model_copy(update={"merges": (*done.merges, *merged)})
                self._keep(done)
        self._keep(done)

    def _merge_landings(self, landings: tuple[Batch, ...]) -> Iterator[list[MergeResult]]:
        """Merge landings in one pass, or one after the other where one must be judged alone."""
        if len(landings) > 1:
            try:
                done = self._merge(as_pass(landings), landings)
            except NoPassError:
                pass
            else:
                own = {"pass_id": done.run_id}
                yield [done.model_copy(update={"run_id": each.run_id, **own}) for each in landings]
                return
        for landing in landings:
            yield [self._merge(landing, [landing])]

    def _keep(self, done: MergeScd2Result) -> None:
        _keep(self._world, self._run_id, "merge_scd2", self._plan.table, done)

    def _merge(self, batch: Batch, landings: Sequence[Batch]) -> MergeResult:
        for _ in range(ATTEMPTS):
            try:
                return self._attempt(batch, landings)
            except ConflictError:
                self._world.inject(self._run_id, "CommitConflictError")
                self._world.kernel.sleep(self._world.random.uniform(0, 5))
        raise CommitConflictError(f"{self._plan.table}: others wrote")

    def _attempt(self, batch: Batch, landings: Sequence[Batch]) -> MergeResult:
        """Plan on one snapshot; publish only if main still points at it."""
        world, table, own = self._world, self._table, {"table": self._plan.table}
        with world.request(f"READ {self._plan.table}"):
            base, published, newest = table.head, table.published(), table.newest()
        several = len(landings) > 1
        if several and any(each.run_id in published for each in landings):
            raise NoPassError
        if batch.run_id in published:
            return MergeResult(**own, run_id=batch.run_id, snapshot_id=published[batch.run_id])
        if world.weather.broken == "merge" and self._plan.table in BROKEN_TABLES:
            world.inject(self._run_id, "CommitConflictError")
            raise CommitConflictError(f"{self._plan.table}: others write all the time")
        kind = kind_of(self._lines(batch))
        if several and kind == DELETING:
            raise NoPassError
        self._refuse(batch, kind, newest)
        world.kernel.sleep(world.random.uniform(*world.weather.merge_seconds))
        with world.request(f"COMMIT {batch.run_id} to {self._plan.table}"):
            if kind == REPEATED:
                at = world.clock()
                table.repeated += [
                    Commit(each.run_id, self._run_id, each.extraction_time, at) for each in landings
                ]
                return MergeResult(**own, run_id=batch.run_id)
            snapshot = table.commit(batch, landings, self._run_id, base, world.clock())
        return MergeResult(
            **own, run_id=batch.run_id, snapshot_id=snapshot, committed=True, opened=1
        )

    def _lines(self, batch: Batch) -> list[bytes]:
        return [line for file in batch.files for line in self._world.lines(file)]

    def _refuse(self, batch: Batch, kind: str, newest: str) -> None:
        if self._plan.contract.history.sequence_by is None:
            extracted = batch.extraction_time.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
            until = batch.merged_until
            newest = max(newest, until.strftime("%Y-%m-%dT%H:%M:%S.%fZ") if until else "")
            if extracted < newest:
                raise LateExtractError(f"run {batch.run_id}: {extracted} is before {newest}")
        if kind == DELETING and not batch.approved:
            raise TooManyDeletedError(f"run {batch.run_id}: too many")


def _each(
    world: "World",
    run_id: str,
    step: str,
    plans: Iterable[TablePlan],
    work: Callable[[TablePlan], None],
) -> None:
    """Work on each table in a task of its own; raise the worst failure after the last."""

    def one(plan: TablePlan) -> Exception | None:
        try:
            work(plan)
        except Exception as error:
            failed = FailureRecord(
                run_id=run_id, source=plan.contract.source, table=plan.table,
                error=type(error).__name__, cause=str(error), recorded_at=world.clock(),
            )  # fmt: skip
            key = layout.job_failure_key(run_id, step, plan.table)
            world.store.put(key, failed.to_json())
            return error
        return None

    tasks = [
        world.work(f"{run_id} {step} {plan.table}", run_id, lambda plan=plan: one(plan))
        for plan in plans
    ]
    try:
        for task in tasks:
            world.kernel.join(task)
            if task.error:
                raise task.error
    finally:
        for task in tasks:
            world.kernel.kill(task)
    failed = [task.result for task in tasks if task.result]
    if failed:
        worst = max(failed, key=lambda error: isinstance(error, TerminalError))
        kind = type(worst) if isinstance(worst, LakekitError) else RuntimeError
        raise kind(f"{len(failed)} of {len(tasks)} tables failed") from worst


def _keep(world: "World", run_id: str, step: str, table: str, result: Document) -> None:
    world.store.put(layout.result_key(run_id, step, table), result.to_json())
