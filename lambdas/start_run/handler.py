"""StartRun: pin, lease, claim."""

from typing import Any

from lakekit.aws.executions import Executions, Owners
from lakekit.aws.lease import Leases
from lakekit.aws.settings import client, read_settings, utc_now
from lakekit.aws.step import logged_step
from lakekit.runs.start_run import start_run
from lakekit.steps.functions import StartRun


@logged_step
def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    step = StartRun.from_event(event)
    settings = read_settings()
    owners = Owners(
        Executions(settings.load_source_arn, client("stepfunctions")),
        Executions(settings.maintain_tables_arn, client("stepfunctions")),
    )
    leases = Leases(
        settings.store, utc_now, lifetime=settings.lease_lifetime, is_running=owners.is_running
    )
    source, contracts = settings.source(step.source), settings.contracts(step.source)
    result = start_run(step, settings.store, leases, source, contracts, clock=utc_now)
    return result.to_event()
