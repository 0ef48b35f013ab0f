"""The tutorial, followed to the letter: its files, its commands, what they print."""

import re
import shlex
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.docs.pages import ROOT, read

PAGE = ROOT / "docs/tutorial.md"
PORT = "9000"
_STEP = re.compile(
    r"[Ww]rite `(?P<file>[^`]+)`[^\n]*:\n\n```json\n(?P<content>.*?)```"
    r"|```console\n(?P<commands>.*?)```"
    r"|```text\n(?P<shown>.*?)```"
    r"|Change `(?P<old>\w+)` to `(?P<new>\w+)` in `(?P<edited>[^`]+)`"
    r"|(?P<back>Change it back)|(?P<stop>Stop the server)|(?P<start>Start the server again)",
    re.DOTALL,
)
_LANDING = re.compile(r"\b20260301_080000\b")
_BLOCKED = re.compile(r"blocked +\w+ (\d{8}_\d{6})")


@contextmanager
def _serving(folder: Path, port: int) -> Iterator[None]:
    command = [sys.executable, "-m", "http.server", str(port), "--bind", "127.0.0.1"]
    with subprocess.Popen(
        [*command, "--directory", str(folder)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as server:
        try:
            _wait(port)
            yield
        finally:
            server.kill()


def _wait(port: int) -> None:
    for _ in range(100):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    raise TimeoutError(port)


class _Newcomer:
    """A person in an empty folder, and what the last commands have printed."""

    def __init__(self, folder: Path, port: int) -> None:
        self.top = self.here = folder
        self.printed = ""
        self._port = port

    def write(self, file: str, content: str) -> None:
        path = self.top / file
        path.parent.mkdir(exist_ok=True)
        path.write_text(content)

    def call(self, commands: str) -> None:
        self.printed = ""
        for line in commands.splitlines():
            if line.startswith("cd "):
                self.here /= line.removeprefix("cd ")
                continue
            given = _LANDING.sub(lambda _: self._blocked(), line.replace(PORT, str(self._port)))
            program, *words = shlex.split(given)
            assert program == "lakekit", line
            self.printed += self._run(*words)

    def sees(self, shown: str) -> None:
        printed = " ".join(self.printed.split())
        for line in filter(None, shown.splitlines()):
            if not set(line) & set("─┼"):
                assert " ".join(line.split()).removesuffix("│").strip() in printed, self.printed

    def _blocked(self) -> str:
        [time_of] = _BLOCKED.findall(self._run("landings", "--blocked"))
        return str(time_of)

    def _run(self, *words: str) -> str:
        command = [sys.executable, "-m", "lakekit.cli.main", *words]
        done = subprocess.run(
            command, cwd=self.here, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            check=False, timeout=300,
        )  # fmt: skip
        assert "Traceback" not in done.stdout, done.stdout
        return done.stdout


@pytest.mark.long
def test_the_tutorial_can_be_followed_to_the_letter(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    (tmp_path / "api").mkdir()
    newcomer, changed = _Newcomer(tmp_path, port), None
    server = _serving(tmp_path / "api", port)
    server.__enter__()
    try:
        for step in _STEP.finditer(read(PAGE)):
            if step["file"]:
                newcomer.write(step["file"], step["content"])
            elif step["commands"]:
                newcomer.call(step["commands"])
            elif step["shown"]:
                newcomer.sees(step["shown"])
            elif step["old"]:
                changed = newcomer.here / step["edited"], step["old"], step["new"]
                _replace(changed[0], changed[1], changed[2])
            elif step["back"] and changed:
                _replace(changed[0], changed[2], changed[1])
            elif step["stop"]:
                server.__exit__(None, None, None)
            elif step["start"]:
                server = _serving(tmp_path / "api", port)
                server.__enter__()
    finally:
        server.__exit__(None, None, None)
    assert (newcomer.here / "report.html").stat().st_size > 10_000


def test_the_tutorial_has_all_that_it_is_followed_by() -> None:
    steps = [step.lastgroup for step in _STEP.finditer(read(PAGE))]

    assert steps.count("content") == 4
    assert steps.count("commands") == steps.count("shown") + 3
    assert [each for each in steps if each in {"back", "stop", "start"}] == [
        "back",
        "stop",
        "start",
    ]


def _replace(file: Path, old: str, new: str) -> None:
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))
