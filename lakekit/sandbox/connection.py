"""Talks to a sandbox that runs: clients, executions and their outcome."""

import json
import time
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import boto3

from lakekit.sandbox.settings import CREDENTIALS, aws_environment


class SandboxError(Exception):
    """A sandbox does not start, or an execution does not end."""


@dataclass(frozen=True)
class Execution:
    """One execution of a state machine."""

    arn: str
    name: str


@dataclass(frozen=True)
class Outcome:
    """How an execution ended."""

    status: str
    output: Any = None
    error: str | None = None
    cause: str | None = None


class Connection:
    """Talks to a sandbox that runs."""

    def __init__(self, about: Mapping[str, Any]) -> None:
        self.endpoint: str = about["endpoint"]
        self.region: str = about["region"]
        self.folder = Path(about["folder"])
        self.names: dict[str, Any] = about["names"]
        self._clients: dict[str, Any] = {}

    @property
    def environment(self) -> dict[str, str]:
        """Return the variables that let a child process talk to it."""
        return aws_environment(self.endpoint, self.region)

    @property
    def spark_worker_pid(self) -> int | None:
        """Return the process that runs Glue jobs, None while there is none."""
        found: int | None = ask(self.endpoint)["spark_worker_pid"]
        return found

    def client(self, service: str) -> Any:
        """Return a boto3 client, for a service always the same."""
        if service not in self._clients:
            session: Any = boto3.Session(
                aws_access_key_id=CREDENTIALS["AWS_ACCESS_KEY_ID"],
                aws_secret_access_key=CREDENTIALS["AWS_SECRET_ACCESS_KEY"],
                region_name=self.region,
            )
            self._clients[service] = session.client(service, endpoint_url=self.endpoint)
        return self._clients[service]

    def start(self, machine: str, request: Mapping[str, Any], *, name: str = "") -> Execution:
        """Start an execution of `load_source` or `maintain_tables`."""
        name = name or str(uuid.uuid4())
        arn = self.client("stepfunctions").start_execution(
            stateMachineArn=self.names["machines"][machine], name=name, input=json.dumps(request)
        )["executionArn"]
        return Execution(arn, name)

    def wait(self, execution: Execution, *, timeout: float = 300) -> Outcome:
        """Return how an execution ended.

        Raises:
            SandboxError: It has not ended in time.
        """
        until = time.monotonic() + timeout
        client = self.client("stepfunctions")
        while time.monotonic() < until:
            found = client.describe_execution(executionArn=execution.arn)
            if found["status"] != "RUNNING":
                output = json.loads(found["output"]) if found.get("output") else None
                return Outcome(found["status"], output, found.get("error"), found.get("cause"))
            time.sleep(0.1)
        raise SandboxError(f"{execution.name} still runs after {timeout:.0f} s")

    def run_job(
        self, job: str, arguments: Mapping[str, str], *, timeout: float = 300
    ) -> dict[str, Any]:
        """Run a Glue job to its end and return the run as GetJobRun shows it.

        Raises:
            SandboxError: It has not ended in time, or the job already has as many runs as it may.
        """
        until = time.monotonic() + timeout
        client, name = self.client("glue"), self.names["jobs"][job]
        given = {f"--{key}": value for key, value in arguments.items()}
        try:
            run_id = client.start_job_run(JobName=name, Arguments=given)["JobRunId"]
        except client.exceptions.ConcurrentRunsExceededException:
            raise SandboxError(f"{name} is already running; wait for its end") from None
        while time.monotonic() < until:
            run: dict[str, Any] = client.get_job_run(JobName=name, RunId=run_id)["JobRun"]
            if run["JobRunState"] not in ("STARTING", "RUNNING"):
                return run
            time.sleep(0.1)
        raise SandboxError(f"{run_id} of {name} still runs after {timeout:.0f} s")


def ask(endpoint: str) -> dict[str, Any]:
    """Return a sandbox's description of itself."""
    with urlopen(f"{endpoint}/_sandbox", timeout=10) as response:  # noqa: S310  loopback
        about: dict[str, Any] = json.load(response)
    return about
