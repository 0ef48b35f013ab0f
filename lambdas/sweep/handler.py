"""Sweep: put right what lost events and ended executions have left behind, and say what waits."""

from typing import Any

from lakekit.aws.catalog import GlueCatalog
from lakekit.aws.inbox import route_step
from lakekit.aws.settings import client, read_settings, utc_now
from lakekit.aws.step import logged_step
from lakekit.aws.telemetry.watch import report
from lakekit.runs.sweep import sweep
from lakekit.steps.functions import Sweep


@logged_step
def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    step = Sweep(started_at=utc_now())
    settings = read_settings()
    catalog = GlueCatalog(settings.database, client("glue"), client("s3"))
    result = sweep(step, settings.flow, catalog, route_step, settings.tables)
    report(settings, utc_now())
    return result.to_event()
