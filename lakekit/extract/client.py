"""Calls one source: signs in, stays at its origin, repeats what broke, keeps rate and budget."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, BinaryIO
from urllib.parse import urljoin

from lakekit.config.source import Source
from lakekit.errors import (
    LakekitError,
    SourceRejectedError,
    SourceShapeError,
    SourceThrottledError,
    SourceUnavailableError,
)
from lakekit.extract.http.addresses import origin, shown, without_queries
from lakekit.extract.http.bodies import MEGABYTE
from lakekit.extract.http.messages import Answer, SourceRequest, looks_accidental
from lakekit.extract.http.pace import Pace, RunLimits
from lakekit.extract.http.refusals import refusal
from lakekit.extract.http.secrets import Secrets, replace_texts
from lakekit.extract.http.session import HttpSession, Prepare
from lakekit.extract.http.sign_in import Sign, SignIn, tls_context
from lakekit.extract.http.waiting import limit_reset, retry_after

if TYPE_CHECKING:
    from requests import PreparedRequest

__all__ = ["Answer", "RunLimits", "SourceClient", "SourceRequest", "looks_accidental"]

MAX_WAITS = 3
MAX_REDIRECTS = 5
# Seconds before a request that broke is sent once more, and the shortest pause of all.
RETRY_PAUSE_SECONDS = 1.0
_BUSY = (408, 425)


class _UnauthorizedError(Exception):
    """The source does not know us, or no longer."""

    def __init__(self, answer: Answer) -> None:
        super().__init__()
        self.answer = answer


@dataclass
class _Tries:
    """What one request has already taken."""

    redirects: int = 0
    waits: int = 0
    repeats: int = 0
    renewals: int = 0


class SourceClient:
    """Sends requests to one source; `calls` counts all, repeated and redirected ones too."""

    def __init__(
        self,
        source: Source,
        read_secret: Callable[[str], str],
        *,
        limits: RunLimits | None = None,
        sign: Sign | None = None,
        sleep: Callable[[float], None] = time.sleep,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._source = source
        self._secrets = Secrets(read_secret)
        for _, secret in source.secrets():
            self._secrets.promise(secret)
        self._pace = Pace(
            source.call_budget, limits or RunLimits(), sleep=sleep, monotonic=monotonic
        )
        self._session = HttpSession(
            source.max_response_mb * MEGABYTE, tls_context(source.auth, self._secrets)
        )
        self._sign_in = SignIn(source.auth, self._secrets, self._post_for_token, sign)
        self._large: BinaryIO | None = None

    @property
    def calls(self) -> int:
        """How many requests were sent."""
        return self._pace.calls

    @calls.setter
    def calls(self, value: int) -> None:
        self._pace.calls = value

    def send(
        self, request: SourceRequest, is_odd: Callable[[Answer], bool] = looks_accidental
    ) -> Answer:
        """Return the answer to one request: any 2xx, or a status that the request accepts.

        Args:
            request: What is asked.
            is_odd: Whether an answer looks like an accident; then it is asked for once more.

        Raises:
            SourceUnavailableError: No answer, not all of it, 408, 425 or 5xx, also when repeated.
            SourceThrottledError: 429 or another sign of a limit, with no pause, too long a pause,
                or too often.
            SourceRejectedError: Another 4xx that the request does not accept, or a foreign origin.
            SourceShapeError: The answer is too large, or redirects in a circle.
            CallBudgetExceededError: The run has used up its budget.
        """
        tries = _Tries()
        while True:
            self._drop_large()
            try:
                answer = self._ask(request)
                if location := _location(answer):
                    request = self._redirected(request, answer, location, tries)
                    continue
                self._check(answer, request)
            except (SourceUnavailableError, SourceThrottledError) as error:
                self._pause(error, tries)
            except _UnauthorizedError as refused:
                tries.renewals += 1
                if tries.renewals > 1 or not self._source.auth:
                    raise self.refused(refused.answer) from None
                self._sign_in.renew()
            else:
                may_repeat = request.repeatable and not tries.repeats and self._has_time()
                if not may_repeat or not is_odd(answer):
                    return answer
                tries.repeats += 1
                self._pace.wait(RETRY_PAUSE_SECONDS, self._shown(request.url))

    def refused(self, answer: Answer) -> SourceRejectedError:
        """Return the error of an answer that refuses: its status, which secrets, which reason."""
        secrets = [secret for _, secret in self._source.secrets()]
        text = self._secrets.redact(without_queries(refusal(answer, secrets)))
        return SourceRejectedError(f"{self._shown(answer.url)}: {text}")

    def redact(self, value: Any) -> Any:
        """Return a value of JSON without the secrets that its texts hold; `restore` undoes it."""
        return replace_texts(value, self._secrets.redact)

    def restore(self, value: Any) -> Any:
        """Return a value of JSON with secrets and tokens of today where others were taken out."""
        return replace_texts(value, self._secrets.restore)

    def redacted_error(self, error: Exception) -> Exception:
        """Return an error whose message holds neither a secret nor an address's query."""
        text = self._secrets.redact(without_queries(str(error)))
        if text == str(error):
            return error
        if not isinstance(error, LakekitError):
            return RuntimeError(f"{type(error).__name__}: {text}")
        error.args = (text, *error.args[1:])
        return error

    def close(self) -> None:
        """Close the connections."""
        self._drop_large()
        self._session.close()

    def _ask(self, request: SourceRequest) -> Answer:
        found = origin(request.url)
        if found != origin(self._source.address):
            if request.other_origin and found == origin(request.other_origin):
                return self._send(request, lambda prepared: prepared)
            where = self._shown(request.url)
            raise SourceRejectedError(f"{where}: not at the origin of the source's base_url")
        return self._send(request, self._sign_in)

    def _post_for_token(
        self, url: str, headers: Mapping[str, str], body: bytes
    ) -> tuple[int, bytes]:
        """Ask the server of tokens, at the address that the source declares and at no other."""
        request = SourceRequest(url, method="POST", headers=headers, body=body)
        answer = self._send(request, lambda prepared: prepared, for_token=True)
        self._check_limits(answer, self._shown(url))
        return answer.status, answer.body

    def _send(self, request: SourceRequest, sign_in: Prepare, *, for_token: bool = False) -> Answer:
        sent = False

        def counted(prepared: "PreparedRequest") -> "PreparedRequest":
            nonlocal sent
            signed = sign_in(prepared)  # which may ask for a token first
            self._pace.take(for_token=for_token)
            sent = True
            return signed

        def seconds() -> float:
            return self._pace.seconds_for(self._source.timeout_seconds)

        try:
            answer = self._session.send(request, counted, seconds)
        except SourceUnavailableError as error:
            if request.repeatable or not sent:
                raise
            raise SourceShapeError(
                f"{error}; the source gives an answer of a scroll once"
            ) from None
        self._large = answer.large
        if not for_token:
            self._pace.note_limits(answer.headers)
        return answer

    def _check(self, found: Answer, request: SourceRequest) -> None:
        if found.status in request.accept_statuses:
            return
        if found.status == 401:
            raise _UnauthorizedError(found)
        shown_url = self._shown(request.url)
        self._check_limits(found, shown_url)
        if found.status >= 400:
            raise self.refused(found)
        if found.status >= 300:
            raise SourceShapeError(f"{shown_url}: {found.status} is no answer")

    def _check_limits(self, found: Answer, shown_url: str) -> None:
        """Raise what a status says that a later request can mend."""
        status = found.status
        pause = retry_after(found.headers, _utc_now)
        if pause is None and status in (403, 429):
            pause = limit_reset(found.headers, _utc_now)
        if status == 429 or (status == 403 and pause is not None):
            raise SourceThrottledError(f"{shown_url}: {status} (Retry-After: {pause})", pause)
        if status >= 500 or status in _BUSY:
            raise SourceUnavailableError(f"{shown_url}: {status}", pause)

    def _redirected(
        self, request: SourceRequest, found: Answer, location: str, tries: _Tries
    ) -> SourceRequest:
        tries.redirects += 1
        if tries.redirects > MAX_REDIRECTS:
            raise SourceShapeError(f"{self._shown(request.url)}: redirects do not end")
        if request.method == "POST" and found.status not in (307, 308):
            raise SourceShapeError(
                f"{self._shown(request.url)}: {found.status} would lose the body of a POST"
            )
        return replace(request, url=urljoin(found.url, location), params=())

    def _pause(self, error: SourceUnavailableError | SourceThrottledError, tries: _Tries) -> None:
        """Wait for a source that is busy for a short while; raise the error for any other."""
        pause = error.retry_after_seconds
        if pause is not None:
            tries.waits += 1
            pause = max(pause, RETRY_PAUSE_SECONDS)
            if tries.waits > MAX_WAITS or not self._pace.has_time_for(pause):
                raise error
        elif isinstance(error, SourceUnavailableError) and not tries.repeats and self._has_time():
            tries.repeats += 1
            pause = RETRY_PAUSE_SECONDS
        else:
            raise error
        self._pace.wait(pause, "the source")

    def _has_time(self) -> bool:
        return self._pace.has_time_for(RETRY_PAUSE_SECONDS)

    def _drop_large(self) -> None:
        if self._large:
            self._large.close()
            self._large = None

    def _shown(self, url: str) -> str:
        return self._secrets.redact(shown(url))


def _location(found: Answer) -> str | None:
    return found.headers.get("Location") if found.status in (301, 302, 303, 307, 308) else None


def _utc_now() -> datetime:
    return datetime.now(UTC)
