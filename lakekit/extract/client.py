"""Calls one source: signs in, stays at its origin, keeps the call budget, obeys 429."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urljoin, urlsplit

from lakekit.config.source import ApiKeyAuth, Auth, BasicAuth, BearerAuth, Source
from lakekit.errors import (
    CallBudgetExceededError,
    SourceRejectedError,
    SourceShapeError,
    SourceThrottledError,
    SourceUnavailableError,
)

if TYPE_CHECKING:
    from requests import Response, Session

MAX_WAIT_SECONDS = 10.0
MAX_WAITS = 3
MAX_REDIRECTS = 5


@dataclass(frozen=True)
class SourceRequest:
    """One request: its address, parameters in their order, its own headers, its body.

    accept_statuses: those from 400 to 499 that are an answer, not an error.
    """

    url: str
    params: tuple[tuple[str, str], ...] = ()
    method: Literal["GET", "POST"] = "GET"
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = None
    accept_statuses: frozenset[int] = frozenset()


@dataclass(frozen=True)
class Answer:
    """One response: its own address, status, headers (by any case of their names) and body."""

    url: str
    status: int
    headers: Mapping[str, str]
    body: bytes


class SourceClient:
    """Sends requests to one source; `calls` counts all, repeated and redirected ones too."""

    def __init__(
        self,
        source: Source,
        read_secret: Callable[[str], str],
        *,
        sleep: Callable[[float], None] = time.sleep,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self.calls = 0
        self._source = source
        self._session = _new_session(source, read_secret)
        self._sleep = sleep
        self._monotonic = monotonic
        self._last_call: float | None = None

    def send(self, request: SourceRequest) -> Answer:
        """Return the answer to one request.

        Raises:
            SourceUnavailableError: No answer, or 5xx.
            SourceThrottledError: 429 with no pause, too long a pause, or too often.
            SourceRejectedError: Another 4xx that the request does not accept, or a foreign origin.
            SourceShapeError: A 3xx that is no redirect, or redirects in a circle.
            CallBudgetExceededError: The budget of the run's endpoint is used up.
        """
        waits = redirects = 0
        while True:
            response = self._send(request)
            if response.status_code == 429:
                waits += 1
                self._sleep(_pause(response, waits, _shown(request.url)))
            elif response.is_redirect:
                redirects += 1
                if redirects > MAX_REDIRECTS:
                    raise SourceShapeError(f"{_shown(request.url)}: redirects do not end")
                url = urljoin(response.url, response.headers["Location"])
                request = replace(request, url=url, params=())
            else:
                _check(response, request)
                return Answer(
                    response.url, response.status_code, response.headers, response.content
                )

    def close(self) -> None:
        """Close the connections."""
        self._session.close()

    def _send(self, request: SourceRequest) -> "Response":
        from requests import RequestException  # noqa: PLC0415 - only what extracts pays for it

        url = request.url
        if _origin(url) != _origin(self._source.base_url):
            raise SourceRejectedError(f"{_shown(url)}: not at the origin of the source's base_url")
        budget = self._source.call_budget.max_requests_per_run
        if self.calls >= budget:
            raise CallBudgetExceededError(
                f"the budget of {budget} requests for one endpoint is used up"
            )
        self._keep_rate()
        self.calls += 1
        try:
            return self._session.request(
                request.method,
                url,
                params=list(request.params),
                headers=dict(request.headers),
                data=request.body,
                allow_redirects=False,
            )
        except (RequestException, ValueError) as error:
            # No cause: some of these print header values, secrets among them.
            reason, refused = type(error).__name__, isinstance(error, ValueError)
        if refused:  # an address or a header that cannot be sent at all
            raise SourceRejectedError(f"{_shown(url)}: cannot be asked: {reason}")
        raise SourceUnavailableError(f"{_shown(url)}: {reason}")

    def _keep_rate(self) -> None:
        rate = self._source.call_budget.max_requests_per_second
        if rate and self._last_call is not None:
            wait = self._last_call + 1 / rate - self._monotonic()
            if wait > 0:
                self._sleep(wait)
        self._last_call = self._monotonic()


def _new_session(source: Source, read_secret: Callable[[str], str]) -> "Session":
    from dlt.sources.helpers.requests.session import Session  # noqa: PLC0415 - 0.4 s

    session = Session(timeout=source.timeout_seconds, raise_for_status=False)
    session.headers["Accept"] = "application/json"
    session.auth = _auth(source.auth, read_secret)
    return session


def _auth(auth: Auth, read_secret: Callable[[str], str]) -> Any:
    from dlt.sources.helpers.rest_client import auth as dlt_auth  # noqa: PLC0415 - 0.4 s

    if isinstance(auth, ApiKeyAuth):
        return dlt_auth.APIKeyAuth(name=auth.header, api_key=read_secret(auth.secret))
    if isinstance(auth, BearerAuth):
        return dlt_auth.BearerTokenAuth(token=read_secret(auth.secret))
    if isinstance(auth, BasicAuth):
        return dlt_auth.HttpBasicAuth(auth.username, read_secret(auth.secret))
    return _no_auth  # None would let requests look into ~/.netrc


def _no_auth(request: Any) -> Any:
    return request


def _pause(response: "Response", waits: int, shown: str) -> float:
    pause = _retry_after(response.headers)
    if pause is None or pause > MAX_WAIT_SECONDS or waits > MAX_WAITS:
        raise SourceThrottledError(f"{shown}: 429 (Retry-After: {pause})", pause)
    return pause


def _retry_after(headers: Mapping[str, str]) -> float | None:
    text = headers.get("Retry-After", "").strip()
    if text.isascii() and text.isdigit():
        return float(text)
    try:
        # A date counts from the source's own clock, not from ours.
        pause = parsedate_to_datetime(text) - parsedate_to_datetime(headers.get("Date", ""))
    except (ValueError, TypeError):
        return None
    return max(pause.total_seconds(), 0.0)


def _check(response: "Response", request: SourceRequest) -> None:
    status, shown = response.status_code, _shown(request.url)
    if status in request.accept_statuses:
        return
    if status >= 500 or status == 408:
        raise SourceUnavailableError(f"{shown}: {status}")
    if status >= 400:
        raise SourceRejectedError(f"{shown}: {status}")
    if status >= 300:
        raise SourceShapeError(f"{shown}: {status} is no answer")


def _origin(url: str) -> tuple[str, str, int | None]:
    parts = urlsplit(url)
    default = {"http": 80, "https": 443}.get(parts.scheme)
    try:
        return parts.scheme, (parts.hostname or "").lower(), parts.port or default
    except ValueError:
        return "", "", None


def _shown(url: str) -> str:
    """Return an address without its query and user, which can hold secrets."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"
