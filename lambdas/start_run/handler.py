"""StartRun: pin source and contracts."""

from typing import Any

from lakekit.aws.settings import read_settings
from lakekit.aws.step import logged_step
from lakekit.aws.telemetry.lineage import RunLineage
from lakekit.runs.start_run import start_run
from lakekit.steps.functions import StartRun


@logged_step
def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    step = StartRun.from_event(event)
    settings = read_settings()
    source, contracts = settings.source(step.source), settings.contracts(step.source)
    result = start_run(step, settings.store, source, contracts)
    RunLineage(settings, "start_run", step.run_id).started()
    return result.to_event()
