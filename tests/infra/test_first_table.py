"""A newcomer: an empty folder, the wheel, an API that nobody knows, a table with history."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from tests.infra.test_distribution import build, source

__all__ = ["source"]
SECONDS = 15 * 60
TOKEN = "letmein"  # noqa: S105
PARTS = [{"part": n, "label": f"part {n}", "weight": {"g": n * 10}} for n in range(1, 8)]
SOURCE = """# yaml-language-server: $schema=../schemas/source.json
source: parts_api
base_url: {address}
auth: {{type: api_key, header: X-Token, secret: "lakekit/{{environment}}/parts"}}
"""
CONTRACT = """# yaml-language-server: $schema=../schemas/contract.json
contract: parts
source: parts_api
endpoint:
  path: /v1/parts
  records: $.parts
  paginator: {type: next_url, next_path: $.more}
schema:
  - {name: part, type: bigint, required: true}
  - {name: label, type: string}
  - {name: weight, type: "struct<g: int>"}
history: {keys: [part], deletes: close, max_deleted_ratio: 0.5}
"""


class Api(ThreadingHTTPServer):
    """Parts, three on a page, for those who have the token."""

    def __init__(self) -> None:
        self.parts = [dict(part) for part in PARTS]
        super().__init__(("127.0.0.1", 0), Answer)

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class Answer(BaseHTTPRequestHandler):
    server: Api

    def do_GET(self) -> None:
        start = int(self.path.partition("?from=")[2] or 0)
        more = f"{self.server.address}/v1/parts?from={start + 3}"
        body = {
            "parts": self.server.parts[start : start + 3],
            "more": more if start + 3 < len(self.server.parts) else None,
        }
        text = json.dumps(body).encode()
        self.send_response(200 if self.headers.get("X-Token") == TOKEN else 401)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def api() -> Iterator[Api]:
    with Api() as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


@pytest.mark.long
def test_from_the_wheel_to_a_table_with_history(source: Path, api: Api, tmp_path: Path) -> None:
    wheel = build(source, tmp_path / "dist", "--wheel")
    call(tmp_path, sys.executable, "-m", "venv", "venv")
    tool = tmp_path / "venv/bin"
    call(tmp_path, str(tool / "pip"), "install", "--quiet", str(wheel))
    lakekit = str(tool / "lakekit")

    call(tmp_path, lakekit, "init", "shop")
    shop = tmp_path / "shop"
    (shop / "config/sources/parts_api.yaml").write_text(SOURCE.format(address=api.address))
    (shop / "config/contracts/parts.yaml").write_text(CONTRACT)
    assert call(shop, lakekit, "check").count(": ok\n") == 5
    refused = call(shop, lakekit, "run", "parts_api", fails=True)
    assert f"add it to {shop / 'secrets.yaml'}" in refused
    (shop / "secrets.yaml").write_text(f'lakekit/dev/parts: "{TOKEN}"\n')
    first = json.loads(call(shop, lakekit, "run", "parts_api", "--format", "json"))

    assert [(each["table"], each["opened"]) for each in first] == [("parts", 7)]

    api.parts[0]["label"] = "another"
    del api.parts[6]
    time.sleep(1)  # another second, so another landing
    again = json.loads(call(shop / "config", lakekit, "run", "parts_api", "--format", "json"))
    assert [(each["opened"], each["closed"], each["deleted"]) for each in again] == [(1, 2, 1)]
    history = json.loads(
        call(shop, lakekit, "history", "parts", "--key", "part=1", "--format", "json")
    )
    assert [row["label"] for row in history] == ["part 1", "another"]
    assert "parts" in call(shop, lakekit, "tables")
    assert "wrote" not in call(shop, lakekit, "init")


def call(folder: Path, *command: str, fails: bool = False) -> str:
    """Run a command as in a shell of its own: no checkout, no Java and no modules are on a path."""
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PYTHON", "JAVA", "VIRTUAL_ENV"))
    } | {"PATH": f"{Path(command[0]).parent}:/usr/bin:/bin"}
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=SECONDS,
        check=False,
    )  # fmt: skip
    assert (done.returncode != 0) == fails, done.stdout + done.stderr
    return done.stderr if fails else done.stdout
