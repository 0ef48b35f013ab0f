"""PauseSchedules: an environment that is not production rests at night. Runs at work go on.

Which schedules it has switched off is kept in the landing bucket: one that a person has switched
off stays so when the others go on.
"""

from lakekit import layout
from lakekit.ports import ObjectNotFoundError, ObjectStore, Schedules
from lakekit.steps.functions import PauseSchedules, PauseSchedulesResult


def pause_schedules(
    step: PauseSchedules, store: ObjectStore, schedules: Schedules
) -> PauseSchedulesResult:
    """Switch schedules off or on; again changes nothing."""
    if step.action == "pause":
        return _pause(store, schedules)
    return _resume(store, schedules)


def _pause(store: ObjectStore, schedules: Schedules) -> PauseSchedulesResult:
    running = [name for name, enabled in schedules.states().items() if enabled]
    # First, so that none is switched off that the next resumption does not know of.
    paused = sorted({*_paused(store), *running})
    store.put(layout.PAUSED, "\n".join(paused).encode())
    for name in running:
        schedules.switch(name, on=False)
    return PauseSchedulesResult(switched=len(running))


def _resume(store: ObjectStore, schedules: Schedules) -> PauseSchedulesResult:
    states = schedules.states()
    # A deployment may have taken a schedule away, or switched it on.
    resting = [name for name in _paused(store) if states.get(name) is False]
    for name in resting:
        schedules.switch(name, on=True)
    store.put(layout.PAUSED, b"")
    return PauseSchedulesResult(switched=len(resting))


def _paused(store: ObjectStore) -> list[str]:
    try:
        return store.get(layout.PAUSED).decode().split()
    except ObjectNotFoundError:
        return []
