"""Executions against recorded answers of Step Functions."""

from datetime import UTC, datetime

import pytest
from pydantic import TypeAdapter, ValidationError

from lakekit import layout
from lakekit.aws.executions import Executions, Owners
from lakekit.ports import ExecutionDetails, ExecutionInfo
from lakekit.steps.events import RunId
from tests.unit.aws.conftest import Stubs

MACHINE = "arn:aws:states:eu-central-1:123456789012:stateMachine:load_source"
EXECUTION = MACHINE.replace(":stateMachine:", ":execution:") + ":r"


def test_starts_an_execution_under_its_name(stubs: Stubs) -> None:
    answer = {"executionArn": EXECUTION, "startDate": 0}
    stubs.answer("stepfunctions", "start_execution", answer,
                 stateMachineArn=MACHINE, name="r", input='{"a": 1}')  # fmt: skip

    assert Executions(MACHINE, stubs["stepfunctions"]).start("r", {"a": 1})


def test_a_name_that_was_used_before_starts_nothing(stubs: Stubs) -> None:
    stubs.refuse("stepfunctions", "start_execution", "ExecutionAlreadyExists")

    assert not Executions(MACHINE, stubs["stepfunctions"]).start("r", {})


@pytest.mark.parametrize(
    ("status", "running"),
    [("RUNNING", True), ("SUCCEEDED", False), ("FAILED", False), ("TIMED_OUT", False),
     ("ABORTED", False), ("PENDING_REDRIVE", True)],
)  # fmt: skip
def test_an_execution_is_at_work_until_it_has_ended(
    stubs: Stubs, status: str, running: bool
) -> None:
    answer = {"executionArn": EXECUTION, "stateMachineArn": MACHINE, "status": status,
              "startDate": 0}  # fmt: skip
    stubs.answer("stepfunctions", "describe_execution", answer, executionArn=EXECUTION)

    assert Executions(MACHINE, stubs["stepfunctions"]).is_running("r") is running


def test_an_owner_that_is_no_execution_counts_as_at_work(stubs: Stubs) -> None:
    stubs.refuse("stepfunctions", "describe_execution", "ExecutionDoesNotExist")

    assert Executions(MACHINE, stubs["stepfunctions"]).is_running("r")


def test_lists_the_newest_executions_and_no_more_than_asked(stubs: Stubs) -> None:
    begun = datetime(2026, 1, 1, tzinfo=UTC)
    listed = {"executionArn": EXECUTION, "stateMachineArn": MACHINE, "startDate": begun}
    runs = [listed | {"name": "b", "status": "RUNNING"},
            listed | {"name": "a", "status": "FAILED", "stopDate": begun}]  # fmt: skip
    stubs.answer("stepfunctions", "list_executions", {"executions": runs},
                 stateMachineArn=MACHINE, maxResults=2)  # fmt: skip

    found = [*Executions(MACHINE, stubs["stepfunctions"]).newest(2)]

    assert found == [
        ExecutionInfo("b", "RUNNING", begun), ExecutionInfo("a", "FAILED", begun, begun),
    ]  # fmt: skip


def test_details_have_the_input_and_the_error(stubs: Stubs) -> None:
    answer = {"executionArn": EXECUTION, "stateMachineArn": MACHINE, "status": "FAILED",
              "startDate": 0, "input": '{"source": "s"}', "error": "E", "cause": "c"}  # fmt: skip
    stubs.answer("stepfunctions", "describe_execution", answer, executionArn=EXECUTION)

    found = Executions(MACHINE, stubs["stepfunctions"]).details("r")

    assert found == ExecutionDetails({"source": "s"}, "E", "c")


def test_a_rebuild_counts_as_at_work_and_has_a_name_that_no_execution_has(stubs: Stubs) -> None:
    # Nothing is asked: Step Functions takes no such name.
    executions = Executions(MACHINE, stubs["stepfunctions"])

    assert Owners(executions, executions).is_running(layout.REBUILD_OWNER)
    with pytest.raises(ValidationError):
        TypeAdapter(RunId).validate_python(layout.REBUILD_OWNER)
