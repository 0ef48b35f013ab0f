"""IAM around moto in this process: calls of one step are allowed by its role, or refused."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit
from xml.sax.saxutils import escape

from botocore import handlers
from botocore.awsrequest import AWSPreparedRequest, AWSResponse
from botocore.handlers import REGISTER_FIRST
from moto.core.botocore_stubber import MockRawResponse

from lakekit.sandbox.rights.needs import needs_of
from lakekit.sandbox.rights.policies import Need, Statement, allowed
from lakekit.sandbox.rights.request import Place, Request, signed_by

Roles = dict[str, tuple[Statement, ...]]
ASKED: set[tuple[str, str, str]] = set()


class Rights:
    """What steps may do; between steps, as a test prepares and looks, everything is allowed."""

    def __init__(self, roles: Roles, place: Place) -> None:
        self._roles, self._place = roles, place
        self._stored = dict(roles)
        self._role: str | None = None

    def allow(self, role: str, action: str, resource: str) -> None:
        """Allow what a configuration adds that the stored templates do not have."""
        self._roles[role] = (*self._roles[role], Statement((action,), (resource,)))

    @contextmanager
    def acting_as(self, role: str) -> Iterator[None]:
        self._role = role
        try:
            yield
        finally:
            self._role = None

    @contextmanager
    def installed(self) -> Iterator[None]:
        """Ask before each request of clients that are made from now on."""
        handler: Any = ("before-send", self._check, REGISTER_FIRST)
        handlers.BUILTIN_HANDLERS.insert(0, handler)
        try:
            yield
        finally:
            handlers.BUILTIN_HANDLERS.remove(handler)

    def _check(self, request: AWSPreparedRequest, **_: Any) -> AWSResponse | None:
        role = self._role
        for need in needs_of(_read(request), self._place) if role else ():
            if role and not allowed(self._roles[role], need):
                return _refusal(request, role, need)
            if role and allowed(self._stored[role], need):
                ASKED.add((role, need.action, need.resource))
        return None


def _refusal(request: AWSPreparedRequest, role: str, need: Need) -> AWSResponse:
    what = escape(f"{role} is not allowed: {need}")
    text = f"<Error><Code>AccessDenied</Code><Message>{what}</Message></Error>"
    if "x-amz-target" in {name.lower() for name in request.headers}:
        text = f'{{"__type": "AccessDeniedException", "message": "{what}"}}'
    return AWSResponse(request.url, 403, {}, MockRawResponse(text.encode()))


def _read(request: AWSPreparedRequest) -> Request:
    def text(value: Any) -> str:
        return value.decode() if isinstance(value, bytes) else str(value)

    def body() -> bytes:
        found = request.body or b""
        return found.encode() if isinstance(found, str) else bytes(found)

    headers = {name.lower(): text(value) for name, value in request.headers.items()}
    url = urlsplit(request.url)
    key, service = signed_by(headers.get("authorization", ""))
    query = dict(parse_qsl(url.query, keep_blank_values=True))
    return Request(
        key, service, str(request.method), url.netloc, unquote(url.path), query, headers, body
    )
