"""ValidateLanding: check one share of the claimed landings."""

from typing import Any

from lakekit.aws.settings import read_settings
from lakekit.aws.step import logged_step
from lakekit.runs.validate_landing import validate_landing
from lakekit.steps.functions import ValidateLanding


@logged_step
def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    step = ValidateLanding.from_event(event)
    return validate_landing(step, read_settings().store).to_event()
