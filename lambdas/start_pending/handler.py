"""StartPending: after maintenance, start what waited for it."""

from typing import Any

from lakekit.aws.settings import read_settings
from lakekit.aws.step import logged_step
from lakekit.runs.start_pending import start_pending
from lakekit.steps.functions import StartPending


@logged_step
def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    return start_pending(StartPending.from_event(event), read_settings().flow).to_event()
