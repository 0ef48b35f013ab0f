"""A picture of a newcomer's first minutes, from a run that is recorded while it happens.

python -m tools.first_table dist/lakekit-0.1.0-py3-none-any.whl docs/images/first-table.svg

An environment of its own gets the wheel by pip. Then a project, an API that Lakekit has never seen,
its first table, and a second load, which makes history. Each command has the seconds that it took.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from urllib.parse import parse_qs, urlsplit

from rich._export_format import CONSOLE_SVG_FORMAT
from rich.console import Console
from rich.text import Text

WIDTH = 92
PORT = 9000
# Of a long output, so many lines at its beginning and at its end.
_HEAD, _TAIL = 5, 5
_NAMES = ("Ann", "Ben", "Cem", "Dora", "Emre", "Fay", "Gus", "Hana")


@dataclass(frozen=True)
class Step:
    """A command, what it printed, the seconds that it took, and what is reached with it."""

    command: str
    output: str
    seconds: float
    reached: str = ""


class Api(ThreadingHTTPServer):
    """Customers, three on a page, each page with a token of the next one."""

    def __init__(self, port: int = PORT) -> None:
        self.customers = [
            {"id": n, "name": name, "city": "Oslo", "balance": f"{n}.50"}
            for n, name in enumerate(_NAMES, start=1)
        ]
        super().__init__(("127.0.0.1", port), _Answer)

    def page(self, token: str) -> dict[str, object]:
        """Return a page."""
        at = int(token or 0)
        following = str(at + 3) if at + 3 < len(self.customers) else None
        return {"data": self.customers[at : at + 3], "meta": {"next_token": following}}


class _Answer(BaseHTTPRequestHandler):
    server: Api

    def do_GET(self) -> None:
        token = parse_qs(urlsplit(self.path).query).get("token", [""])[0]
        body = json.dumps(self.server.page(token)).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing: the picture shows the commands."""


def main(arguments: Sequence[str]) -> int:
    """Record the run and draw it."""
    wheel, picture = map(Path, arguments)
    with tempfile.TemporaryDirectory() as folder, _serving() as api:
        steps = [*record(wheel.resolve(), Path(folder), api)]
    picture.write_text(draw(steps), encoding="utf-8")
    return 0


@contextmanager
def _serving() -> Iterator[Api]:
    with Api() as api:
        Thread(target=api.serve_forever, daemon=True).start()
        yield api
        api.shutdown()


def record(wheel: Path, folder: Path, api: Api) -> Iterator[Step]:
    """Run each command and yield it; nothing of this process but the network is at hand."""
    call([sys.executable, "-m", "venv", "venv"], folder, {**os.environ})
    tool = folder / "venv/bin"
    kept = {name: value for name, value in os.environ.items()
            if not name.startswith(("PYTHON", "JAVA", "VIRTUAL_ENV"))}  # fmt: skip
    own = {**kept, "PATH": f"{tool}:/usr/bin:/bin", "COLUMNS": str(WIDTH), "NO_COLOR": "1"}

    def step(command: str, place: Path, *, shown: str = "", reached: str = "") -> Step:
        began = time.monotonic()
        output = call(command.split(), place, own).replace(f"{folder.resolve()}/", "")
        return Step(shown or command, output, time.monotonic() - began, reached)

    yield step(f"pip install --quiet {wheel}", folder, shown=f"pip install {wheel.name}")
    yield step("lakekit init shop", folder, shown="lakekit init shop && cd shop")
    shop = folder / "shop"
    url = f"http://127.0.0.1:{PORT}/v1/customers"
    yield step(f"lakekit add-source {url} --name shop_api --yes", shop)
    yield step("lakekit run shop_api", shop, reached="a first table")
    api.customers[1] |= {"city": "Bergen"}
    yield step("lakekit run shop_api", shop, shown="lakekit run shop_api   # Ben has moved")
    yield step("lakekit history customers --key id=2", shop, reached="its history")


def call(command: Sequence[str], folder: Path, environment: dict[str, str]) -> str:
    """Return what a command prints; it must succeed."""
    done = subprocess.run(  # noqa: S603  our own commands
        command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        text=True, check=False,
    )  # fmt: skip
    if done.returncode:
        raise SystemExit(f"{' '.join(command)} failed:\n{done.stdout}")
    return done.stdout


def draw(steps: Sequence[Step]) -> str:
    """Return the steps as SVG that asks for no font of the network."""
    with Path(os.devnull).open("w", encoding="utf-8") as nowhere:
        console = Console(width=WIDTH, record=True, file=nowhere, force_terminal=True)
        total = 0.0
        for step in steps:
            _print(console, step)
            total += step.seconds
            if step.reached:
                line = f"from pip install to {step.reached}: {total:.0f} s"
                console.print(Text(line, style="bold green"))
                console.print()
        fonts = re.compile(r"\s*@font-face \{\{.*?\}\}", re.DOTALL)
        form = fonts.sub("", CONSOLE_SVG_FORMAT).replace("Fira Code", "ui-monospace, Menlo")
        return console.export_svg(title="A first table", code_format=form, unique_id="first-table")


def _print(console: Console, step: Step) -> None:
    line = Text("$ ", style="bold green")
    line.append(step.command, style="bold")
    line.append(f"   {step.seconds:.1f} s", style="bright_black")
    console.print(line)
    for each in shortened(step.output):
        console.print(Text(each, no_wrap=True, overflow="ellipsis"))
    console.print()


def shortened(output: str) -> list[str]:
    r"""Return the lines of an output, without the middle of a long one.

    Example:
        >>> shortened("\n".join("abcdefghijklmn"))
        ['a', 'b', 'c', 'd', 'e', '…', 'j', 'k', 'l', 'm', 'n']
    """
    lines = output.rstrip().splitlines()
    if len(lines) <= _HEAD + _TAIL + 1:
        return lines
    return [*lines[:_HEAD], "…", *lines[-_TAIL:]]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
