"""Executions of a state machine, by their names."""

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from lakekit import layout
from lakekit.aws.errors import translated
from lakekit.errors import InvalidStepInputError
from lakekit.ports import ExecutionDetails, ExecutionInfo

if TYPE_CHECKING:
    from mypy_boto3_stepfunctions import SFNClient


RUNNING = ("RUNNING", "PENDING_REDRIVE")


class Executions:
    """Starts and finds the executions of one state machine."""

    def __init__(self, machine_arn: str, client: "SFNClient") -> None:
        self._machine_arn = machine_arn
        self._client = client

    def start(self, name: str, payload: dict[str, Any]) -> bool:
        """Start an execution; false if one of that name was there before."""
        try:
            with translated(f"execution {name}"):
                self._client.start_execution(
                    stateMachineArn=self._machine_arn, name=name, input=json.dumps(payload)
                )
        except self._client.exceptions.ExecutionAlreadyExists:
            return False
        return True

    def is_running(self, name: str) -> bool:
        """Say whether an execution is at work; one that is unknown counts as such."""
        if not self._machine_arn:
            return True
        try:
            with translated(f"execution {name}"):
                found = self._client.describe_execution(executionArn=self._arn(name))
        except self._client.exceptions.ExecutionDoesNotExist:
            return True
        return found["status"] in RUNNING

    def newest(self, limit: int) -> Iterator[ExecutionInfo]:
        """Yield executions, the newest first, at most so many."""
        pages = self._client.get_paginator("list_executions").paginate(
            stateMachineArn=self._machine_arn,
            PaginationConfig={"MaxItems": limit, "PageSize": min(limit, 1000)},
        )
        with translated("executions"):
            for page in pages:
                for each in page["executions"]:
                    yield ExecutionInfo(
                        each["name"], each["status"], each["startDate"], each.get("stopDate")
                    )

    def status(self, name: str) -> str:
        """Return the status of one execution, as Step Functions calls it.

        Raises:
            InvalidStepInputError: There is no such execution.
        """
        try:
            with translated(f"execution {name}"):
                return self._client.describe_execution(executionArn=self._arn(name))["status"]
        except self._client.exceptions.ExecutionDoesNotExist:
            raise InvalidStepInputError(f"there is no run {name}") from None

    def events(self, name: str) -> list[Any]:
        """Return the history of one execution, as Step Functions has it."""
        pages = self._client.get_paginator("get_execution_history").paginate(
            executionArn=self._arn(name)
        )
        with translated(f"execution {name}"):
            return [event for page in pages for event in page["events"]]

    def details(self, name: str) -> ExecutionDetails:
        """Return what is known of one execution."""
        with translated(f"execution {name}"):
            found = self._client.describe_execution(executionArn=self._arn(name))
        return ExecutionDetails(
            json.loads(found.get("input") or "{}"),
            found.get("error"),
            found.get("cause"),
            json.loads(found.get("output") or "null"),
        )

    def _arn(self, name: str) -> str:
        return f"{self._machine_arn.replace(':stateMachine:', ':execution:')}:{name}"


class Owners:
    """Who holds leases: runs of `load_source` and of `maintain_tables`, and rebuilds."""

    def __init__(self, loads: Executions, maintenance: Executions) -> None:
        self._loads = loads
        self._maintenance = maintenance

    def is_running(self, owner: str) -> bool:
        """Say whether the owner of a lease is still at work; a rebuild counts as such."""
        if owner == layout.REBUILD_OWNER:
            return True
        if owner.startswith(layout.MAINTENANCE):
            return self._maintenance.is_running(owner.removeprefix(layout.MAINTENANCE))
        return self._loads.is_running(owner)
