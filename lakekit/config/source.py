"""One REST source: where it is, how to sign in, how often and how much to call."""

import re
from ipaddress import IPv6Address, ip_address
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import Field, StringConstraints, field_validator

from lakekit.config.environment import EnvironmentName
from lakekit.config.schedule import Schedule, parse_schedule
from lakekit.models import FileModel, Model, Name

# The characters Secrets Manager allows in a name, and those of an HTTP header name (RFC 9110).
# `{environment}` stands for the name of the environment.
SecretName = Annotated[
    str, StringConstraints(pattern=r"^([A-Za-z0-9/_+=.@-]|\{environment\}){1,512}$")
]
HeaderName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,128}$")]
_HOST_NAME = re.compile(r"^(?=.{1,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z][a-z0-9-]*$")


class NoAuth(Model):
    """The source is open."""

    type: Literal["none"]


class ApiKeyAuth(Model):
    """A key in a header; `secret` names it in Secrets Manager."""

    type: Literal["api_key"]
    header: HeaderName = "X-Api-Key"
    secret: SecretName


class BearerAuth(Model):
    """A bearer token; `secret` names it."""

    type: Literal["bearer"]
    secret: SecretName


class BasicAuth(Model):
    """User name and password; `secret` names the password."""

    type: Literal["basic"]
    username: str
    secret: SecretName


Auth = Annotated[NoAuth | ApiKeyAuth | BearerAuth | BasicAuth, Field(discriminator="type")]


class CallBudget(Model):
    """How much one run may call the source; redirects and repeated calls count."""

    max_requests_per_run: Annotated[int, Field(ge=1)] = 1000
    max_requests_per_second: Annotated[float, Field(gt=0, le=1000)] | None = None


class Source(FileModel):
    """A REST API that feeds one or more tables.

    environments: those that have the source; all, if none is named.
    """

    source: Name
    description: str = ""
    base_url: str
    auth: Auth = NoAuth(type="none")
    environments: Annotated[tuple[EnvironmentName, ...], Field(min_length=1)] | None = None
    schedule: Schedule | None = None
    call_budget: CallBudget = CallBudget()
    timeout_seconds: Annotated[float, Field(gt=0, le=300)] = 30

    @field_validator("base_url")
    @classmethod
    def _is_a_safe_address(cls, url: str) -> str:
        return check_base_url(url)

    @field_validator("schedule", mode="before")
    @classmethod
    def _may_be_an_expression_alone(cls, value: Any) -> Any:
        return parse_schedule(value)

    def is_deployed_to(self, environment: str) -> bool:
        """Say whether an environment has this source; without `environments` all have it."""
        return self.environments is None or environment in self.environments


def load_source(text: str, *, name: str = "source") -> Source:
    """Parse one source; see `FileModel.from_yaml` for errors."""
    return Source.from_yaml(text, name=name)


def check_base_url(url: str) -> str:
    """Return the address without a closing slash.

    Raises:
        ValueError: It is not https (or http on loopback), or carries more than scheme, host,
            port and path, or names a private address.
    """
    parts = urlsplit(url)
    if re.search(r"[\s\\\x00-\x1f]", url) or parts.scheme not in ("http", "https"):
        raise ValueError("must begin with https://")
    if "@" in parts.netloc:
        raise ValueError("must not carry a user or password; use auth")
    if "?" in url or "#" in url:
        raise ValueError("must not carry a query or fragment; use endpoint.params")
    parts.port  # noqa: B018 - raises ValueError when it is not a port
    loopback = _is_loopback((parts.hostname or "").lower())
    if parts.scheme == "http" and not loopback:
        raise ValueError("must use https; http is only for this machine")
    return url.rstrip("/")


def _is_loopback(host: str) -> bool:
    try:
        address = ip_address(host)
    except ValueError:
        # Also keeps out what only a resolver reads as an address: 127.1, 0x7f000001, 2130706433.
        if not _HOST_NAME.match(host):
            raise ValueError(f"'{host}' is not a host name") from None
        return host == "localhost"
    if isinstance(address, IPv6Address) and address.ipv4_mapped:
        address = address.ipv4_mapped
    if not address.is_loopback and (not address.is_global or address.is_multicast):
        raise ValueError(f"'{host}' is a private, link-local or reserved address")
    return address.is_loopback
