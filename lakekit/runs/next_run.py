"""What a run leaves to the next one: its tables, and the landings that are still pending."""

import hashlib
from collections.abc import Iterable
from datetime import datetime, timedelta

from pydantic import AwareDatetime

from lakekit import layout
from lakekit.documents import Document
from lakekit.errors import LandingCorruptError
from lakekit.landing.index import PENDING, tables_with
from lakekit.ports import Flow, ObjectStore
from lakekit.runs.documents import read_optional
from lakekit.steps.events import Origin

# Those who wait for a run now. The others come again, and leave a table alone that keeps failing.
PATIENT = ("file", "next", "sweep")
# The first failure may have been the infrastructure's: it is tried again at once.
FIRST_PAUSE, LONGEST_PAUSE = timedelta(minutes=15), timedelta(hours=24)


class Backoff(Document):
    """How often the merges of a table have failed one after the other, and when to try again."""

    failures: int
    until: AwareDatetime
    run_id: str


def hand_over(flow: Flow, run_id: str, source: str, tables: Iterable[str]) -> bool:
    """Give the tables of a run back, then start the next run if there is something to do.

    In this order: whoever finds a table held leaves its landings to the holder. A run that held
    none starts none: nobody has left it anything, and such runs could follow each other for ever.

    Returns:
        Whether a run was started.
    """
    held = [*tables]
    give_back(flow, run_id, held)
    return bool(held) and start_if_pending(flow, source, next_name(run_id), "next")


def after_maintenance(flow: Flow, run_id: str, source: str) -> bool:
    """Start a run for what waited while a source's tables were maintained.

    Returns:
        Whether a run was started.
    """
    # A job that was killed could not give its table back.
    for table in tables_with(flow.store, PENDING, source):
        flow.leases.release(table, layout.maintenance_owner(run_id))
    return start_if_pending(flow, source, next_name(run_id), "next")


def give_back(flow: Flow, run_id: str, tables: Iterable[str]) -> None:
    """Give the tables of a run back."""
    for table in tables:
        flow.leases.release(table, run_id)


def close_run(store: ObjectStore, run_id: str, source: str) -> None:
    """Note that a run has left nothing behind: all that it landed is in the index."""
    store.delete(layout.open_run_key(source, run_id))


def next_name(run_id: str) -> str:
    """Return the name of the run that follows another: again, it starts none."""
    return f"next-{hashlib.sha256(run_id.encode()).hexdigest()[:32]}"


def start_if_pending(flow: Flow, source: str, name: str, origin: Origin) -> bool:
    """Start a run if landings are pending that nobody holds; return whether it was started."""
    now = flow.clock()
    for table in tables_with(flow.store, PENDING, source):
        if not backs_off(flow.store, source, table, now) and flow.leases.holder(table) is None:
            request = {"source": source, "extract": False, "origin": origin}
            return flow.executions.start(name, request)
    return False


def backs_off(store: ObjectStore, source: str, table: str, now: datetime) -> bool:
    """Say whether a table is left alone because its merges fail."""
    found = _pause(store, source, table)
    return found is not None and found.until > now


def back_off(store: ObjectStore, source: str, table: str, run_id: str, now: datetime) -> None:
    """Leave a table alone for twice as long as after the failure before; once per run."""
    found = _pause(store, source, table)
    if found and found.run_id == run_id:
        return
    before = found.failures if found else 0
    pause = min(FIRST_PAUSE * 2 ** min(before - 1, 10), LONGEST_PAUSE) if before else timedelta(0)
    found = Backoff(failures=before + 1, until=now + pause, run_id=run_id)
    store.put(layout.backoff_key(source, table), found.to_json())


def _pause(store: ObjectStore, source: str, table: str) -> Backoff | None:
    """Return how long a table is left alone; a pause that cannot be read is none."""
    try:
        return read_optional(store, layout.backoff_key(source, table), Backoff)
    except LandingCorruptError:
        return None


def recover(store: ObjectStore, source: str, table: str) -> None:
    """Drop the failures of a table."""
    store.delete(layout.backoff_key(source, table))
