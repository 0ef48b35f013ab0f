"""What a deployment says of itself: its runs, what waits in it, where its tables come from."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from lakekit import layout
from lakekit.contract.contract import Contract
from lakekit.errors import LandingCorruptError, NewerDocumentError
from lakekit.operate.landings import Waiting, waiting_landings
from lakekit.operate.runs import recent_runs
from lakekit.operate.status import TableStatus, table_status
from lakekit.page.model import Lineage, Load, PageRun
from lakekit.page.published import load_of, page_runs, read_published
from lakekit.ports import ExecutionLog, Flow, ObjectStore
from lakekit.runs.documents import Run, read_run
from lakekit.side_by_side import side_by_side
from lakekit.watch.watch import Watched

MOST_RUNS = 50


@dataclass(frozen=True)
class Around:
    """What the bucket of a deployment does not say.

    watch: returns what does not come by itself, where schedules are known. dead: messages in each
    queue of dead letters. views: the views that read each table.
    """

    watch: Callable[[ObjectStore], Watched] | None = None
    dead: Mapping[str, int] = field(default_factory=dict)
    views: Mapping[str, Sequence[str]] = field(default_factory=dict)


@dataclass(frozen=True)
class Operated:
    """What a deployment says of itself; loads and the times of the last loads by table."""

    runs: tuple[PageRun, ...]
    loads: Mapping[str, tuple[Load, ...]]
    loaded_at: Mapping[str, datetime]
    lineage: Mapping[str, Lineage]
    waiting: tuple[Waiting, ...]
    status: tuple[TableStatus, ...]
    watched: Watched | None
    dead: Mapping[str, int]


def ask_operated(
    flow: Flow,
    log: ExecutionLog,
    results: ObjectStore,
    now: datetime,
    around: Around,
) -> Operated:
    """Ask a deployment; nothing is written.

    Args:
        flow: What the steps have at hand.
        log: The runs of the last weeks, those that failed among them.
        results: Where CompleteRun has published its runs.
        now: The time.
        around: What its bucket does not say.
    """
    published = read_published(results)
    loads: dict[str, list[Load]] = {}
    for run in reversed(published.runs):
        for each in run.loads:
            loads.setdefault(each.table, []).append(load_of(run, each))
    known = {run.run_id: run for run in page_runs(published)}
    found = recent_runs(flow.store, log, now, limit=MOST_RUNS)
    runs = tuple(_with_costs(PageRun(**_shown(each)), known) for each in found)
    loaded = _loaded(flow.store)
    return Operated(
        runs=runs,
        loads={table: tuple(each) for table, each in loads.items()},
        loaded_at={table: at for table, (at, _) in loaded.items()},
        lineage=_lineage(flow.store, loaded, around.views),
        waiting=tuple(waiting_landings(flow.store, ("blocked",))),
        status=tuple(table_status(flow)),
        watched=around.watch(_Unwritten(flow.store)) if around.watch else None,
        dead=around.dead,
    )


def lineage_of(contract: Contract, base_url: str = "") -> Lineage:
    """Return where a contract's table comes from."""
    endpoint = contract.endpoint
    address = f"{endpoint.sends} {base_url.rstrip('/')}{endpoint.path}"
    return Lineage(source=contract.source, address=address)


def lineage_of_loads(store: ObjectStore) -> dict[str, Lineage]:
    """Return where the tables come from that the runs of a bucket have loaded."""
    return _lineage(store, _loaded(store), {})


def _shown(run: Any) -> dict[str, Any]:
    fields: dict[str, Any] = run.model_dump(exclude={"ended_at"})
    return fields | {"tables": dict.fromkeys(run.tables)}


def _with_costs(run: PageRun, known: Mapping[str, PageRun]) -> PageRun:
    """Add what a run has published of itself."""
    if run.run_id not in known:
        return run
    published = known[run.run_id]
    tables = {**run.tables, **published.tables}
    return run.model_copy(update={"cost_usd": published.cost_usd, "tables": tables})


def _loaded(store: ObjectStore) -> dict[str, tuple[datetime, str]]:
    """Return when each table was last loaded, and the key of which run did it."""
    return {
        info.key.rpartition("/")[2]: (info.modified, info.key)
        for info in store.list(layout.LOADED)
        if info.modified
    }


def _lineage(
    store: ObjectStore,
    loaded: Mapping[str, tuple[datetime, str]],
    views: Mapping[str, Sequence[str]],
) -> dict[str, Lineage]:
    """Return where tables come from, by the documents of the runs that last loaded them."""
    # The sweeper writes an empty one for a table that was never loaded.
    run_ids = side_by_side(lambda each: store.get(each[1]).decode(), loaded.values())
    by_table = dict(zip(loaded, run_ids, strict=True))
    runs = _runs(store, set(run_ids) - {""})
    found = {table: Lineage(views=tuple(each)) for table, each in views.items()}
    for table, run_id in by_table.items():
        if (run := runs.get(run_id)) and (contract := _contract(run, table)):
            origin = lineage_of(contract, run.source.address)
            found[table] = origin.model_copy(update={"views": tuple(views.get(table, ()))})
    return found


def _runs(store: ObjectStore, run_ids: Iterable[str]) -> dict[str, Run]:
    def read(run_id: str) -> Run | None:
        with suppress(LandingCorruptError, NewerDocumentError, ValueError):
            return read_run(store, run_id)
        return None

    return {each.run_id: each for each in side_by_side(read, sorted(run_ids)) if each}


def _contract(run: Run, table: str) -> Contract | None:
    return next((each for each in run.contracts if each.contract == table), None)


class _Unwritten:
    """A store whose reader writes nothing: a page must not change what it shows."""

    def __init__(self, store: ObjectStore) -> None:
        self._store = store

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def put(self, key: str, body: bytes, **_: Any) -> str:
        """Leave it out."""
        return ""
