"""Sends one request and reads its answer: within its time and bounds, with our own headers."""

import logging
import os
from collections.abc import Callable
from socket import gaierror
from ssl import SSLCertVerificationError, SSLError
from typing import TYPE_CHECKING, Any

from lakekit import __version__
from lakekit.errors import SourceRejectedError, SourceShapeError, SourceUnavailableError
from lakekit.extract.http.addresses import shown
from lakekit.extract.http.bodies import BrokenBodyError, read_body
from lakekit.extract.http.messages import Answer, SourceRequest

if TYPE_CHECKING:
    from requests import PreparedRequest

HEADERS = {
    "Accept": "application/json",
    "Accept-Encoding": "gzip",
    "User-Agent": f"lakekit/{__version__}",
}
Prepare = Callable[["PreparedRequest"], "PreparedRequest"]


class HttpSession:
    """Connections that are kept from request to request; redirects are left to the caller.

    most_bytes: of one body, unzipped. tls: a context with a client certificate, or None.
    """

    def __init__(self, most_bytes: int, tls: Any = None) -> None:
        from requests import Session  # noqa: PLC0415 - only what extracts pays for it

        from lakekit.extract.http.deadline import Deadline, DeadlineAdapter  # noqa: PLC0415

        self._most_bytes = most_bytes
        self._deadline = Deadline()
        self._session = Session()
        self._session.headers.clear()
        self._session.headers.update(HEADERS)
        for scheme in ("https://", "http://"):
            self._session.mount(scheme, DeadlineAdapter(self._deadline, tls))
        # It logs addresses, with their queries, and these may hold a key.
        logging.getLogger("urllib3.connectionpool").addFilter(_no_addresses)

    def send(
        self, request: SourceRequest, sign_in: Prepare, seconds_for: Callable[[], float]
    ) -> Answer:
        """Send one request, and wait for all of its answer as long as that may take.

        Args:
            request: What is asked.
            sign_in: Is called with the request as it will be sent.
            seconds_for: How many seconds there are for it, once it is signed in.

        Raises:
            SourceUnavailableError: No answer, or not all of it.
            SourceRejectedError: It cannot be sent at all; and what `sign_in` raises.
            SourceShapeError: The answer is larger than it may be.
        """
        url, prepared = request.url, self._prepared(request, sign_in)
        broken, refused, answer = "", False, None
        seconds = seconds_for()
        self._deadline.start(seconds)
        try:
            answer = self._exchange(prepared, seconds)
        except BrokenBodyError as error:
            broken = str(error)
        except _errors() as error:
            # No cause: some of these print what was sent, secrets among it.
            broken, refused = _reason(error), isinstance(error, ValueError)
        finally:
            self._deadline.stop()
        if answer is None or self._deadline.passed:
            self.close()  # the next request gets a connection of its own
        if self._deadline.passed:  # also if what came seems whole: headers that were cut do
            if answer and answer.large:
                answer.large.close()
            raise SourceUnavailableError(f"{shown(url)}: no whole answer within {seconds:g} s")
        if refused:
            raise SourceRejectedError(f"{shown(url)}: cannot be asked: {broken}")
        if answer is None:
            raise SourceUnavailableError(f"{shown(url)}: {broken}")
        return answer

    def close(self) -> None:
        """Close the connections; another request opens new ones."""
        self._session.close()

    def _prepared(self, request: SourceRequest, sign_in: Prepare) -> "PreparedRequest":
        from requests import Request  # noqa: PLC0415

        found = Request(
            request.method,
            request.url,
            dict(request.headers),
            params=list(request.params),
            data=request.body,
            auth=_no_auth,  # None would let requests look into ~/.netrc
        )
        try:
            return sign_in(self._session.prepare_request(found))
        except _errors() as error:
            # No cause: some of these print header values, secrets among them.
            reason = type(error).__name__
        raise SourceRejectedError(f"{shown(request.url)}: cannot be asked: {reason}")

    def _exchange(self, prepared: "PreparedRequest", seconds: float) -> Answer:
        # Proxies and certificates of this machine.
        own = self._session.merge_environment_settings(str(prepared.url), {}, True, None, None)
        response = self._session.send(
            prepared, timeout=seconds, allow_redirects=False, **own | {"stream": True}
        )
        whole = False
        try:
            found = read_body(response.raw, self._most_bytes)
            whole = True
        except SourceShapeError as error:
            raise SourceShapeError(f"{shown(response.url)}: {error}") from None
        finally:
            if not whole:  # what is left unread would be taken for the next answer
                response.raw.close()
            response.close()
        body, file = (found, None) if isinstance(found, bytes) else (b"", found)
        return Answer(response.url, response.status_code, response.headers, body, file)


def _errors() -> tuple[type[Exception], ...]:
    from requests import RequestException  # noqa: PLC0415
    from urllib3.exceptions import HTTPError  # noqa: PLC0415

    return RequestException, HTTPError, OSError, ValueError


def _reason(error: BaseException) -> str:
    """Return the kind of an error, with what the operating system says of it, but no text of it."""
    name, each = type(error).__name__, error.__cause__ or error.__context__
    while each is not None:
        if isinstance(each, gaierror):
            return f"{name}: no such host"
        if isinstance(each, SSLCertVerificationError):
            return f"{name}: {each.verify_message}"
        if isinstance(each, SSLError):
            return f"{name}: {(each.reason or 'TLS failed').lower().replace('_', ' ')}"
        if isinstance(each, OSError) and each.errno:
            return f"{name}: {os.strerror(each.errno).lower()}"
        each = each.__cause__ or each.__context__
    return name


def _no_auth(request: "PreparedRequest") -> "PreparedRequest":
    return request


def _no_addresses(record: logging.LogRecord) -> bool:
    return record.levelno > logging.DEBUG
