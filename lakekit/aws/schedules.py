"""The schedules of sources, in a group of EventBridge Scheduler."""

from typing import Any

from lakekit.aws.errors import translated

# What GetSchedule returns and UpdateSchedule does not take.
_READ_ONLY = ("Arn", "CreationDate", "LastModificationDate", "ResponseMetadata")


class ScheduleGroup:
    """One group; see `lakekit.ports.Schedules`."""

    def __init__(self, group: str, client: Any) -> None:
        self._group = group
        self._client = client

    def states(self) -> dict[str, bool]:
        """Return whether each schedule is switched on, by name."""
        pages = self._client.get_paginator("list_schedules")
        with translated(f"schedules of {self._group}"):
            return {
                each["Name"]: each["State"] == "ENABLED"
                for page in pages.paginate(GroupName=self._group)
                for each in page["Schedules"]
            }

    def switch(self, name: str, *, on: bool) -> None:
        """Switch a schedule on or off; all else of it stays as it is."""
        with translated(f"schedule {name}"):
            found = self._client.get_schedule(GroupName=self._group, Name=name)
            kept = {key: value for key, value in found.items() if key not in _READ_ONLY}
            self._client.update_schedule(**{**kept, "State": "ENABLED" if on else "DISABLED"})
