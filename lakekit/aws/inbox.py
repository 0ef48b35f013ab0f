"""One event of S3, as EventBridge words it, becomes a landing and a run."""

from typing import Any

from lakekit.aws.settings import read_settings
from lakekit.aws.step import logged_message, logger_of
from lakekit.errors import UnknownSourceError
from lakekit.runs.route_file import parse_inbox_key, route_file
from lakekit.steps.functions import RouteFile, RouteFileResult


def route(event: dict[str, Any]) -> None:
    """Land the file of an `Object Created` event and start its run.

    Keys in these events are not URL-encoded, unlike those in S3's own notifications.
    """
    logger = logger_of("route_file")
    item = event["detail"]["object"]
    if item["key"].endswith("/"):
        return  # a folder, as the console makes it
    step = RouteFile.from_event(
        {
            "key": item["key"],
            "etag": item["etag"],
            "version": item.get("version-id"),
            "arrived_at": event["time"],
        }
    )
    with logged_message(logger, "not routed", key=step.key):
        result = route_step(step)
    logger.info("routed", key=step.key, result=result.to_event())


def route_step(step: RouteFile) -> RouteFileResult:
    """Land one file and start its run.

    Raises:
        UnknownSourceError: No contract has the source and endpoint of its key.
    """
    settings = read_settings()
    file = parse_inbox_key(step.key)
    contracts = {each.contract: each for each in settings.contracts(file.source)}
    if file.endpoint not in contracts:
        raise UnknownSourceError(f"{step.key}: {file.source} has no contract '{file.endpoint}'")
    return route_file(step, settings.flow, contracts[file.endpoint])
