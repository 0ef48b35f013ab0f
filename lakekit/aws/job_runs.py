"""The runs of a Glue job."""

import time
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from lakekit.aws.errors import translated

if TYPE_CHECKING:
    from mypy_boto3_glue import GlueClient

POLL_SECONDS = 15.0
_LIVE = ("STARTING", "RUNNING", "STOPPING", "WAITING")
# As many as Glue gives at once, the newest first. What is looked for is minutes older at most.
_NEWEST = 200


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
    with translated(f"runs of {job}"):
        found = client.get_job_runs(JobName=job, MaxResults=_NEWEST)["JobRuns"]
    began = {
        run["Id"]: (run["StartedOn"], run["Id"])
        for run in found
        if run["JobRunState"] in _LIVE and run.get("Arguments", {}).get("--run_id") == run_id
    }
    mine = began.pop(own, None)
    return any(mine is None or each < mine for each in began.values())


def _option(argv: Sequence[str], name: str) -> str | None:
    return next((value for word, value in pairwise(argv) if word == name), None)
