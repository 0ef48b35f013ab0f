"""`python -m benchmarks.commands`: each command as a new process, on the example's project.

What a person waits for: the median of the seconds, with the seconds of processor time among them.
"""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median
from typing import NamedTuple

from benchmarks.harness import ROOT, empty
from benchmarks.places import OUT

ROUNDS = 5
# What a person waits for at most, in seconds on a machine that does nothing else.
MOST, MOST_READING = 1.0, 2.0
_LAKEKIT = (sys.executable, "-m", "lakekit.cli.main")
_RELEASES = {"20240806": "2024-08-06T00:00:00Z", "20250909": "2025-09-09T00:00:00Z"}
_TIMES = ("2024-09-01T00:00:00Z", "2025-10-01T00:00:00Z")


class Command(NamedTuple):
    """A command line without `lakekit`; reads: whether it reads tables."""

    words: tuple[str, ...]
    reads: bool = False


COMMANDS = (
    Command(("--version",)),
    Command(("--help",)),
    Command(("run", "--help")),
    Command(("check",)),
    Command(("schema", "contract")),
    Command(("cost", "--environment", "prod")),
    Command(("export", "dbt", "--environment", "prod")),
    Command(("runs",)),
    Command(("tables",), reads=True),
    Command(("describe", "airports"), reads=True),
    Command(("history", "airports", "--key", "icao=WIOS"), reads=True),
    Command(("as-of", "airports", _TIMES[0], "--limit", "10"), reads=True),
    Command(("changes", "airports", *_TIMES, "--limit", "10"), reads=True),
    Command(("sql", "SELECT country, count(*) FROM airports GROUP BY 1"), reads=True),
    Command(("report", "--out", "page.html"), reads=True),
)


class Taken(NamedTuple):
    """What a process took, in seconds."""

    wall: float
    processor: float


def main() -> int:
    """Print a table of all commands; 1 if one is slower than it may be."""
    project = _project(OUT / "work" / "commands")
    found = {command: _median(command, project) for command in COMMANDS}
    for line in _table(found):
        sys.stdout.write(f"{line}\n")
    slow = [each for each, taken in found.items() if taken.processor > _most(each)]
    return 1 if slow else 0


def _project(place: Path) -> Path:
    """Return a copy of the example, whose warehouse has two releases."""
    empty(place)
    project = place / "airports"
    shutil.copytree(ROOT / "examples/airports", project)
    inputs = [
        word
        for release, at in _RELEASES.items()
        for word in ("--input", f"data/{release}.ndjson.gz", "--at", at)
    ]
    contract = ("--contract", "config/contracts/airports.yaml")
    _run(("merge", *contract, "--warehouse", "warehouse", *inputs), project)
    (project / "warehouse/bucket").mkdir()  # as if `lakekit run` had been here, for `lakekit runs`
    return project


def _median(command: Command, project: Path) -> Taken:
    """Return the median of some rounds; the first one fills the caches of the operating system."""
    rounds = [_run(command.words, project) for _ in range(ROUNDS + 1)][1:]
    return Taken(*(median(each) for each in zip(*rounds, strict=True)))


def _run(words: Sequence[str], project: Path) -> Taken:
    start = time.perf_counter()
    # As installed: with the bytecode that the first round has written.
    own = {
        "PYTHONPATH": str(ROOT),
        "PYTHONDONTWRITEBYTECODE": "",
        "PYTHONPYCACHEPREFIX": str(project.parent / "bytecode"),
    }
    with subprocess.Popen(  # noqa: S603  our own program
        [*_LAKEKIT, *words],
        cwd=project,
        env=os.environ | own,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as process:
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"lakekit {' '.join(words)} failed")
    return Taken(time.perf_counter() - start, used.ru_utime + used.ru_stime)


def _most(command: Command) -> float:
    return MOST_READING if command.reads else MOST


def _table(found: dict[Command, Taken]) -> Iterator[str]:
    yield "| command | seconds | of the processor |"
    yield "|---|---|---|"
    for command, taken in found.items():
        shown = " ".join(f'"{word}"' if " " in word else word for word in command.words)
        yield f"| `lakekit {shown}` | {taken.wall:.2f} | {taken.processor:.2f} |"


if __name__ == "__main__":
    sys.exit(main())
