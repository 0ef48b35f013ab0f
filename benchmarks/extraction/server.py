"""The server of all contestants: `python -m benchmarks.extraction.server`; its port on stdout.

`/pages?number=3` is one of the pages, `/body` one body of many megabytes, both made beforehand.
`/bodies/json_small_65` is a body of `bodies.py`, made while it is sent.
"""

import argparse
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from benchmarks.extraction.bodies import PACKINGS, body_of, page_of, split_name

PER_PAGE = 1000
# Records whose text has about a megabyte.
PER_MEGABYTE = 8300


class Server(ThreadingHTTPServer):
    """Serves what it has made at its beginning."""

    daemon_threads = True

    def __init__(self, records: int, megabytes: int) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server_port}"
        pages = range(0, records, PER_PAGE)
        self.pages = [
            page_of(
                first,
                min(PER_PAGE, records - first),
                f"{self.url}/pages?number={number + 1}" if number + 1 < len(pages) else None,
            )
            for number, first in enumerate(pages)
        ]
        self.body = page_of(0, megabytes * PER_MEGABYTE, None)


class Handler(BaseHTTPRequestHandler):
    """Answers on connections that stay open."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: Server

    def do_GET(self) -> None:
        path = urlsplit(self.path)
        with suppress(ConnectionError):  # a body that is too large is not read to its end
            if path.path == "/pages":
                self._whole(self.server.pages[int(parse_qs(path.query).get("number", ["0"])[0])])
            elif path.path == "/body":
                self._whole(self.server.body)
            else:
                name = unquote(path.path.rpartition("/")[2]).replace("_", " ")
                self._in_pieces(body_of(name), PACKINGS[split_name(name)[2]])

    def _whole(self, body: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _in_pieces(self, pieces: Iterator[bytes], encoding: str) -> None:
        self.close_connection = True
        self.send_response(200)
        self.send_header("Connection", "close")
        if encoding:
            self.send_header("Content-Encoding", encoding)
        self.end_headers()
        for piece in pieces:
            self.wfile.write(piece)

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve until the process is ended."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=0, help="in all pages")
    parser.add_argument("--megabytes", type=int, default=0, help="of the one body")
    options = parser.parse_args(arguments)
    server = Server(options.records, options.megabytes)
    sys.stdout.write(f"{server.url}\n")
    sys.stdout.flush()
    server.serve_forever()
    return 0


if __name__ == "__main__":
    sys.exit(main())
