"""Sweep: put right what lost events and ended executions leave behind, every quarter of an hour.

Events are hints. What is pending stands in the index, what was dropped lies in the inbox, and a run
that has begun has an entry until it has ended. All three are bounded: the index by what is pending,
the inbox by its lifecycle rule.
"""

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime, timedelta

from lakekit import layout
from lakekit.errors import LakekitError, LandingCorruptError
from lakekit.landing.index import (
    BLOCKED,
    PENDING,
    is_indexed,
    oldest,
    remove_entry,
    tables_with,
)
from lakekit.landing.writer import load_manifest, publish
from lakekit.ports import Flow, ObjectInfo, ObjectStore, TableCatalog
from lakekit.runs.documents import read_claim, read_run
from lakekit.runs.next_run import close_run, give_back, start_if_pending
from lakekit.runs.validate_landing import is_decided
from lakekit.steps.functions import RouteFile, Sweep, SweepResult

# An event that has not done its work after this time is taken for lost.
PATIENCE = timedelta(minutes=15)
# How many files one sweep routes; the next has the rest.
MAX_FILES = 100
# How many findings a result names; the log has all.
_NAMED = 20

Route = Callable[[RouteFile], object]
TablesOf = Callable[[Collection[str]], Mapping[str, Collection[str]]]


def sweep(
    step: Sweep,
    flow: Flow,
    catalog: TableCatalog,
    route: Route,
    tables_of: TablesOf,
) -> SweepResult:
    """Route lost files, close ended runs, and start what is pending without a run.

    Args:
        step: When the sweep began.
        flow: The landing bucket, and the runs of `load_source`.
        catalog: For the branches that killed merges left.
        route: Lands a file of the inbox, as its event would have.
        tables_of: Returns the tables of each of some sources, of those that there are.
    """
    found: list[str] = []
    routed = _route_lost(step.started_at, flow.store, route, found)
    closed = _close_ended(flow, catalog, found)
    _tidy_blocked(flow.store)
    started = _start_pending(step.started_at, flow, tables_of, found)
    return SweepResult(
        started=started, routed=routed, closed=closed, found=tuple(found[:_NAMED]),
        more=max(0, len(found) - _NAMED),
    )  # fmt: skip


def _route_lost(now: datetime, store: ObjectStore, route: Route, found: list[str]) -> int:
    """Route the files of the inbox that no event has routed."""
    routed = 0
    for info in _unrouted(now, store):
        if routed >= MAX_FILES:
            found.append("more files in the inbox than one sweep routes")
            break
        head = store.head(info.key)
        if head is None or head.modified is None:
            continue
        step = RouteFile(
            key=info.key, etag=head.etag.strip('"'), version=head.version,
            arrived_at=head.modified,
        )  # fmt: skip
        with _reported(info.key, found):
            route(step)
            routed += 1
    return routed


@contextmanager
def _reported(what: str, found: list[str]) -> Iterator[None]:
    """Report an error, so that it keeps nothing else from being put right."""
    try:
        yield
    except LakekitError as error:
        found.append(f"{what}: {type(error).__name__}: {error}")


def _unrouted(now: datetime, store: ObjectStore) -> Iterator[ObjectInfo]:
    done = {info.key for info in store.list(layout.index_prefix("routed"))}
    for info in store.list("inbox/"):
        lost = info.modified is not None and info.modified < now - PATIENCE
        if (
            lost
            and not info.key.endswith("/")
            and layout.routed_key(info.key, info.etag) not in done
        ):
            yield info


def _close_ended(flow: Flow, catalog: TableCatalog, found: list[str]) -> int:
    """Put right what runs have left behind whose executions ended before they were through."""
    closed = 0
    for source in flow.store.folders(layout.index_prefix("open")):
        prefix = layout.index_prefix("open", source)
        for info in [*flow.store.list(prefix)]:
            run_id = info.key.removeprefix(prefix)
            if not flow.executions.is_running(run_id):
                with _reported(run_id, found):
                    _close(flow, catalog, source, run_id, found)
                    closed += 1
    return closed


def _close(flow: Flow, catalog: TableCatalog, source: str, run_id: str, found: list[str]) -> None:
    claim = read_claim(flow.store, run_id)
    tables = [each.table for each in claim.tables] if claim else []
    found.append(f"{run_id}: has ended before it was through")
    found.extend(_left_behind(flow.store, run_id))
    found.extend(
        f"{table}: has branches of merges that did not end: {', '.join(branches)}"
        for table in tables
        if (branches := _branches(catalog, table))
    )
    give_back(flow, run_id, tables)
    close_run(flow.store, run_id, source)


def _left_behind(store: ObjectStore, run_id: str) -> Iterator[str]:
    """Yield the folders of an ended run's extraction that have objects, but no manifest.

    Put landings into the index that it has landed, and could not put there.
    """
    try:
        run = read_run(store, run_id)
    except LandingCorruptError:
        return
    for contract in run.contracts:
        prefix = layout.raw_prefix(contract.source, contract.contract, run.extraction_time)
        keys = {info.key for info in store.list(prefix)}
        manifest = layout.manifest_key(prefix)
        if keys and manifest not in keys:
            yield f"{prefix}: has objects of an extraction that did not end"
        elif keys and not is_indexed(store, manifest) and not is_decided(store, manifest):
            publish(store, load_manifest(store, manifest))


def _branches(catalog: TableCatalog, table: str) -> list[str]:
    metadata = catalog.metadata(table) or {}
    return sorted(name for name in metadata.get("refs", {}) if layout.OWN in name)


def _tidy_blocked(store: ObjectStore) -> None:
    """Take landings from the index for which a person has written a marker by hand."""
    for source in store.folders(layout.index_prefix(BLOCKED)):
        for table in tables_with(store, BLOCKED, source):
            for manifest in [*oldest(store, BLOCKED, source, table)]:
                if is_decided(store, manifest):
                    remove_entry(store, manifest)


def _start_pending(now: datetime, flow: Flow, tables_of: TablesOf, found: list[str]) -> int:
    started = 0
    sources = [*flow.store.folders(layout.index_prefix(PENDING))]
    known = tables_of(sources)
    for source in sources:
        pending = tables_with(flow.store, PENDING, source)
        if strangers := sorted({*pending} - {*known.get(source, ())}):
            found.append(f"{source}: landings wait for tables without a contract: {strangers}")
        if source in known:
            name = f"sweep-{source}-{now:%Y%m%dT%H%M%S}"
            with _reported(source, found):
                started += start_if_pending(flow, source, name, "sweep")
    return started
