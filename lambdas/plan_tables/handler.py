"""PlanTables: decide what the tables need."""

from typing import Any

from lakekit.aws.catalog import GlueCatalog
from lakekit.aws.settings import client, read_settings
from lakekit.aws.step import logged_step
from lakekit.runs.plan_tables import plan_tables
from lakekit.steps.functions import PlanTables


@logged_step
def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    step = PlanTables.from_event(event)
    settings = read_settings()
    catalog = GlueCatalog(settings.database, client("glue"), client("s3"))
    return plan_tables(step, settings.store, catalog, settings.jobs).to_event()
