"""A job waits for an earlier run of its own that nobody knows of."""

from datetime import UTC, datetime
from typing import Any

from lakekit.aws.job_runs import POLL_SECONDS, JobUse, run_use, wait_for_earlier_runs
from tests.unit.aws.conftest import Stubs

ARGV = ["job.py", "--run_id", "r", "--JOB_NAME", "merge", "--JOB_RUN_ID", "jr_2"]


def job_run(name: str, minute: int, state: str = "RUNNING", run_id: str = "r") -> dict[str, Any]:
    return {
        "Id": name,
        "StartedOn": datetime(2026, 1, 1, 0, minute, tzinfo=UTC),
        "JobRunState": state,
        "Arguments": {"--run_id": run_id},
    }


def waits(stubs: Stubs, *answers: list[dict[str, Any]], argv: list[str] = ARGV) -> list[float]:
    for answer in answers:
        response = {"JobRuns": answer}
        stubs.answer("glue", "get_job_runs", response, JobName="merge", MaxResults=200)
    slept: list[float] = []
    wait_for_earlier_runs(argv, "r", stubs["glue"], sleep=slept.append)
    return slept


def test_it_waits_until_the_earlier_run_has_ended(stubs: Stubs) -> None:
    mine, other = job_run("jr_2", 2), job_run("jr_1", 1)
    ended = job_run("jr_1", 1, "SUCCEEDED")

    assert waits(stubs, [mine, other], [mine, other], [mine, ended]) == [POLL_SECONDS] * 2


def test_the_earlier_run_does_not_wait_for_the_later_one(stubs: Stubs) -> None:
    assert waits(stubs, [job_run("jr_3", 3), job_run("jr_2", 2)]) == []


def test_runs_for_others_and_runs_that_have_ended_are_no_earlier_runs(stubs: Stubs) -> None:
    others = [job_run("jr_1", 1, run_id="s"), job_run("jr_0", 0, "FAILED")]

    assert waits(stubs, [job_run("jr_2", 2), *others]) == []


def test_a_run_that_is_not_listed_yet_looks_again(stubs: Stubs) -> None:
    other, mine = job_run("jr_3", 3), job_run("jr_2", 2)

    assert waits(stubs, [other], [other, mine]) == [POLL_SECONDS]


def test_a_job_that_glue_does_not_name_asks_nothing(stubs: Stubs) -> None:
    assert waits(stubs, argv=["job.py", "--run_id", "r"]) == []


def test_what_a_run_has_used_is_asked_for_once(stubs: Stubs) -> None:
    scaled = job_run("jr_1", 1, "SUCCEEDED") | {"DPUSeconds": 90.0, "ExecutionClass": "FLEX"}
    fixed = job_run("jr_2", 2, "SUCCEEDED") | {"ExecutionTime": 60, "MaxCapacity": 2.0}
    other = job_run("jr_3", 3, "SUCCEEDED", run_id="other") | {"DPUSeconds": 1000.0}
    for job, runs in (("create", [fixed]), ("merge", [other, scaled])):
        stubs.answer("glue", "get_job_runs", {"JobRuns": runs}, JobName=job, MaxResults=200)
    use = run_use(("create", "merge"), stubs["glue"])

    assert use("r") == JobUse(210, 120 / 3600 * 0.44 + 90 / 3600 * 0.29)
    assert use("r").dpu_seconds == 210


def test_a_run_without_jobs_has_used_nothing(stubs: Stubs) -> None:
    assert run_use((), stubs["glue"])("r") == JobUse()
