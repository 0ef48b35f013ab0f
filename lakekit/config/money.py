"""Who pays, how much it may be, and when nothing runs: tags, budget, pause."""

from typing import Annotated, Self

from pydantic import AfterValidator, Field, StringConstraints, field_validator, model_validator

from lakekit.config.schedule import ZoneName, check_expression
from lakekit.models import Model

# What all services take that have tags.
_CHARACTERS = r"[A-Za-z0-9 _.:/=+@-]"
TagValue = Annotated[str, StringConstraints(pattern=rf"^{_CHARACTERS}{{1,256}}$")]
# S3 takes 50 tags at a bucket; some are ours, and some CloudFormation's.
MOST_FREE_TAGS = 40
OWN_TAGS = ("environment", "project", "source", "table", "team")


def _check_tag_key(key: str) -> str:
    if key.lower() in OWN_TAGS:
        raise ValueError(f"'{key}' is a tag of Lakekit; set tags.project and tags.team, no others")
    if key.lower().startswith("aws:"):
        raise ValueError("what begins with aws: is a tag of AWS")
    return key


TagKey = Annotated[
    str,
    StringConstraints(pattern=rf"^{_CHARACTERS}{{1,128}}$"),
    AfterValidator(_check_tag_key),
]


class Tags(Model):
    """What every resource is tagged with, next to `environment`; `free` are a company's own."""

    project: TagValue = "lakekit"
    team: TagValue | None = None
    free: Annotated[dict[TagKey, TagValue], Field(max_length=MOST_FREE_TAGS)] = {}


class Budget(Model):
    """What a month may cost, and how much above the usual is worth a notice; in US dollars."""

    monthly_usd: Annotated[int, Field(ge=1)]
    anomaly_usd: Annotated[int, Field(ge=1)] = 20


class Pause(Model):
    """When the schedules of an environment are switched off and on: two `cron(…)`."""

    begins: str
    ends: str
    time_zone: ZoneName = "UTC"

    @field_validator("begins", "ends")
    @classmethod
    def _is_a_time(cls, text: str) -> str:
        if text.startswith("rate("):
            raise ValueError("must be a 'cron(0 20 ? * MON-FRI *)': a rate names no time")
        return check_expression(text)

    @model_validator(mode="after")
    def _ends_at_another_time(self) -> Self:
        if self.begins == self.ends:
            raise ValueError("begins and ends are the same")
        return self
