"""The base of every step's models: events of the state machine, arguments of a job."""

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from difflib import get_close_matches
from typing import Annotated, Any, ClassVar, Literal, Self, TypeVar

from pydantic import AfterValidator, AwareDatetime, StringConstraints, ValidationError

from lakekit.errors import InvalidStepInputError
from lakekit.models import Model, describe_faults

RunId = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-][A-Za-z0-9._:-]{0,127}$")]
Key = Annotated[str, StringConstraints(min_length=1, max_length=1024)]


def _has_a_length(window: tuple[datetime, datetime]) -> tuple[datetime, datetime]:
    if window[0] >= window[1]:
        raise ValueError("the start of a window must be before its end")
    return window


# A time from its start, up to its end without it.
TimeWindow = Annotated[tuple[AwareDatetime, AwareDatetime], AfterValidator(_has_a_length)]
# Who started a run.
Origin = Literal["person", "schedule", "file", "next", "sweep"]


class StepModel(Model):
    """What goes into a step or comes out of it, as an event of the state machine.

    BY_HAND: a person writes it, so that what is unknown is a mistake. What a definition hands to
    a job may be of another release.
    """

    BY_HAND: ClassVar[bool] = False

    @classmethod
    def from_event(cls, event: Mapping[str, Any]) -> Self:
        """Parse an event.

        Raises:
            InvalidStepInputError: With one line per fault; values do not appear in it.
        """
        try:
            return cls.model_validate(event)
        except ValidationError as error:
            raise InvalidStepInputError(describe_faults(error, cls, cls.__name__)) from None

    def to_event(self) -> dict[str, Any]:
        """Return plain JSON values; absent ones as null, so that every path resolves."""
        return self.model_dump(mode="json", by_alias=True)


# Without what Glue itself has of this form.
_OURS = re.compile(r"--(?!(?:conf|class|debug|mode)$)[a-z_]+")
Arguments = TypeVar("Arguments", bound=StepModel)


def job_arguments(model: type[Arguments], argv: Sequence[str]) -> Arguments:
    """Return a job's arguments from `--name value` or `--name=value`.

    It reads what `awsglue.utils.getResolvedOptions` reads, and more strictly: see ADR 16.
    What Glue adds (`--JOB_NAME`, `--TempDir`, `--enable-metrics` …) is ignored, with its value. Our
    names are of lower-case letters and underscores; another one of that form is of a later release,
    or a person's mistake.

    Raises:
        InvalidStepInputError: The arguments are not complete or wrong, or a person gave an unknown
            one.

    Example:
        >>> from lakekit.steps.jobs import CreateTables
        >>> job_arguments(CreateTables, [
        ...     "job.py", "--run_id", "r", "--source", "s", "--JOB_NAME", "j", "--database=d",
        ...     "--landing_bucket", "b", "--warehouse", "s3://w/warehouse"]).database
        'd'
    """
    found: dict[str, str | None] = {}
    known = {field.alias or name for name, field in model.model_fields.items()}
    words = iter(argv)
    # Whether a word may be the value of an option of Glue's: that can look like an option too.
    may_be_value = False
    for word in words:
        name, equals, value = word.removeprefix("--").partition("=")
        if word.startswith("--") and name in known:
            found[name] = value if equals else next(words, None)
            may_be_value = False
            continue
        if model.BY_HAND and _OURS.fullmatch(word.partition("=")[0]) and not may_be_value:
            close = get_close_matches(name, sorted(known), n=1)
            hint = f"did you mean --{close[0]}?" if close else "remove it"
            raise InvalidStepInputError(f"{model.__name__}: --{name}: unknown option; {hint}")
        may_be_value = word.startswith("--") and not equals and not may_be_value
    return model.from_event(found)
