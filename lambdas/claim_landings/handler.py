"""ClaimLandings: take tables, and their oldest pending landings."""

from typing import Any

from lakekit.aws.settings import read_settings
from lakekit.aws.step import logged_step
from lakekit.runs.claim_landings import claim_landings
from lakekit.steps.functions import ClaimLandings


@logged_step
def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    return claim_landings(ClaimLandings.from_event(event), read_settings().flow).to_event()
