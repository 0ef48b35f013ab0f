"""A request to AWS, as the rights that it needs are read from it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]


class UnknownRequestError(Exception):
    """Nobody has written down which right a request needs."""


@dataclass(frozen=True)
class Place:
    """The account and the region that requests are for, and the keys of its buckets, by name."""

    account: str
    region: str
    keys: Mapping[str, str] = field(default_factory=dict)

    def arn(self, service: str, resource: str) -> str:
        """Return the ARN of a resource of a service."""
        return f"arn:aws:{service}:{self.region}:{self.account}:{resource}"


@dataclass(frozen=True)
class Request:
    """A signed request; the body is read when it is asked for.

    key: the access key id that signed it. service: the one that it is signed for.
    """

    key: str
    service: str
    method: str
    host: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: Callable[[], bytes]

    @property
    def operation(self) -> str:
        """Return the operation of a service that takes JSON: `GetTable`; empty for others."""
        return self.headers.get("x-amz-target", "").rpartition(".")[2]


def signed_by(authorization: str) -> tuple[str, str]:
    """Return the access key id and the service of a signature; both empty if there is none.

    Example:
        >>> signed_by("AWS4-HMAC-SHA256 Credential=me/20240101/eu-west-1/s3/aws4_request, Signed")
        ('me', 's3')
    """
    _, found, scope = authorization.partition("Credential=")
    parts = scope.partition(",")[0].split("/")
    return (parts[0], parts[3]) if found and len(parts) == 5 else ("", "")
