"""Where each table is: what waits, who holds it, when it is tried again, what it has."""

from datetime import datetime

from pydantic import AwareDatetime

from lakekit import layout
from lakekit.errors import UnknownSourceError
from lakekit.landing.index import BLOCKED, PENDING, oldest
from lakekit.models import Model
from lakekit.ports import Flow, ObjectStore
from lakekit.runs.documents import Newest, read_optional
from lakekit.runs.next_run import Backoff
from lakekit.runs.superseded import extraction_time_of
from lakekit.side_by_side import side_by_side


class TableStatus(Model):
    """One table.

    pending, blocked: landings that wait for a run, for a person. oldest_pending: the extraction
    time of the first. held_by: who works on it: a run, maintenance (`maintain-` and its execution),
    or a rebuild. failures: merges that failed one after the other. next_try: until then no run but
    one that a person or a schedule starts takes it. newest_complete: the extraction time of the
    newest landing with records that is merged.
    """

    source: str
    table: str
    pending: int
    oldest_pending: AwareDatetime | None
    blocked: int
    held_by: str | None
    failures: int
    next_try: AwareDatetime | None
    newest_complete: AwareDatetime | None


def table_status(flow: Flow, source: str | None = None) -> list[TableStatus]:
    """Return the tables that something has landed for, by source and name.

    Raises:
        UnknownSourceError: Nothing of the source has landed.
    """
    store = flow.store
    sources = [source] if source else [*store.folders(layout.RAW)]
    tables = [
        (each, table) for each in sources for table in store.folders(layout.source_prefix(each))
    ]
    if source and not tables:
        raise UnknownSourceError(f"{source}: nothing of such a source has landed")
    return side_by_side(lambda each: _status(flow, *each), tables)


def _status(flow: Flow, source: str, table: str) -> TableStatus:
    store = flow.store
    pending = [*oldest(store, PENDING, source, table)]
    backoff = read_optional(store, layout.backoff_key(source, table), Backoff)
    return TableStatus(
        source=source,
        table=table,
        pending=len(pending),
        oldest_pending=extraction_time_of(pending[0]) if pending else None,
        blocked=sum(1 for _ in oldest(store, BLOCKED, source, table)),
        held_by=flow.leases.holder(table),
        failures=backoff.failures if backoff else 0,
        next_try=backoff.until if backoff and backoff.until > flow.clock() else None,
        newest_complete=_newest(store, source, table),
    )


def _newest(store: ObjectStore, source: str, table: str) -> datetime | None:
    found = read_optional(store, layout.newest_key(source, table), Newest) or Newest()
    manifests = [each for each in (found.full, found.moving) if each]
    return max(map(extraction_time_of, manifests), default=None)
