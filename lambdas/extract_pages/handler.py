"""ExtractPages: land the pages of one endpoint."""

from typing import Any

from lakekit.aws.settings import read_settings
from lakekit.aws.signing import sign
from lakekit.aws.step import logged_step
from lakekit.extract import SourceClient
from lakekit.runs.extract_pages import extract_pages
from lakekit.steps.functions import ExtractPages


@logged_step
def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    step = ExtractPages.from_event(event)
    settings = read_settings()
    result = extract_pages(
        step,
        settings.store,
        lambda source, limits: SourceClient(source, settings.secret, limits=limits, sign=sign),
        lambda: context.get_remaining_time_in_millis() / 1000,
        settings.environment,
    )
    return result.to_event()
