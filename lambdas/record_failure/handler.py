"""RecordFailure: keep an error with its run, let the run's tables go."""

from typing import Any

from lakekit.aws.settings import read_settings
from lakekit.aws.step import logged_step
from lakekit.runs.record_failure import record_failure
from lakekit.steps.functions import RecordFailure


@logged_step
def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    return record_failure(RecordFailure.from_event(event), read_settings().flow).to_event()
