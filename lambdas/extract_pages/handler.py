"""ExtractPages: land the pages of one endpoint."""

from functools import partial
from typing import Any

from lakekit.aws.secrets import read_secret
from lakekit.aws.settings import client, read_settings
from lakekit.aws.step import logged_step
from lakekit.extract import SourceClient
from lakekit.runs.extract_pages import extract_pages
from lakekit.steps import ExtractPages


@logged_step
def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    step = ExtractPages.from_event(event)
    secret = partial(read_secret, client("secretsmanager"))
    result = extract_pages(
        step,
        read_settings().store,
        lambda source: SourceClient(source, secret),
        lambda: context.get_remaining_time_in_millis() / 1000,
    )
    return result.to_event()
