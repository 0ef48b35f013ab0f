"""One event `TableLoaded`, as EventBridge words it, and what it means for readers."""

from typing import Any

from lakekit.aws.readers.tags import AccessTags
from lakekit.aws.readers.views import AthenaEngine, CatalogColumns
from lakekit.aws.settings import client, read_settings
from lakekit.aws.step import logged_message, logger_of
from lakekit.errors import UnknownSourceError
from lakekit.steps.functions import ShareTable, ShareTableResult
from lakekit.watch.share_table import share_table


def share(event: dict[str, Any]) -> None:
    """Show the table of an event to its readers."""
    logger, detail = logger_of("share_table"), event["detail"]
    step = ShareTable.from_event({name: detail[name] for name in ("database", "source", "table")})
    with logged_message(logger, "not shared", table=step.table):
        result = share_step(step)
    logger.info("shared", table=step.table, result=result.to_event())


def share_step(step: ShareTable) -> ShareTableResult:
    """Show one table to its readers.

    Raises:
        UnknownSourceError: The table has no contract any more.
    """
    settings = read_settings()
    contracts = {each.contract: each for each in settings.contracts(step.source)}
    if step.table not in contracts:
        raise UnknownSourceError(f"{step.source} has no contract '{step.table}'")
    key, workgroup = settings.access_tag, settings.view_workgroup
    return share_table(
        step,
        contracts[step.table],
        CatalogColumns(step.database, client("glue")),
        AccessTags(key, step.database, client("lakeformation")) if key else None,
        AthenaEngine(workgroup, client("athena")) if workgroup else None,
    )
