"""A small REST API over the airports releases, on this machine: pages, an API key, one 429 a load.

python examples/airports/server.py --release 20240806 --port 0
"""

import argparse
import gzip
import hmac
import json
import math
from functools import cache
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Lock, Thread
from typing import Any, Self
from urllib.parse import parse_qs, urlsplit

DATA = Path(__file__).parent / "data"
RELEASES = tuple(sorted(path.name.split(".")[0] for path in DATA.glob("*.ndjson.gz")))
PAGE_SIZE = 1000
API_KEY = "airports-example-key"  # an example's, not a secret
THROTTLED_PAGE = 2

Reply = tuple[HTTPStatus, dict[str, str], bytes]


class AirportsServer:
    """A server of `release` until another is chosen; a load begins with its first page.

    release: may be set at any time, or by `PUT /release` with the release as the body.
    outage_from: pages from this number on answer 503, as if the API were cut off.
    """

    def __init__(self, release: str, *, port: int = 0, api_key: str = API_KEY) -> None:
        self.outage_from: int | None = None
        self._api_key = api_key
        self._throttled = False
        self._lock = Lock()
        self.release = release
        self._http = ThreadingHTTPServer(("127.0.0.1", port), _handler(self))
        self.address = f"http://127.0.0.1:{self._http.server_port}"

    @property
    def release(self) -> str:
        """The release that is served."""
        return self._release

    @release.setter
    def release(self, release: str) -> None:
        records(release)
        self._release = release

    def get(self, target: str, key: str | None) -> Reply:
        """Answer `GET /airports?page=N`."""
        url = urlsplit(target)
        if not hmac.compare_digest((key or "").encode(), self._api_key.encode()):
            return _error(HTTPStatus.UNAUTHORIZED, "X-Api-Key is missing or wrong")
        if url.path != "/airports":
            return _error(HTTPStatus.NOT_FOUND, "there is /airports")
        page = parse_qs(url.query).get("page", ["1"])[0]
        if not page.isdecimal() or int(page) < 1:
            return _error(HTTPStatus.BAD_REQUEST, "page counts from 1")
        return self._page(int(page))

    def put(self, target: str, body: bytes) -> Reply:
        """Answer `PUT /release`."""
        if target != "/release":
            return _error(HTTPStatus.NOT_FOUND, "there is /release")
        try:
            self.release = body.decode(errors="replace").strip()
        except ValueError as error:
            return _error(HTTPStatus.BAD_REQUEST, str(error))
        return HTTPStatus.OK, {}, json.dumps({"release": self.release}).encode()

    def _page(self, page: int) -> Reply:
        if self.outage_from is not None and page >= self.outage_from:
            return _error(HTTPStatus.SERVICE_UNAVAILABLE, "out of order")
        with self._lock:
            if page == 1:
                self._throttled = False
            if page == THROTTLED_PAGE and not self._throttled:
                self._throttled = True
                return _error(HTTPStatus.TOO_MANY_REQUESTS, "slow down", {"Retry-After": "1"})
        return HTTPStatus.OK, {}, page_body(self._release, page)

    def serve(self) -> None:
        """Answer until interrupted."""
        self._http.serve_forever(poll_interval=0.05)

    def __enter__(self) -> Self:
        Thread(target=self.serve, name="airports", daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._http.shutdown()
        self._http.server_close()


@cache
def records(release: str) -> list[bytes]:
    """Return the JSON text of every record, as the file has it.

    Raises:
        ValueError: There is no such release.
    """
    if release not in RELEASES:
        raise ValueError(f"'{release}' is not one of {', '.join(RELEASES)}")
    return gzip.decompress((DATA / f"{release}.ndjson.gz").read_bytes()).splitlines()


def page_body(release: str, page: int) -> bytes:
    """Return one page; its records are cut out of the file, not printed again."""
    lines = records(release)
    pages = math.ceil(len(lines) / PAGE_SIZE)
    items = b", ".join(lines[(page - 1) * PAGE_SIZE : page * PAGE_SIZE])
    head = f'{{"page": {page}, "pages": {pages}, "total": {len(lines)}, "items": ['
    return head.encode() + items + b"]}"


def _error(status: HTTPStatus, message: str, headers: dict[str, str] | None = None) -> Reply:
    return status, headers or {}, json.dumps({"error": message}).encode()


def _handler(server: AirportsServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self._send(server.get(self.path, self.headers.get("X-Api-Key")))

        def do_PUT(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            self._send(server.put(self.path, body))

        def log_message(self, format: str, *args: Any) -> None:
            """Say nothing: the caller shows what matters."""

        def _send(self, reply: Reply) -> None:
            status, headers, body = reply
            self.send_response(status)
            own = {"Content-Type": "application/json", "Content-Length": str(len(body))}
            for name, value in {**own, **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

    return Handler


def main() -> None:
    """Serve until interrupted."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--release", default=RELEASES[0], choices=RELEASES)
    parser.add_argument("--port", type=int, default=0, help="0 takes a free one")
    arguments = parser.parse_args()
    server = AirportsServer(arguments.release, port=arguments.port)
    print(f"{server.address}/airports (X-Api-Key: {API_KEY})", flush=True)  # noqa: T201
    try:
        server.serve()
    except KeyboardInterrupt:
        return


if __name__ == "__main__":
    main()
