"""The runs of Glue jobs: whether an earlier one is at work, and what they have used."""

import time
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from lakekit.aws.errors import translated
from lakekit.config.prices import glue_cost
from lakekit.ports import JobUse

if TYPE_CHECKING:
    from mypy_boto3_glue import GlueClient

POLL_SECONDS = 15.0
_LIVE = ("STARTING", "RUNNING", "STOPPING", "WAITING")
# As many as Glue gives at once, the newest first. What is looked for is minutes older at most.
_NEWEST = 200


def run_use(jobs: Iterable[str], client: "GlueClient") -> Callable[[str], JobUse]:
    """Return a function that asks once for each run; see `use_of_run`."""
    names = tuple(jobs)
    return cache(lambda run_id: use_of_run(names, run_id, client))


def use_of_run(jobs: Iterable[str], run_id: str, client: "GlueClient") -> JobUse:
    """Return what the job runs of a run of Lakekit have used.

    Args:
        jobs: The names of the jobs, whose newest runs are looked at.
        run_id: Lakekit's run.
        client: Of Glue.
    """
    found = [run for job in jobs for run in _runs_for(job, run_id, client)]
    used = [(_dpu_seconds(run), run.get("ExecutionClass", "STANDARD")) for run in found]
    return JobUse(sum(each for each, _ in used), sum(glue_cost(*each) for each in used))


def _runs_for(job: str, run_id: str, client: "GlueClient") -> list[Any]:
    with translated(f"runs of {job}"):
        found = client.get_job_runs(JobName=job, MaxResults=_NEWEST)["JobRuns"]
    return [run for run in found if run.get("Arguments", {}).get("--run_id") == run_id]


def _dpu_seconds(run: Any) -> float:
    """Return what a run was charged for; Glue says it where the number of workers has changed."""
    return float(run.get("DPUSeconds") or run.get("ExecutionTime", 0) * run.get("MaxCapacity", 0))


def wait_for_earlier_runs(
    argv: Sequence[str],
    run_id: str,
    client: "GlueClient",
    *,
    sleep: Callable[[float], None] = time.sleep,
) -> None:
    """Wait until no earlier run of this job works for the same run of Lakekit.

    If the answer to StartJobRun is lost, Step Functions starts a second job run and knows only of
    that one. Without the wait it would give the tables back while the first one merges.

    Args:
        argv: The job's command line, with what Glue adds.
        run_id: Lakekit's run.
        client: Of Glue.
        sleep: Waits for some seconds.
    """
    job, own = _option(argv, "--JOB_NAME"), _option(argv, "--JOB_RUN_ID")
    while job and own and _has_earlier(job, own, run_id, client):
        sleep(POLL_SECONDS)


def _has_earlier(job: str, own: str, run_id: str, client: "GlueClient") -> bool:
    began = {
        run["Id"]: (run["StartedOn"], run["Id"])
        for run in _runs_for(job, run_id, client)
        if run["JobRunState"] in _LIVE
    }
    mine = began.pop(own, None)
    return any(mine is None or each < mine for each in began.values())


def _option(argv: Sequence[str], name: str) -> str | None:
    return next((value for word, value in pairwise(argv) if word == name), None)
