"""Glue's optimistic lock: an UpdateTable with a stale `VersionId` is refused.

Moto 5.2.5 ignores `VersionId`, so that two writers of an Iceberg table would both win.
"""

import threading
from collections.abc import Callable
from typing import Any

from lakekit.sandbox.http import AwsError

CurrentVersion = Callable[[str, str], str | None]


class TableVersions:
    """Lets one update of a table through at a time, and only on top of what its writer read."""

    def __init__(self, current: CurrentVersion) -> None:
        self._current = current
        self._lock = threading.Lock()

    def update_table(self, request: dict[str, Any], forward: Callable[[], Any]) -> Any:
        """Forward an UpdateTable, or refuse it."""
        name = request.get("TableInput", {}).get("Name", "")
        with self._lock:
            expected = request.get("VersionId")
            found = self._current(request["DatabaseName"], name)
            if expected is not None and found is not None and expected != found:
                what = f"Table {name} is at version {found}, the update is for {expected}"
                raise AwsError("ConcurrentModificationException", what)
            return forward()
