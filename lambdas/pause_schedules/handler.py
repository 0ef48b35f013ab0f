"""PauseSchedules: switch the schedules of sources off, or those on again that it switched off."""

from typing import Any

from lakekit.aws.schedules import ScheduleGroup
from lakekit.aws.settings import client, read_settings
from lakekit.aws.step import logged_step
from lakekit.steps.functions import PauseSchedules
from lakekit.watch.pause_schedules import pause_schedules


@logged_step
def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    step = PauseSchedules.from_event(event)
    settings = read_settings()
    group = ScheduleGroup(settings.schedule_group, client("scheduler"))
    return pause_schedules(step, settings.store, group).to_event()
