"""An execution's history as one line per state."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

FAILURES = {
    "LambdaFunctionFailed": "lambdaFunctionFailedEventDetails",
    "LambdaFunctionTimedOut": "lambdaFunctionTimedOutEventDetails",
    "TaskFailed": "taskFailedEventDetails",
    "TaskTimedOut": "taskTimedOutEventDetails",
}
MINOR = ("Choice", "Pass")


@dataclass
class Visit:
    """One visit to one state; `attempts` counts its failures, of which the last is kept."""

    state: str
    kind: str
    entered: datetime
    about: str = ""
    left: datetime | None = None
    attempts: int = 0
    error: str = ""
    cause: str = ""
    log: Path | None = None
    function: str = ""
    recovered: bool = False

    @property
    def running(self) -> bool:
        """Say whether it has not ended, be it that it waits to try again."""
        return self.left is None

    @property
    def failed(self) -> bool:
        """Say whether its last attempt failed."""
        return bool(self.error) and not self.recovered

    def seconds(self, now: datetime) -> float:
        """Return how long it took, or has taken so far."""
        return ((self.left or now) - self.entered).total_seconds()


@dataclass
class History:
    """What the events say so far."""

    logs: Path | None = None
    visits: list[Visit] = field(default_factory=list)
    _entered: dict[int, Visit] = field(default_factory=dict)
    _times: list[datetime] = field(default_factory=list)

    @property
    def seconds(self) -> float:
        """How long it took from its first event to its last."""
        return (self._times[-1] - self._times[0]).total_seconds() if self._times else 0

    @classmethod
    def read(cls, events: Iterable[Mapping[str, Any]], logs: Path | None = None) -> "History":
        """Return the visits of all states, in the order in which they began."""
        history = cls(logs)
        for event in sorted(events, key=lambda each: each["id"]):
            history._add(event)
        return history

    def _add(self, event: Mapping[str, Any]) -> None:
        kind, identity = event["type"], event["id"]
        self._times.append(event["timestamp"])
        visit = self._entered.get(event.get("previousEventId", 0))
        if kind.endswith("StateEntered"):
            _end(visit, event["timestamp"])
            visit = _enter(event)
            self.visits.append(visit)
        elif kind.endswith("StateExited"):
            self._leave(event, visit)
        elif visit and kind == "LambdaFunctionScheduled":
            arn = event["lambdaFunctionScheduledEventDetails"]["resource"]
            visit.function = arn.split(":")[6]
        elif visit and kind in ("LambdaFunctionSucceeded", "TaskSucceeded"):
            visit.recovered = True
        elif visit and kind in FAILURES:
            self._fail(visit, event.get(FAILURES[kind], {}))
        elif kind.startswith("Execution") and kind != "ExecutionStarted":
            for open_visit in self.visits:
                open_visit.left = open_visit.left or event["timestamp"]
        if visit:
            self._entered[identity] = visit

    def _leave(self, event: Mapping[str, Any], visit: Visit | None) -> None:
        name = event["stateExitedEventDetails"]["name"]
        if visit is None or visit.state != name:
            # After a map, the event before belongs to one of its states.
            still = [each for each in self.visits if each.state == name]
            visit = next((each for each in still if each.left is None), still[-1])
        visit.left = event["timestamp"]

    def _fail(self, visit: Visit, details: Mapping[str, Any]) -> None:
        visit.attempts += 1
        visit.recovered = False
        visit.error = details.get("error", "States.Timeout")
        visit.cause, log = explain(details.get("cause", ""))
        if log and self.logs:
            visit.log = log
        elif visit.function and self.logs:
            visit.log = self.logs / "functions" / f"{visit.function}.log"


def explain(cause: str) -> tuple[str, Path | None]:
    """Return a cause for people, and the log of the job if it is one.

    Example:
        >>> explain('{"errorMessage": "no luck", "errorType": "E"}')
        ('no luck', None)
    """
    try:
        found = json.loads(cause)
    except ValueError:
        return cause, None
    if not isinstance(found, dict):
        return cause, None
    log = Path(found["LogGroupName"]) if "JobRunState" in found else None
    text = found.get("errorMessage") or found.get("ErrorMessage") or found.get("JobRunState")
    return str(text or cause), log


def _end(visit: Visit | None, time: datetime) -> None:
    """End a visit whose failure was caught: the next state has begun."""
    if visit and visit.failed and visit.left is None:
        visit.left = time


def _enter(event: Mapping[str, Any]) -> Visit:
    details = event["stateEnteredEventDetails"]
    try:
        given = json.loads(details.get("input") or "null")
    except ValueError:
        given = None
    about = given.get("endpoint", "") if isinstance(given, dict) else ""
    kind = event["type"].removesuffix("StateEntered")
    return Visit(details["name"], kind, event["timestamp"], about=str(about))
