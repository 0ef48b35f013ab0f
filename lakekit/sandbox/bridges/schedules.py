"""EventBridge Scheduler: schedules start what they name, by this machine's clock.

Moto 5.2.5 keeps schedules and starts nothing.
"""

import logging
import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from lakekit.config.firings import previous_firing
from lakekit.config.schedule import Schedule
from lakekit.sandbox.bridges.event_targets import deliver

logger = logging.getLogger(__name__)
LOOK_SECONDS = 1.0
_ONCE = "at("


class SchedulerClock:
    """Looks every second which schedules were to fire since it last looked."""

    def __init__(self, client: Callable[[str], Any]) -> None:
        self._client = client
        self._stopped = threading.Event()
        self._looked = datetime.now(UTC)

    def start(self) -> None:
        """Begin to look."""
        threading.Thread(target=self._run, daemon=True).start()

    def stop(self) -> None:
        self._stopped.set()

    def _run(self) -> None:
        while not self._stopped.wait(LOOK_SECONDS):
            try:
                self._look()
            except Exception:
                if not self._stopped.is_set():
                    logger.exception("looking at the schedules")

    def _look(self) -> None:
        scheduler = self._client("scheduler")
        since, self._looked = self._looked, datetime.now(UTC)
        for page in scheduler.get_paginator("list_schedules").paginate():
            for each in page["Schedules"]:
                if each["State"] == "ENABLED":
                    place = {"Name": each["Name"], "GroupName": each["GroupName"]}
                    self._fire(scheduler.get_schedule(**place), since, self._looked)

    def _fire(self, schedule: dict[str, Any], since: datetime, now: datetime) -> None:
        try:
            if is_due(schedule, since, now):
                deliver(self._client, schedule["Target"], {})
        except Exception:
            logger.exception("schedule %s did not start anything", schedule["Name"])


def is_due(schedule: dict[str, Any], since: datetime, now: datetime) -> bool:
    """Say whether a schedule was to fire after `since`, at `now` or before it.

    A rate counts from when the schedule was made.
    """
    expression = schedule["ScheduleExpression"]
    zone = schedule.get("ScheduleExpressionTimezone") or "UTC"
    if expression.startswith(_ONCE):
        time = datetime.fromisoformat(expression[len(_ONCE) : -1]).replace(tzinfo=ZoneInfo(zone))
        return since < time <= now
    known = Schedule(expression=expression, time_zone=zone)
    if expression.startswith("rate"):
        made = schedule["CreationDate"]
        length = now - (previous_firing(known, now) or now)
        return bool((now - made) // length > max(since - made, timedelta()) // length)
    found = previous_firing(known, now)
    return found is not None and found > since
