"""Jobs really run, on a Spark that stays warm, as on Glue."""

import os
import signal
import time
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError

from lakekit.sandbox import Sandbox
from tests.sandboxes import PROJECT, ROOT

JOB = Path(__file__).with_name("stand_in_job.py")


def deploy_job(sandbox: Sandbox) -> str:
    glue = sandbox.client("glue")
    real = glue.get_job(JobName=sandbox.names["jobs"]["merge_scd2"])["Job"]
    return glue.create_job(
        Name="stand_in",
        Role=real["Role"],
        Command={**real["Command"], "ScriptLocation": str(JOB)},
        DefaultArguments=real["DefaultArguments"],
        ExecutionProperty={"MaxConcurrentRuns": 2},
    )["Name"]


@pytest.fixture(scope="module")
def job(sandbox: Sandbox) -> str:
    return deploy_job(sandbox)


def start(sandbox: Sandbox, job: str, **arguments: str) -> str:
    given = {f"--{name}": value for name, value in arguments.items()}
    return sandbox.client("glue").start_job_run(JobName=job, Arguments=given)["JobRunId"]


def wait(sandbox: Sandbox, job: str, run_id: str, *states: str) -> dict[str, Any]:
    glue = sandbox.client("glue")
    for _ in range(600):
        run = glue.get_job_run(JobName=job, RunId=run_id)["JobRun"]
        if run["JobRunState"] in (states or ("SUCCEEDED", "FAILED", "STOPPED", "TIMEOUT")):
            return run
        time.sleep(0.1)
    raise AssertionError(run)


def test_a_job_reads_raw_objects_and_writes_an_iceberg_table(sandbox, job):
    s3, names = sandbox.client("s3"), sandbox.names
    s3.put_object(Bucket=names["landing_bucket"], Key="raw/t/x.ndjson", Body=b'{"a":1}\n{"a":2}')
    table = f"lake.{names['database']}.stand_in"

    run = wait(sandbox, job, start(
        sandbox, job, input=f"s3://{names['landing_bucket']}/raw/t/x.ndjson", table=table
    ))  # fmt: skip

    assert (run["JobRunState"], run.get("ErrorMessage")) == ("SUCCEEDED", None)
    found = sandbox.client("glue").get_table(DatabaseName=names["database"], Name="stand_in")
    metadata = found["Table"]["Parameters"]["metadata_location"]
    assert metadata.startswith(f"{names['warehouse']}/{names['database']}.db/stand_in/")


def test_a_failed_job_shows_its_error_and_keeps_its_output(sandbox, job):
    run = wait(sandbox, job, start(sandbox, job, color="red"))

    assert run["JobRunState"] == "FAILED"
    assert run["ErrorMessage"] == "StandInJobError: red is not allowed"
    log = Path(run["LogGroupName"]).read_text()
    assert "job stand_in red" in log
    assert "Traceback" in log


def test_jobs_share_one_warm_spark(sandbox, job):
    pids = set()
    for _ in range(2):
        assert wait(sandbox, job, start(sandbox, job))["JobRunState"] == "SUCCEEDED"
        pids.add(sandbox.spark_worker_pid)

    assert len(pids) == 1


def test_jobs_stop_when_they_are_stopped_and_a_killed_worker_fails_its_run_only(sandbox, job):
    glue = sandbox.client("glue")
    runs = [start(sandbox, job, sleep="60") for _ in range(2)]
    with pytest.raises(ClientError, match="ConcurrentRunsExceededException"):
        start(sandbox, job)
    wait(sandbox, job, runs[0], "RUNNING")
    glue.batch_stop_job_run(JobName=job, JobRunIds=runs[::-1])
    assert {wait(sandbox, job, run)["JobRunState"] for run in runs} == {"STOPPED"}

    run_id = start(sandbox, job, sleep="60")
    wait(sandbox, job, run_id, "RUNNING")
    while sandbox.spark_worker_pid is None:
        time.sleep(0.1)
    os.kill(sandbox.spark_worker_pid, signal.SIGKILL)
    run = wait(sandbox, job, run_id)

    assert (run["JobRunState"], "signal 9" in run["ErrorMessage"]) == ("FAILED", True)
    assert wait(sandbox, job, start(sandbox, job))["JobRunState"] == "SUCCEEDED"


def test_with_cold_every_run_has_a_spark_of_its_own(sandbox):
    # The other sandbox's folder has the templates already.
    with Sandbox(root=ROOT, project=PROJECT, folder=sandbox.folder, cold=True) as cold:
        name = deploy_job(cold)
        run = wait(cold, name, start(cold, name))

        assert (run["JobRunState"], run.get("ErrorMessage")) == ("SUCCEEDED", None)
        for _ in range(50):
            if cold.spark_worker_pid is None:
                break
            time.sleep(0.1)
        assert cold.spark_worker_pid is None
