"""How much memory ExtractPages needs for an answer: its peak, in a process of its own.

`python -m benchmarks.extraction` measures all bodies, one after the other.
"""

import argparse
import gzip
import json
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

from benchmarks.landing import FolderStore
from lakekit import layout
from lakekit.config.source import load_source
from lakekit.contract.contract import load_contract
from lakekit.errors import LakekitError
from lakekit.extract import SourceClient
from lakekit.runs.documents import Run
from lakekit.runs.extract_pages import extract_pages
from lakekit.steps.functions import ExtractPages

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
MEGABYTE = 1_000_000
RECORD = b'{"id": %d, "name": "a record of a hundred and some bytes", "price": 12.50, "at": "now"}'
BODIES = (
    "small 1", "small 7", "small 65", "small 200", "small 200 zipped", "one record 60",
    "large records 100", "blanks 600 zipped",
)  # fmt: skip


def body_of(name: str) -> Iterator[bytes]:
    """Yield a body in pieces: `small 65` are 65 MB of small records in one list."""
    size = int(name.removesuffix(" zipped").rpartition(" ")[2]) * MEGABYTE
    if name.startswith("blanks"):
        yield from (b" " * MEGABYTE for _ in range(size // MEGABYTE))
        yield b'{"items": [{"id": 1}]}'
        return
    yield b'{"items": ['
    if name.startswith("one record"):
        yield b'{"id": 1, "text": "' + b"x" * size + b'"}'
    elif name.startswith("large records"):
        record = b'{"id": 1, "list": [' + b", ".join([b'{"a": [1, 2], "b": "c"}'] * 250_000) + b"]}"
        yield b", ".join([record] * (size // len(record)))
    else:
        block = b", ".join(RECORD % number for number in range(10_000))
        count = max(size // len(block), 1)
        for number in range(count):
            yield block + (b", " if number + 1 < count else b"")
    yield b'], "next": null}'


class Handler(BaseHTTPRequestHandler):
    """Answers `/small 65` and the like."""

    def do_GET(self) -> None:
        name = self.path.partition("?")[0].strip("/").replace("_", " ")
        zipped = name.endswith("zipped")
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        if zipped:
            self.send_header("Content-Encoding", "gzip")
        self.end_headers()
        with suppress(ConnectionError):  # a body that is too large is not read to its end
            self._send(name, zipped=zipped)

    def _send(self, name: str, *, zipped: bool) -> None:
        if not zipped:
            for piece in body_of(name):
                self.wfile.write(piece)
            return
        with gzip.GzipFile(fileobj=self.wfile, mode="wb", compresslevel=1) as file:
            for piece in body_of(name):
                file.write(piece)

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


def measure(url: str, name: str) -> dict[str, Any]:
    """Land one body, and return what that took."""
    source = load_source(
        f"source: shop\nbase_url: {url}\nmax_response_mb: 400\ntimeout_seconds: 300"
    )
    contract = load_contract(
        f"contract: orders\nsource: shop\nendpoint: {{path: /{name.replace(' ', '_')},"
        " records: $.items, paginator: {type: next_url, next_path: $.next}}\n"
        "schema: [{name: id, type: bigint}]\nhistory: {keys: [id]}\n"
    )
    run = Run(
        run_id="r", started_at=NOON, extraction_time=NOON, source=source, contracts=(contract,)
    )
    with tempfile.TemporaryDirectory() as folder:
        store: Any = FolderStore(Path(folder))
        store.put(layout.run_key("r"), run.to_json())
        before, begun = _peak(), time.process_time()
        step = ExtractPages(run_id="r", source="shop", endpoint="orders")
        try:
            outcome: Any = extract_pages(
                step, store, lambda s, limits: SourceClient(s, str, limits=limits), lambda: 890
            ).rows
        except LakekitError as error:
            outcome = f"{type(error).__name__}: {error}"
    seconds = round(time.process_time() - begun, 2)
    return {"body": name, "before_mb": before, "peak_mb": _peak(), "cpu_s": seconds, "is": outcome}


def _peak() -> int:
    """Return the most memory that this process has had; `getrusage` shows that of its parent."""
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    return int(status.partition("VmHWM:")[2].split()[0]) // 1024


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, and print a line of JSON for each body."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("body", nargs="*", help=f"among {', '.join(BODIES)}")
    parser.add_argument("--url", help="of the server; that of a measurement's own process")
    options = parser.parse_args(arguments)
    if options.url:
        sys.stdout.write(json.dumps(measure(options.url, options.body[0])) + "\n")
        return 0
    server = HTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}"
    for body in options.body or BODIES:
        command = [sys.executable, "-m", "benchmarks.extraction", "--url", url, body]
        subprocess.run(command, check=True)  # noqa: S603
    server.shutdown()
    return 0


if __name__ == "__main__":
    sys.exit(main())
