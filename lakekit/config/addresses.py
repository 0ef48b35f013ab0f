"""Which addresses a source may be called at, and where events of lineage may go."""

import re
from ipaddress import IPv6Address, ip_address
from typing import Annotated, Self
from urllib.parse import urlsplit

from pydantic import AfterValidator, StringConstraints, model_validator

from lakekit.models import Model

_HOST_NAME = re.compile(r"^(?=.{1,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z][a-z0-9-]*$")
_S3 = re.compile(r"s3://[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](/[\w.=-]+)*/?", re.ASCII)


def _check_target(url: str) -> str:
    if not url.startswith("s3:"):
        return check_address(url)
    if not _S3.fullmatch(url):
        raise ValueError("must be s3://bucket or s3://bucket/prefix")
    return url


TokenName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9/_+=.@{}-]+$", max_length=256)]


class Lineage(Model):
    """Where the events of OpenLineage go.

    url: an address that takes them by POST, or `s3://bucket/prefix`.
    secret: of an address, the secret with its token; `{environment}` stands for the environment.
    """

    url: Annotated[str, StringConstraints(max_length=1000), AfterValidator(_check_target)]
    secret: TokenName | None = None

    @model_validator(mode="after")
    def _is_for_an_address(self) -> Self:
        if self.secret and self.url.startswith("s3:"):
            raise ValueError("secret: S3 takes no token; leave it out")
        return self


class LineageTarget(Lineage):
    """What a function is deployed with; `catalog` is `arn:aws:glue:{region}:{account}`."""

    catalog: str


def check_base_url(url: str) -> str:
    """Return the address without a closing slash.

    Raises:
        ValueError: It is not https (or http on loopback), or carries more than scheme, host,
            port and path, or names a private address.
    """
    return check_address(url).rstrip("/")


def check_address(url: str) -> str:
    """Return the address as it is; see `check_base_url` for errors."""
    parts = urlsplit(url)
    if re.search(r"[\s\\\x00-\x1f]", url) or parts.scheme not in ("http", "https"):
        raise ValueError("must begin with https://")
    if "@" in parts.netloc:
        raise ValueError("must not carry a user or password; use auth")
    if "?" in url or "#" in url:
        raise ValueError("must not carry a query or fragment; use params")
    parts.port  # noqa: B018 - raises ValueError when it is not a port
    loopback = _is_loopback((parts.hostname or "").lower())
    if parts.scheme == "http" and not loopback:
        raise ValueError("must use https; http is only for this machine")
    return url


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
