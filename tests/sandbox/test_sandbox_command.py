"""`lakekit sandbox …` as a person runs it."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

import pytest

from tests.tiers import long

LAKEKIT = str(Path(sys.executable).parent / "lakekit")
DAY = ("--extraction-time", "2026-01-01T00:00:00Z")


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [LAKEKIT, "sandbox", "run", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=180, check=False)


def test_run_shows_each_state_with_its_time_and_maintenance_follows(world, sandbox):
    world.serve([{"id": 1, "city": "here"}])

    loaded = run("load_source", "--source", world.source, *DAY, "--endpoint", sandbox.endpoint)
    again = run(
        "load_source", "--source", world.source, *DAY, "--verbose", "--endpoint", sandbox.endpoint
    )
    kept = run(
        "maintain_tables", "--source", world.source, "--json", "--endpoint", sandbox.endpoint
    )

    assert loaded.returncode == 0, loaded.stdout + loaded.stderr
    states = re.findall(r"^done +(\w+) +[\d.]+ s", loaded.stdout, re.MULTILINE)
    assert states == [
        "StartRun", "ExtractPages", "ClaimLandings", "ValidateLanding", "PlanTables",
        "CreateTables", "MergeScd2", "CompleteRun",
    ]  # fmt: skip
    table = world.table
    assert f"{table}: 1 page with 1 row landed" in loaded.stdout
    assert f"{table}: created; opened 1, closed 0, unchanged 0" in loaded.stdout
    assert re.search(r"  [\d.]+ s, \d+ DPU seconds, \$0\.\d{4}; snapshot \d+", loaded.stdout)
    assert re.search(r"^run \S+: done in \d.+ s$", loaded.stdout, re.MULTILINE)
    assert re.search(r"^done +Begin", again.stdout, re.MULTILINE)
    assert "no table has changed" in again.stdout
    assert kept.returncode == 0, kept.stderr
    assert json.loads(kept.stdout)["status"] == "SUCCEEDED"
    assert f"{table}: healthy, nothing to do" in kept.stderr
    assert "MaintainTables" in kept.stderr


def test_a_failed_run_shows_error_cause_and_log_and_exits_with_1(world, sandbox):
    world.serve([{"id": 1, "city": "here"}])
    world.api.break_page(world.table, 1, 403)

    failed = run("load_source", "--source", world.source, *DAY, "--endpoint", sandbox.endpoint)

    assert failed.returncode == 1
    lines = failed.stdout.splitlines()
    assert any(line.startswith("failed ExtractPages") for line in lines)
    [cause] = [line for line in lines if line.startswith("ExtractPages: SourceRejectedError: ")]
    assert "403" in cause
    [log] = [line.removeprefix("  log: ") for line in lines if line.startswith("  log: ")]
    assert "SourceRejectedError" in Path(log).read_text()


def test_run_without_a_sandbox_says_how_to_start_one(tmp_path):
    for arguments in (("--data", str(tmp_path)), ("--endpoint", "http://127.0.0.1:1")):
        failed = run("load_source", "--source", "s", *arguments)

        assert failed.returncode == 1
        assert "lakekit sandbox up" in failed.stderr


@pytest.mark.parametrize(("option", "value"), [
    ("--extraction-time", "soon"), ("--extraction-time", "2026-01-01T00:00:00"),
])  # fmt: skip
def test_run_refuses_a_time_that_is_none(sandbox, option, value):
    failed = run("load_source", "--source", "s", option, value, "--endpoint", sandbox.endpoint)

    assert (failed.returncode, value in failed.stderr) == (1, True)


@pytest.mark.parametrize("end", [signal.SIGINT, long(signal.SIGTERM), long(signal.SIGKILL)])
def test_up_prints_how_to_talk_to_it_and_all_of_it_ends_with_it(sandbox, end):
    # The folder of the other sandbox has the templates already.
    state = sandbox.folder / "state.json"
    command = [LAKEKIT, "sandbox", "up", "--data", str(sandbox.folder), "--secret", "a/b=c=d"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        exports = dict(
            process.stdout.readline().removeprefix("export ").strip().split("=", 1)
            for _ in range(len(sandbox.environment))
        )
        endpoint = exports["AWS_ENDPOINT_URL"]
        script = "import boto3; print(boto3.client('secretsmanager').get_secret_value("\
                 "SecretId='a/b')['SecretString'])"  # fmt: skip
        secret = subprocess.run(
            [sys.executable, "-c", script], env={**os.environ, **exports},
            capture_output=True, text=True, check=True,
        ).stdout.strip()  # fmt: skip

        assert secret == "c=d"  # noqa: S105
        assert json.loads(state.read_text())["endpoint"] == endpoint
    finally:
        process.send_signal(end)
        try:
            process.communicate(timeout=30)
        finally:
            process.kill()
    assert is_stopped(endpoint)
    if end != signal.SIGKILL:
        assert not state.exists()
    state.unlink(missing_ok=True)


def is_stopped(endpoint: str) -> bool:
    for _ in range(100):
        try:
            urlopen(f"{endpoint}/_sandbox", timeout=1).close()  # noqa: S310
        except (URLError, OSError):
            return True
        time.sleep(0.1)
    return False
