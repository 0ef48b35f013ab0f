"""The regions in which jobs can run: those with Glue 5.1."""

from difflib import get_close_matches
from typing import Annotated

from pydantic import AfterValidator, StringConstraints

# As far as AWS documents it on 2026-11-28: https://docs.aws.amazon.com/glue/latest/dg/release-notes.html
GLUE_5_1 = frozenset({
    "af-south-1", "ap-east-1", "ap-northeast-1", "ap-northeast-2", "ap-northeast-3", "ap-south-1",
    "ap-south-2", "ap-southeast-1", "ap-southeast-2", "ap-southeast-3", "ap-southeast-4",
    "ca-central-1", "cn-north-1", "cn-northwest-1", "eu-central-1", "eu-central-2", "eu-north-1",
    "eu-south-1", "eu-south-2", "eu-west-1", "eu-west-2", "eu-west-3", "il-central-1",
    "me-central-1", "me-south-1", "sa-east-1", "us-east-1", "us-east-2", "us-west-1", "us-west-2",
})  # fmt: skip


def _has_glue(region: str) -> str:
    if region not in GLUE_5_1:
        close = get_close_matches(region, sorted(GLUE_5_1), n=1)
        hint = f"; did you mean '{close[0]}'?" if close else ""
        raise ValueError(f"'{region}' is not a region that is known to have Glue 5.1{hint}")
    return region


Region = Annotated[
    str, StringConstraints(pattern=r"^[a-z]{2}(-[a-z]+)+-\d$"), AfterValidator(_has_glue)
]
