"""What a sweep says of the environment: metrics that alarms watch, and names in the log."""

from datetime import datetime

from lakekit.aws.settings import Settings
from lakekit.aws.step import logger_of
from lakekit.aws.telemetry.metrics import WATCH_METRICS, put_metrics
from lakekit.watch.watch import watch

STEP = "sweep"


def report(settings: Settings, now: datetime) -> None:
    """Look at the environment, print metrics, and log what is late by name."""
    schedules = settings.schedules_by_source()
    tables = settings.tables(schedules)
    found = watch(now, settings.store, schedules, tables, settings.pause)
    if found.overdue or found.stale:
        logger_of(STEP).warning("late", overdue=found.overdue, stale=found.stale)
    values = found.model_dump() | {"overdue": len(found.overdue), "stale": len(found.stale)}
    own = {"database": settings.database}
    put_metrics(WATCH_METRICS, values, service=STEP, dimensions=own)
