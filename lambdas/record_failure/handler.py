"""RecordFailure: keep an error with its run, let the run's tables go."""

from typing import Any

from lakekit.aws.settings import read_settings
from lakekit.aws.step import logged_step
from lakekit.aws.telemetry.lineage import RunLineage
from lakekit.runs.record_failure import record_failure
from lakekit.steps.functions import RecordFailure


@logged_step
def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    step, settings = RecordFailure.from_event(event), read_settings()
    result = record_failure(step, settings.flow)
    RunLineage(settings, "record_failure", step.run_id).broken(step)
    return result.to_event()
