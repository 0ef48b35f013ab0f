"""A small REST API of what has changed in the time zones, on this machine: since a time, by cursor.

python examples/time_zone_changes/server.py --release 2020a --port 0
"""

import argparse
import base64
import json
from datetime import UTC, datetime
from functools import cache
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any, Self
from urllib.parse import parse_qsl, urlsplit

DATA = Path(__file__).parents[1] / "time_zones/data"
RELEASES = tuple(sorted(path.stem for path in DATA.glob("[0-9]*.ndjson")))
PAGE_SIZE = 100

Reply = tuple[HTTPStatus, bytes]


class ChangesServer:
    """A server of the changes of all releases up to `release`, which may be set at any time.

    asked: the parameters of each request so far.
    """

    def __init__(self, release: str = RELEASES[0], *, port: int = 0) -> None:
        if release not in RELEASES:
            raise ValueError(f"'{release}' is not one of {', '.join(RELEASES)}")
        self.release = release
        self.asked: list[dict[str, str]] = []
        self._http = ThreadingHTTPServer(("127.0.0.1", port), _handler(self))
        self.address = f"http://127.0.0.1:{self._http.server_port}"

    def get(self, target: str) -> Reply:
        """Answer `GET /changes?since=TIME&cursor=CURSOR`: changes at and after a time, in order."""
        url = urlsplit(target)
        given = dict(parse_qsl(url.query))
        if url.path != "/changes":
            return _error(HTTPStatus.NOT_FOUND, "there is /changes")
        self.asked.append(given)
        try:
            since = datetime.fromisoformat(given["since"])
            first = _offset(given.get("cursor"))
        except (KeyError, ValueError):
            return _error(HTTPStatus.BAD_REQUEST, "since is a time; cursor is one of an answer")
        if since.tzinfo is None:
            return _error(HTTPStatus.BAD_REQUEST, "since needs its zone")
        found = [each for each in changes() if self._is_shown(each, since)]
        behind = first + PAGE_SIZE
        more = behind < len(found)
        body = {
            "changes": [change for _, _, change in found[first:behind]],
            "has_more": more,
            "next_cursor": _cursor(behind) if more else None,
        }
        return HTTPStatus.OK, json.dumps(body).encode()

    def _is_shown(self, change: tuple[str, datetime, Any], since: datetime) -> bool:
        release, time, _ = change
        return release <= self.release and time >= since

    def serve(self) -> None:
        """Answer until interrupted."""
        self._http.serve_forever(poll_interval=0.05)

    def __enter__(self) -> Self:
        Thread(target=self.serve, name="time_zone_changes", daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._http.shutdown()
        self._http.server_close()


@cache
def changes() -> list[tuple[str, datetime, dict[str, Any]]]:
    """Return each change with its release and time, oldest first. Deletions are changes too."""
    found = []
    for release in RELEASES:
        for line in (DATA / f"{release}.ndjson").read_text().splitlines():
            record = json.loads(line)
            record["deleted"] = record.pop("op") == "D"
            found.append((release, datetime.fromisoformat(record["released_at"]), record))
    return found


def _cursor(offset: int) -> str:
    return base64.urlsafe_b64encode(f"from {offset}".encode()).decode()


def _offset(cursor: str | None) -> int:
    if cursor is None:
        return 0
    return int(base64.urlsafe_b64decode(cursor).decode().removeprefix("from "))


def _error(status: HTTPStatus, message: str) -> Reply:
    return status, json.dumps({"error": message}).encode()


def _handler(server: ChangesServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            status, body = server.get(self.path)
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            """Say nothing: the caller shows what matters."""

    return Handler


def main() -> None:
    """Serve until interrupted."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--release", default=RELEASES[-1], choices=RELEASES)
    parser.add_argument("--port", type=int, default=0, help="0 takes a free one")
    arguments = parser.parse_args()
    server = ChangesServer(arguments.release, port=arguments.port)
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    print(f"{server.address}/changes?since={now}", flush=True)  # noqa: T201
    try:
        server.serve()
    except KeyboardInterrupt:
        return


if __name__ == "__main__":
    main()
