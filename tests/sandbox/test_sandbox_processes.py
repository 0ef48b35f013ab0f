"""No process of a sandbox outlives it, however it ends and whatever its workers do then."""

import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lakekit.cli.project.place import connect_sandbox
from lakekit.sandbox import Sandbox
from tests.sandbox.test_sandbox_jobs import deploy_job, start
from tests.sandboxes import ROOT
from tests.tiers import long

SECONDS = 20
ENDS = [signal.SIGTERM, signal.SIGKILL]
# Starts a worker as a sandbox does, and asks it for what takes longer than this test.
PARENT = """
import os, sys
from pathlib import Path
from lakekit.sandbox.workers.process import Worker

kind, folder, request = sys.argv[1:]
folder = Path(folder)
environment = {**os.environ, "AWS_SECRET_ACCESS_KEY": "sandbox"}
worker = Worker(kind, root=folder, environment=environment, log=folder / "log")
import json
worker.ask(json.loads(request), timeout=600)
"""
# Stands for Java: a child of the worker, which reads nothing and ends by itself only much later.
CHILD = """
import subprocess, sys, time
from pathlib import Path

child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
Path("child").write_text(str(child.pid))
time.sleep(600)
"""
SPARK = """
from unittest.mock import MagicMock

SparkSession = MagicMock()
"""
REQUESTS = {
    "function_worker.py": {
        "name": "f", "arn": "a", "handler": "slow.handler", "memory": 1, "event": {},
        "request_id": "1", "deadline": 0, "version": "1",
    },
    "job_worker.py": {
        "script": "job.py", "arguments": [], "conf": {}, "role": "job", "log": "job.log",
    },
}  # fmt: skip


def processes() -> dict[int, tuple[int, str]]:
    """Return parent and command of each process that runs, not of one that waits to be reaped."""
    shown = subprocess.run(
        ["ps", "-axwwo", "pid=,ppid=,stat=,args="],  # noqa: S607
        capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    rows = [line.split(maxsplit=3) for line in shown.splitlines()]
    return {int(row[0]): (int(row[1]), row[3]) for row in rows if not row[2].startswith("Z")}


def descendants(pid: int, *, naming: str = "") -> set[int]:
    """Return a process and all below it; or those whose command names something."""
    running, found = processes(), {pid}
    while more := {p for p, (parent, _) in running.items() if parent in found} - found:
        found |= more
    return {each for each in found if naming in running.get(each, (0, ""))[1]}


def until(what: Any, *, seconds: float = SECONDS) -> Any:
    end = time.monotonic() + seconds
    while not (found := what()) and time.monotonic() < end:
        time.sleep(0.05)
    return found


@pytest.fixture
def started() -> Iterator[list[int]]:
    """Collect processes; those that a failed test leaves are ended."""
    pids: list[int] = []
    yield pids
    for pid in set(pids) & processes().keys():
        os.kill(pid, signal.SIGKILL)


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("kind", REQUESTS)
def test_a_busy_worker_and_its_children_end_with_their_sandbox(
    tmp_path: Path, started: list[int], kind: str, end: signal.Signals
) -> None:
    (tmp_path / "slow.py").write_text(f"def handler(*_):\n{textwrap.indent(CHILD, '    ')}")
    (tmp_path / "job.py").write_text(CHILD)
    (tmp_path / "pyspark").mkdir()
    (tmp_path / "pyspark/__init__.py").touch()
    (tmp_path / "pyspark/sql.py").write_text(SPARK)
    command = [sys.executable, "-c", PARENT, kind, str(tmp_path), json.dumps(REQUESTS[kind])]
    parent = subprocess.Popen(command, cwd=ROOT)
    started.append(parent.pid)
    pid = until(lambda: (tmp_path / "child").exists() and (tmp_path / "child").read_text())
    running = descendants(parent.pid)
    started += running

    parent.send_signal(end)
    parent.wait()

    assert len(running) >= 3
    assert int(pid) in running
    assert until(lambda: not running & processes().keys()), running & processes().keys()


@pytest.mark.parametrize(
    ("victim", "end"),
    [
        ("sandbox.server", signal.SIGKILL),
        long("sandbox up", signal.SIGTERM),
        long("sandbox up", signal.SIGKILL),
        long("sandbox.server", signal.SIGTERM),
    ],
)
def test_java_ends_with_the_command_or_the_server_though_a_job_runs(
    sandbox: Sandbox, started: list[int], victim: str, end: signal.Signals
) -> None:
    # The folder of the other sandbox has the templates already.
    command = [sys.executable, "-m", "lakekit.cli.main", "sandbox", "up"]
    up = subprocess.Popen(
        [*command, "--data", str(sandbox.folder)], cwd=ROOT, stdout=subprocess.DEVNULL
    )
    started.append(up.pid)
    state = sandbox.folder / "state.json"
    assert until(state.exists, seconds=60)
    connection = connect_sandbox(None, sandbox.folder)
    start(connection, deploy_job(connection), sleep="600")
    assert until(lambda: descendants(up.pid, naming="java"), seconds=60)
    running = descendants(up.pid)
    started += running

    (pid,) = descendants(up.pid, naming=victim)
    os.kill(pid, end)
    up.wait(SECONDS)
    state.unlink(missing_ok=True)

    assert len(running) >= 4
    assert until(lambda: not running & processes().keys()), running & processes().keys()
