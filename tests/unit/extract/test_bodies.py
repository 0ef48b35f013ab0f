"""Bodies that are slow, cut short, too large or not what their headers say."""

import gzip
import json
import socket
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress

import pytest
from werkzeug import Response

from lakekit.config.source import Source
from lakekit.errors import SourceShapeError, SourceUnavailableError
from lakekit.extract import SourceClient, SourceRequest
from lakekit.extract.http import pace
from lakekit.extract.http.pace import RunLimits
from tests.unit.extract.conftest import Api

OK = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
WHOLE = OK + b'Content-Length: 12\r\n\r\n{"items":[]}'
Script = Callable[[socket.socket], None]


def play(connection: socket.socket, script: "Script | bytes") -> None:
    with connection, suppress(OSError):
        connection.recv(65536)
        connection.sendall(script) if isinstance(script, bytes) else script(connection)


class RawServer:
    """Answers each connection by the next of its scripts."""

    def __init__(self) -> None:
        self._server = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._server.getsockname()[1]}"
        self.asked = 0
        self.scripts: list[Script | bytes] = []
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._server.accept()
            except OSError:
                return
            script = self.scripts[min(self.asked, len(self.scripts) - 1)]
            self.asked += 1
            threading.Thread(target=play, args=(connection, script), daemon=True).start()

    def close(self) -> None:
        self._server.close()

    def ask(self, limits: RunLimits | None = None, **source: object) -> bytes:
        found = Source.model_validate({"source": "s", "base_url": self.url} | source)
        client = SourceClient(found, str, limits=limits, sleep=lambda _: None)
        try:
            return client.send(SourceRequest(self.url)).body
        finally:
            client.close()


@pytest.fixture
def raw() -> Iterator[RawServer]:
    server = RawServer()
    yield server
    server.close()


def slowly(text: bytes, pause: float) -> Script:
    def send(connection: socket.socket) -> None:
        for byte in text:
            connection.sendall(bytes([byte]))
            time.sleep(pause)

    return send


@pytest.mark.parametrize("where", ["headers", "body"])
def test_a_source_that_drips_is_cut_off_in_time(raw: RawServer, where: str) -> None:
    begin = OK if where == "headers" else OK + b"Content-Length: 100\r\n\r\n"
    raw.scripts = [lambda c: (c.sendall(begin), slowly(b"x" * 100, 0.05)(c))]  # type: ignore[list-item]
    begun = time.monotonic()

    with pytest.raises(SourceUnavailableError, match=r"no whole answer within 0\.2 s"):
        raw.ask(timeout_seconds=0.2)

    assert time.monotonic() - begun < 2
    assert raw.asked == 2


def test_a_source_that_says_nothing_is_cut_off_in_time(raw: RawServer) -> None:
    raw.scripts = [lambda c: time.sleep(1), WHOLE]

    assert raw.ask(timeout_seconds=0.2) == b'{"items":[]}'


def test_a_request_takes_no_longer_than_the_call_that_makes_it(
    raw: RawServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pace, "LEAST_SECONDS", 0.1)
    raw.scripts = [lambda c: time.sleep(1)]

    with pytest.raises(SourceUnavailableError, match=r"within 0\.3 s"):
        raw.ask(RunLimits(remaining_seconds=lambda: 0.3))

    assert raw.asked == 1


def zipped(body: bytes) -> bytes:
    return OK + f"Content-Encoding: gzip\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body


CUT = gzip.compress(json.dumps({"items": [*range(1000)]}).encode())[:-20]


@pytest.mark.parametrize(
    "cut",
    [
        OK + b'Content-Length: 13\r\n\r\n{"items":[]}',
        OK + b"Transfer-Encoding: chunked\r\n\r\n5\r\n{\"ite\r\n5\r\nms",
        OK + b'Transfer-Encoding: chunked\r\n\r\nc\r\n{"items":[]}\r\n',
        OK + b'Transfer-Encoding: chunked\r\n\r\nno\r\n{"items":[]}\r\n',
        zipped(CUT), zipped(b"no gzip"), b"HTTP/1.1", OK, b"", b"nonsense\r\n\r\n",
    ],
)  # fmt: skip
def test_a_body_that_is_cut_short_is_asked_for_once_more(raw: RawServer, cut: bytes) -> None:
    raw.scripts = [cut, WHOLE]
    assert raw.ask() == b'{"items":[]}'

    raw.scripts, raw.asked = [cut], 0
    if cut == OK:  # no body of an unknown length: who reads it decides
        assert raw.ask() == b""
        return
    with pytest.raises(SourceUnavailableError):
        raw.ask()
    assert raw.asked == 2


def test_a_body_of_several_zipped_parts_is_one(raw: RawServer) -> None:
    raw.scripts = [zipped(gzip.compress(b'{"items"') + gzip.compress(b":[]}"))]

    assert raw.ask() == b'{"items":[]}'


def test_deflate_is_understood_and_nothing_else(raw: RawServer) -> None:
    body = zlib.compress(b'{"items":[]}')
    raw.scripts = [zipped(body).replace(b"gzip", b"deflate"), zipped(body).replace(b"gzip", b"br")]

    assert raw.ask() == b'{"items":[]}'
    with pytest.raises(SourceShapeError, match="Content-Encoding br is not one"):
        raw.ask()


def test_a_body_is_bounded_unzipped(raw: RawServer) -> None:
    raw.scripts = [zipped(gzip.compress(b" " * 3_000_000 + b"{}"))]

    with pytest.raises(SourceShapeError, match=r"more than 1 MB; ask for smaller pages, or raise"):
        raw.ask(max_response_mb=1)

    assert raw.ask(max_response_mb=4).strip() == b"{}"


def test_an_html_page_is_asked_for_once_more_and_then_returned(api: Api) -> None:
    pages = [Response("<html>", content_type="text/html")]
    api.serve(lambda _: pages.pop() if pages else {"items": [1]})
    client = SourceClient(api.source(), str, sleep=api.naps.append)

    answer = client.send(SourceRequest(api.server.url_for("/items")))

    assert answer.body == b'{"items": [1]}'
    assert api.naps == [1.0]


def test_names_itself(api: Api) -> None:
    api.serve(lambda _: {"items": []})

    api.records()

    assert api.requests[0].headers["User-Agent"].startswith("lakekit/")
