"""An execution's events as one line per state."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

from rich.console import Console

from lakekit.cli.watch import live
from lakekit.cli.watch.history import History
from lakekit.ports import ExecutionDetails

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
    """An execution that has ended."""

    def status(self, name):
        return "FAILED"

    def events(self, name):
        return CAUGHT

    def details(self, name):
        return ExecutionDetails({}, "States.TaskFailed", "{}")


def test_the_view_shows_states_error_cause_and_log_on_a_terminal_and_without():
    for terminal in (True, False):
        console = Console(record=True, force_terminal=terminal, width=90)

        outcome = live.watch(live.Watched(Ended(), "name", logs=Path("/")), console=console)

        text = console.export_text()
        assert (outcome.status, outcome.seconds) == ("FAILED", 7)
        for part in ("Merge", "Record", "FAILED: States.TaskFailed", "E: no", "log: /logs/j"):
            assert part in text


class AtWork(Ended):
    """An execution that ends when it is looked at for the third time."""

    looks = 0

    def status(self, name):
        self.looks += 1
        return "RUNNING" if self.looks < 3 else "SUCCEEDED"

    def events(self, name):
        return RETRIED


def test_the_view_says_how_far_a_run_is_once_and_on_a_terminal_below_its_states():
    for terminal in (True, False):
        console = Console(record=True, force_terminal=terminal, width=80)
        watched = live.Watched(AtWork(), "name", lambda: ["extracting people: 3 pages"], None, 0)

        assert live.watch(watched, console=console).status == "SUCCEEDED"

        assert terminal or console.export_text().count("extracting people: 3 pages") == 1
