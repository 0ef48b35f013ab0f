"""One REST source: where it is, how to sign in, how often and how much to call."""

from collections.abc import Iterator
from typing import Annotated, Any, Self
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, field_validator, model_validator

from lakekit.config.addresses import check_base_url
from lakekit.config.auth import Auth, Secret, place_of, secrets_of
from lakekit.config.environment import EnvironmentName
from lakekit.config.schedule import Schedule, parse_schedule
from lakekit.models import FileModel, Model, Name, Path


class CallBudget(Model):
    """How much one run may call the source, all its endpoints together; each request counts."""

    max_requests_per_run: Annotated[int, Field(ge=1)] = 1000
    max_requests_per_second: Annotated[float, Field(gt=0, le=1000)] | None = None


class Source(FileModel):
    """A REST API that feeds one or more tables, or without `base_url` files alone.

    auth: one way to sign in, or a list of ways that go together.
    environments: those that have the source; all, if none is named.
    timeout_seconds: for one whole answer, from the connection to its last byte.
    max_response_mb: bytes of one answer, unzipped; a MB has 1,000,000.
    """

    source: Name
    description: str = ""
    base_url: Annotated[str, AfterValidator(check_base_url)] | None = None
    auth: tuple[Auth, ...] = ()
    environments: Annotated[tuple[EnvironmentName, ...], Field(min_length=1)] | None = None
    schedule: Schedule | None = None
    call_budget: CallBudget = CallBudget()
    timeout_seconds: Annotated[float, Field(gt=0, le=300)] = 30
    max_response_mb: Annotated[int, Field(ge=1, le=400)] = 250

    @field_validator("auth", mode="before")
    @classmethod
    def _may_be_one_alone(cls, value: Any) -> Any:
        return [value] if isinstance(value, dict) else value

    @field_validator("auth")
    @classmethod
    def _have_places_of_their_own(cls, auth: tuple[Auth, ...]) -> tuple[Auth, ...]:
        places = [place for each in auth if (place := place_of(each))]
        for place in places:
            if places.count(place) > 1:
                raise ValueError(f"two ways to sign in write {place}")
        return auth

    @field_validator("schedule", mode="before")
    @classmethod
    def _may_be_an_expression_alone(cls, value: Any) -> Any:
        return parse_schedule(value)

    @model_validator(mode="after")
    def _asks_at_an_address(self) -> Self:
        if self.base_url is None and (self.auth or self.schedule):
            what = "auth" if self.auth else "schedule"
            raise ValueError(f"without base_url nothing is asked for; give it, or leave out {what}")
        return self

    @property
    def address(self) -> str:
        """Its `base_url`; empty if it has files alone."""
        return self.base_url or ""

    def secrets(self) -> Iterator[tuple[Path, Secret]]:
        """Yield each secret that is named, with the path of its field in the file."""
        for number, each in enumerate(self.auth):
            begin: Path = ("auth",) if len(self.auth) == 1 else ("auth", number)
            for field, secret in secrets_of(each):
                yield (*begin, field), secret

    def is_deployed_to(self, environment: str) -> bool:
        """Say whether an environment has this source; without `environments` all have it."""
        return self.environments is None or environment in self.environments


def source_ports(source: Source) -> set[int]:
    """Return the ports at which a source and the servers of its tokens are called.

    Example:
        >>> source_ports(Source(source="shop", base_url="https://shop.example:8443"))
        {8443}
    """
    urls = [source.base_url, *(getattr(each, "token_url", None) for each in source.auth)]
    return {urlsplit(url).port or 443 for url in urls if url and url.startswith("https:")}


def load_source(text: str, *, name: str = "source") -> Source:
    """Parse one source; see `FileModel.from_yaml` for errors."""
    return Source.from_yaml(text, name=name)
