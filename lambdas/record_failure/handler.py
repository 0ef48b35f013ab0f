"""RecordFailure: keep an error with its run."""

from typing import Any

from lakekit.aws.settings import read_settings, utc_now
from lakekit.aws.step import logged_step
from lakekit.runs.record_failure import record_failure
from lakekit.steps.functions import RecordFailure


@logged_step
def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    step = RecordFailure.from_event(event)
    settings = read_settings()
    return record_failure(step, settings.store, settings.leases, utc_now).to_event()
