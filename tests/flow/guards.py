"""The guards of the flow, each taken out: the simulation must find that it is missing."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest.mock import patch

from pydantic import ValidationError

from lakekit import layout
from lakekit.aws import lease as lease_module
from lakekit.aws.executions import Owners
from lakekit.aws.lease import Lease, Leases
from lakekit.documents import Document
from lakekit.errors import LandingCorruptError
from lakekit.landing import index, writer
from lakekit.ports import Flow, ObjectStore
from lakekit.runs import (
    claim_landings,
    complete_run,
    extract_pages,
    next_run,
    plan_tables,
    record_failure,
    route_file,
    start_pending,
    sweep,
    validate_landing,
)
from lakekit.runs.documents import Newest
from lakekit.runs.next_run import Backoff
from lakekit.steps.functions import RouteFile
from tests.flow import machine
from tests.flow.catalog import Table
from tests.flow.world import World

# What is replaced, its name, and by what.
Patches = Iterable[tuple[Any, str, Any]]
GUARDS: dict[str, Callable[[], Patches]] = {}


def guard(words: str) -> Callable[[Callable[[], Patches]], Callable[[], Patches]]:
    """Register what takes a guard out."""

    def register(patches: Callable[[], Patches]) -> Callable[[], Patches]:
        GUARDS[words] = patches
        return patches

    return register


@contextmanager
def without(words: str) -> Iterator[None]:
    """Take a guard out for a while."""
    with ExitStack() as stack:
        for target, name, replacement in GUARDS[words]():
            stack.enter_context(patch.object(target, name, replacement))
        yield


# Leases.


@guard("a table that is held is busy")
def _() -> Patches:
    def acquire(leases: Leases, table: str, owner: str) -> Lease:
        held, etag = leases._read(table)
        epoch = held.epoch + (held.owner != owner) if held else 1
        lease = leases._new(table, owner, epoch, leases._clock() + leases._lifetime)
        leases._write(lease, etag)
        return lease

    yield Leases, "acquire", acquire


@guard("who loses a lease looks at it again")
def _() -> Patches:
    yield lease_module, "_ATTEMPTS", 1


@guard("an owner that has ended holds nothing")
def _() -> Patches:
    yield Owners, "is_running", lambda owners, owner: True


# Claims.


@guard("landings are listed under the lease")
def _() -> Patches:
    table = claim_landings._Claiming._table

    def list_first(claiming: Any, contract: Any, limit: int) -> Any:
        store, name = claiming._flow.store, contract.contract
        found = tuple(index.oldest(store, index.PENDING, contract.source, name, limit=limit))
        claimed = table(claiming, contract, limit)
        return claimed and claimed.model_copy(update={"manifests": found})

    yield claim_landings._Claiming, "_table", list_first


@guard("a run claims once")
def _() -> Patches:
    def write(store: ObjectStore, key: str, document: Any) -> bool:
        store.put(key, document.to_json())
        return True

    yield claim_landings, "write_once", write


@guard("a table waits for the landing that a person decides about")
def _() -> Patches:
    def must_wait(claiming: Any, contract: Any) -> bool:
        flow, name = claiming._flow, contract.contract
        patient = claiming._run.origin in next_run.PATIENT
        return patient and next_run.backs_off(flow.store, contract.source, name, flow.clock())

    yield claim_landings._Claiming, "_must_wait", must_wait


@guard("what is decided is not merged")
def _() -> Patches:
    yield validate_landing, "is_decided", lambda store, manifest: False


# The end of a run.


@guard("a run looks at the index when it has given its tables back")
def _() -> Patches:
    def hand_over(flow: Flow, run_id: str, source: str, tables: Iterable[str]) -> bool:
        next_run.give_back(flow, run_id, tables)
        return False

    yield complete_run, "hand_over", hand_over
    yield record_failure, "hand_over", hand_over


@guard("it looks after it has given them back, not before")
def _() -> Patches:
    def hand_over(flow: Flow, run_id: str, source: str, tables: Iterable[str]) -> bool:
        held = [*tables]
        pending = [
            table
            for table in index.tables_with(flow.store, index.PENDING, source)
            if flow.leases.holder(table) in (None, run_id)
            and not next_run.backs_off(flow.store, source, table, flow.clock())
        ]
        next_run.give_back(flow, run_id, held)
        name = next_run.next_name(run_id)
        request = {"source": source, "extract": False, "origin": "next"}
        return bool(held and pending) and flow.executions.start(name, request)

    yield complete_run, "hand_over", hand_over


@guard("only a run that held tables starts the next one")
def _() -> Patches:
    def hand_over(flow: Flow, run_id: str, source: str, tables: Iterable[str]) -> bool:
        next_run.give_back(flow, run_id, tables)
        return next_run.start_if_pending(flow, source, next_run.next_name(run_id), "next")

    yield complete_run, "hand_over", hand_over


@guard("maintenance looks at the index too")
def _() -> Patches:
    yield start_pending, "after_maintenance", lambda flow, run_id, source: False


@guard("a dropped file starts a run")
def _() -> Patches:
    yield route_file, "_start", lambda flow, contract, run_id: False


@guard("a table whose merges fail is left alone for a while")
def _() -> Patches:
    yield next_run, "backs_off", lambda store, source, table, now: False
    yield claim_landings, "backs_off", lambda store, source, table, now: False


@guard("a landing is complete only if its table shows it")
def _() -> Patches:
    yield complete_run, "_fault", lambda claim, batch, merge, metadata: None


@guard("a landing is marked before it leaves the index")
def _() -> Patches:
    def put_once(store: ObjectStore, key: str, body: bytes) -> bool:
        index.remove_entry(store, layout.manifest_key(key.removesuffix(".complete")))
        return next_run_put_once(store, key, body)

    next_run_put_once = complete_run.put_once
    yield complete_run, "put_once", put_once


@guard("a landing is never in neither folder of the index")
def _() -> Patches:
    def block(store: ObjectStore, manifest: str, why: index.Blocked) -> None:
        store.delete(layout.index_key(index.PENDING, manifest))
        store.put(layout.index_key(index.BLOCKED, manifest), why.to_json())

    yield complete_run, "block", block


@guard("what main shows of a job that died is kept")
def _() -> Patches:
    def merged(completion: Any, plan: Any, shown: Any) -> Any:
        return complete_run._result_of(completion._store, completion._run, plan)

    yield complete_run._Completion, "_merged_by_job", merged


@guard("the newest landings are kept")
def _() -> Patches:
    yield complete_run, "record_newest", lambda store, contract, manifests: None
    yield plan_tables, "superseded_landings", lambda *args: ()


@guard("a run that failed stays open for the sweeper")
def _() -> Patches:
    hand_over, give_back = complete_run.hand_over, record_failure.give_back

    def hand_over_and_close(flow: Flow, run_id: str, source: str, tables: Iterable[str]) -> bool:
        next_run.close_run(flow.store, run_id, source)
        return hand_over(flow, run_id, source, tables)

    yield complete_run, "hand_over", hand_over_and_close
    yield record_failure, "hand_over", hand_over_and_close
    yield record_failure, "give_back", give_back


# Landings.


@guard("the index names what has a manifest")
def _() -> Patches:
    def publish(store: ObjectStore, manifest: writer.Manifest) -> str:
        index.add_pending(store, layout.manifest_key(manifest.prefix))
        return real(store, manifest)

    real = writer.publish
    yield route_file, "publish", publish
    yield extract_pages, "publish", publish


@guard("a file is routed when its landing is in the index")
def _() -> Patches:
    def land(step: RouteFile, store: ObjectStore, *more: Any) -> Any:
        store.put(layout.routed_key(step.key, step.etag), b"")
        return real(step, store, *more)

    real = route_file._land
    yield route_file, "_land", land


@guard("two runs of one time share a landing")
def _() -> Patches:
    yield extract_pages, "LandingCorruptError", ZeroDivisionError


# The sweeper.


@guard("the sweeper closes runs that have ended")
def _() -> Patches:
    yield sweep, "_close_ended", lambda flow, catalog, found: 0


@guard("the sweeper routes files whose event was lost")
def _() -> Patches:
    yield sweep, "_route_lost", lambda now, store, route, found: 0


@guard("the sweeper starts what is pending")
def _() -> Patches:
    yield sweep, "_start_pending", lambda now, flow, known, found: 0


@guard("the sweeper indexes what an extraction has landed")
def _() -> Patches:
    yield sweep, "is_indexed", lambda store, manifest: True


# Jobs.


@guard("a job that Glue lost is started once more")
def _() -> Patches:
    yield machine, "_like", lambda text, pattern: False


@guard("a job waits for an earlier one of its run")
def _() -> Patches:
    yield World, "wait_for_earlier_runs", lambda world, job, run_id: None


# Tables.


@guard("a merge sees what was merged before")
def _() -> Patches:
    yield Table, "published", lambda table: {}


@guard("a commit fails if another came first")
def _() -> Patches:
    commit = Table.commit
    yield (
        Table,
        "commit",
        lambda table, batch, landings, run_id, base, at: commit(
            table, batch, landings, run_id, table.head, at
        ),
    )


# Releases.


@guard("fields of another release are ignored")
def _() -> Patches:
    def parse(model: type[Document], text: bytes, *, name: str) -> Document:
        try:
            return model.model_validate_json(text)
        except ValidationError:
            raise LandingCorruptError(name) from None

    # The checks read other documents too.
    for model in (Backoff, Newest):
        yield model, "parse", classmethod(parse)
