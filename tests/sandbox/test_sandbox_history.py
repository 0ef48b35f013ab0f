"""An execution's events as one line per state."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

from rich.console import Console

from lakekit.cli import live
from lakekit.cli.history import History
from lakekit.sandbox import Execution, Outcome

START = datetime(2026, 1, 1, tzinfo=UTC)
ARN = "arn:aws:lambda:eu-west-1:1:function:fetch:7"


def events(*what: tuple) -> list[dict]:
    """(type, previous event, name or details), one second apart."""
    made = []
    for number, (kind, before, details) in enumerate(what, 1):
        event = {
            "id": number,
            "type": kind,
            "previousEventId": before,
            "timestamp": START + timedelta(seconds=number),
        }
        if kind.endswith("StateEntered"):
            event["stateEnteredEventDetails"] = details
        elif kind.endswith("StateExited"):
            event["stateExitedEventDetails"] = {"name": details}
        elif details:
            key = f"{kind[0].lower()}{kind[1:]}EventDetails"
            event[key] = details
        made.append(event)
    return made


RETRIED = events(
    ("ExecutionStarted", 0, None),
    ("TaskStateEntered", 1, {"name": "Fetch", "input": '{"endpoint": "people"}'}),
    ("LambdaFunctionScheduled", 2, {"resource": ARN}),
    ("LambdaFunctionFailed", 3, {"error": "SlowError", "cause": '{"errorMessage": "slow"}'}),
    ("LambdaFunctionScheduled", 4, {"resource": ARN}),
    ("LambdaFunctionSucceeded", 5, None),
    ("TaskStateExited", 6, "Fetch"),
)
CAUSE = json.dumps({"JobRunState": "FAILED", "ErrorMessage": "E: no", "LogGroupName": "/logs/j"})
CAUGHT = events(
    ("ExecutionStarted", 0, None),
    ("TaskStateEntered", 1, {"name": "Merge", "input": "{}"}),
    ("TaskScheduled", 2, None),
    ("TaskFailed", 3, {"error": "States.TaskFailed", "cause": CAUSE}),
    ("TaskStateEntered", 4, {"name": "Record", "input": "{}"}),
    ("TaskStateExited", 5, "Record"),
    ("FailStateEntered", 6, {"name": "Failed", "input": "{}"}),
    ("ExecutionFailed", 7, None),
)


def test_a_retried_state_is_one_line_that_recovered():
    [visit] = History.read(RETRIED, Path("/logs")).visits

    assert (visit.state, visit.about, visit.attempts, visit.failed) == ("Fetch", "people", 1, False)
    assert (visit.error, visit.cause) == ("SlowError", "slow")
    assert visit.log == Path("/logs/functions/fetch.log")
    assert visit.seconds(START) == 5


def test_a_state_that_waits_for_its_retry_still_runs():
    [visit] = History.read(RETRIED[:4], Path("/logs")).visits

    assert (visit.running, visit.failed) == (True, True)


def test_a_caught_failure_ends_its_state_and_shows_the_jobs_error_and_log():
    merge, record, failed = History.read(CAUGHT, Path("/logs")).visits

    assert (merge.running, merge.failed, merge.cause) == (False, True, "E: no")
    assert merge.log == Path("/logs/j")
    assert (record.failed, failed.running) == (False, False)


class Ended:
    """A connection to an execution that has ended."""

    folder = Path("/")

    def client(self, service):
        return self

    def describe_execution(self, **_):
        return {"status": "FAILED"}

    def get_execution_history(self, **_):
        return {"events": CAUGHT}

    def wait(self, execution):
        return Outcome("FAILED", error="States.TaskFailed", cause="{}")


def test_the_view_shows_states_error_cause_and_log_on_a_terminal_and_without():
    for terminal in (True, False):
        console = Console(record=True, force_terminal=terminal, width=90)

        outcome = live.watch(Ended(), Execution("arn", "name"), console=console)

        text = console.export_text()
        assert outcome.status == "FAILED"
        for part in ("Merge", "Record", "FAILED: States.TaskFailed", "E: no", "log: /logs/j"):
            assert part in text
