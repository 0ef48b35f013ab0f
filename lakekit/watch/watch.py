"""What does not come by itself: starts that did not happen, tables that grow old, what waits.

Everything is read by listing. When an entry was written last, that is what it says.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta

from lakekit import layout
from lakekit.config.firings import is_paused, previous_firing
from lakekit.config.money import Pause
from lakekit.config.schedule import Schedule
from lakekit.landing.index import BLOCKED, PENDING
from lakekit.models import Model
from lakekit.ports import ObjectStore

# After a firing, for the start to happen; and for what fired right after a pause: it may be late.
GRACE = timedelta(minutes=30)
AFTER_PAUSE = timedelta(minutes=5)


class Watched(Model):
    """What an environment looks like at one time.

    overdue: sources whose schedule was to fire and did not. stale: tables of scheduled sources for
    which nothing was loaded since the firing before the last. pending, blocked: landings that wait
    for a run, for a person. oldest_pending_seconds: for how long one has waited, at most.
    """

    overdue: tuple[str, ...] = ()
    stale: tuple[str, ...] = ()
    pending: int = 0
    oldest_pending_seconds: float = 0
    blocked: int = 0


def watch(
    now: datetime,
    store: ObjectStore,
    schedules: Mapping[str, Schedule],
    tables: Mapping[str, Iterable[str]],
    pause: Pause | None = None,
) -> Watched:
    """Look at an environment.

    Args:
        now: The time.
        store: The landing bucket.
        schedules: Those that are switched on, by source.
        tables: The tables of each of these sources.
        pause: When they are switched off for some time.
    """
    ages = [now - modified for modified in _ages(store, layout.index_prefix(PENDING)).values()]
    started, loaded = _ages(store, layout.STARTED), _ages(store, layout.LOADED)
    found = Watched(
        pending=len(ages),
        oldest_pending_seconds=max((age.total_seconds() for age in ages), default=0),
        blocked=sum(1 for _ in store.list(layout.index_prefix(BLOCKED))),
    )
    expected = {name: _expected(each, now, pause) for name, each in schedules.items()}
    overdue = [
        source
        for source, (last, _) in expected.items()
        if last and _entry(store, started, layout.started_key(source), now) < last
    ]
    stale = [
        f"{source}.{table}"
        for source, (_, before) in expected.items()
        for table in tables.get(source, ())
        if before and _entry(store, loaded, layout.loaded_key(source, table), now) < before
    ]
    return found.model_copy(update={"overdue": tuple(overdue), "stale": tuple(stale)})


def _ages(store: ObjectStore, prefix: str) -> dict[str, datetime]:
    return {info.key: info.modified for info in store.list(prefix) if info.modified}


def _entry(store: ObjectStore, ages: Mapping[str, datetime], key: str, now: datetime) -> datetime:
    """Return when an entry was written; one that is absent is new, and is written now."""
    if key not in ages:
        store.put(key, b"")
    return ages.get(key, now)


def _expected(
    schedule: Schedule, now: datetime, pause: Pause | None
) -> tuple[datetime | None, datetime | None]:
    """Return the last two firings that must have had their effect; None for what is not sure."""
    late = now - GRACE - timedelta(minutes=schedule.flexible_minutes)
    last = previous_firing(schedule, late)
    before = previous_firing(schedule, last - timedelta(seconds=1)) if last else None
    if pause and is_paused(pause, now):
        return None, None
    return _if_sure(last, pause), _if_sure(before, pause)


def _if_sure(firing: datetime | None, pause: Pause | None) -> datetime | None:
    paused = firing and pause and is_paused(pause, firing - AFTER_PAUSE)
    return None if paused else firing
