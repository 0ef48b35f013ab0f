"""Contestants wait without working, and end with the benchmark."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from benchmarks.__main__ import main
from benchmarks.processes import ContestantError, Worker

ECHO = """
import json, sys
for line in sys.stdin:
    print(json.dumps({"ok": True, "value": json.loads(line)["do"]}), flush=True)
"""
ABANDONED = """
import os, signal, sys
from tests.unit.benchmarks.test_processes import started
worker = started()
worker.ask("open")
print(worker.process.pid, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def started():
    return Worker(
        "echo",
        subprocess.Popen(
            [sys.executable, "-c", ECHO], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            text=True, start_new_session=True,
        ),
    )  # fmt: skip


def state(process_id):
    """The kernel's letter for what a process does; empty if there is none."""
    try:
        return Path(f"/proc/{process_id}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return ""


def becomes(process_id, *states):
    end = time.monotonic() + 20
    while (now := state(process_id)) not in states and time.monotonic() < end:
        time.sleep(0.05)
    return now in states


@pytest.fixture
def worker():
    worker = started()
    yield worker
    worker.end()
    assert state(worker.process.pid) == ""
    assert worker.guard.poll() is not None


def test_a_contestant_is_stopped_between_commands(worker):
    assert [worker.ask(word) for word in ("open", "run")] == ["open", "run"]

    assert becomes(worker.process.pid, "T")


def test_one_that_ended_differs_from_one_that_says_nothing(worker):
    os.killpg(worker.process.pid, signal.SIGKILL)
    worker.process.wait()

    with pytest.raises(ContestantError, match="run: its process ended"):
        worker.ask("run")


def test_none_stays_behind_when_the_benchmark_is_killed():
    killed = subprocess.run(
        [sys.executable, "-c", ABANDONED], capture_output=True, text=True, timeout=60, check=False
    )
    assert killed.returncode == -signal.SIGKILL

    assert becomes(int(killed.stdout), "", "Z")


@pytest.mark.parametrize("option", ["--apart", "--other-bytes", "--sequence"])
def test_what_holds_for_one_workload_is_refused_for_sweeps(option, capsys):
    with pytest.raises(SystemExit):
        main(["--quick", option])

    assert "add --history or --changed" in capsys.readouterr().err
