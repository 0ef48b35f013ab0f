"""CompleteRun: check the tables, mark the landings, let the tables go, start the next run."""

from typing import Any

from lakekit.aws.announcements import Announcer
from lakekit.aws.catalog import GlueCatalog
from lakekit.aws.job_runs import run_use
from lakekit.aws.settings import client, read_settings
from lakekit.aws.step import logged_step
from lakekit.aws.telemetry.lineage import RunLineage
from lakekit.runs.complete_run import complete_run
from lakekit.steps.functions import CompleteRun


@logged_step
def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    step = CompleteRun.from_event(event)
    settings = read_settings()
    catalog = GlueCatalog(settings.database, client("glue"), client("s3"))
    announce = Announcer(settings.database, client("events"), per_table=settings.table_metrics)
    use_of = run_use(settings.load_jobs, client("glue"))
    lineage = RunLineage(settings, "complete_run", step.run_id)
    result = complete_run(step, settings.flow, catalog, lineage.keeping(announce), use_of)
    lineage.completed(result)
    return result.to_event()
