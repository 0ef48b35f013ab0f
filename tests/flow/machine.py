"""An interpreter of the Amazon States Language, as far as `state_machines/` uses it.

It runs inside a task of the kernel, one per execution, and one more for each iteration of a Map.
"""

import json
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from random import Random
from typing import Any, Protocol

from tests.flow.kernel import Kernel, Task
from tests.flow.paths import PathError, evaluate, fill, find, put

# What Step Functions allows; what no state of ours comes near is `checks.MOST_STATE`.
MAX_STATE = 256 * 1024
_ARN = "arn:aws:states:eu-central-1:111122223333:execution"
_COMMON = {"Type", "Comment", "Next", "End", "InputPath", "OutputPath"}
_WORK = {"Parameters", "ResultSelector", "ResultPath", "Retry", "Catch"}
_KNOWN = {
    "Task": _COMMON | _WORK | {"Resource", "TimeoutSeconds"},
    "Map": _COMMON | (_WORK - {"Parameters"})
    | {"ItemsPath", "ItemSelector", "ItemProcessor", "MaxConcurrency"},
    "Pass": _COMMON | {"Result", "Parameters", "ResultPath"},
    "Choice": {"Type", "Comment", "Choices", "Default"},
    "Wait": _COMMON | {"Seconds", "SecondsPath"},
    "Succeed": {"Type", "Comment"},
    "Fail": {"Type", "Comment", "Error", "Cause", "ErrorPath", "CausePath"},
}  # fmt: skip


class StateError(Exception):
    """A state failed: an error's name and its cause, as a Catch sees them."""

    def __init__(self, error: str, cause: str = "") -> None:
        super().__init__(f"{error}: {cause}")
        self.error, self.cause = error, cause


class Services(Protocol):
    """What a Task calls."""

    def call(self, resource: str, payload: Any, timeout: float, execution: "Execution") -> Any:
        """Return the result, or raise StateError."""


@dataclass(eq=False)
class Execution:
    """One execution of a machine."""

    machine: str
    name: str
    given: Any
    started_at: str
    status: str = "RUNNING"
    error: str = ""
    cause: str = ""
    state: str = ""
    output: Any = None
    ended: datetime | None = None
    task: Task | None = None
    timer: Task | None = None
    branches: list[Task] = field(default_factory=list)
    # Whether a job still worked for it when it ended.
    left_job: bool = False
    # State and bytes of each input and output.
    sizes: dict[str, int] = field(default_factory=dict)

    @property
    def context(self) -> dict[str, Any]:
        """The context object, `$$`."""
        return {
            "Execution": {
                "Id": f"{_ARN}:{self.machine}:{self.name}",
                "Name": self.name,
                "Input": self.given,
                "StartTime": self.started_at,
            },
            "StateMachine": {"Name": self.machine},
        }


class Interpreter:
    """Runs executions of one definition."""

    def __init__(
        self,
        definition: Mapping[str, Any],
        services: Services,
        kernel: Kernel,
        random: Random,
        say: Callable[[str], None],
    ) -> None:
        self.definition = definition
        self._services, self._kernel, self._random, self._say = services, kernel, random, say
        _refuse_unknown(definition)

    def run(self, execution: Execution) -> Any:
        """Return the output, or raise StateError."""
        return self._walk(self.definition, execution.given, execution, execution.context)

    def _walk(
        self, machine: Mapping[str, Any], value: Any, execution: Execution, context: Any
    ) -> Any:
        name = machine["StartAt"]
        while True:
            state = machine["States"][name]
            execution.state = name
            self._measure(execution, name, value)
            self._say(f"{execution.name} enters {name}")
            value, following = self._do(state, value, execution, context)
            self._measure(execution, name, value)
            if following is None:
                return value
            name = following

    def _do(
        self, state: Mapping[str, Any], value: Any, execution: Execution, context: Any
    ) -> tuple[Any, str | None]:
        """Return a state's output, and the name of the next one."""
        kind, value = state["Type"], _filter(state.get("InputPath", "$"), value, context)
        if kind == "Succeed":
            return value, None
        if kind == "Fail":
            raise StateError(_text(state, "Error", value), _text(state, "Cause", value))
        if kind == "Choice":
            return value, self._choose(state, value)
        if kind == "Wait":
            self._kernel.sleep(state.get("Seconds") or find(state["SecondsPath"], value, context))
            return value, state.get("Next")
        if kind == "Pass":
            result = state.get("Result", fill(state.get("Parameters", value), value, context))
            value = put(state.get("ResultPath", "$"), value, result)
        else:
            work = self._task if kind == "Task" else self._map
            try:
                value = self._with_retries(work, state, value, execution, context)
            except StateError as error:
                return self._catch(state, value, error)
        return _filter(state.get("OutputPath", "$"), value, context), state.get("Next")

    def _choose(self, state: Mapping[str, Any], value: Any) -> str:
        for choice in state["Choices"]:
            if _holds(choice, value):
                return str(choice["Next"])
        if "Default" not in state:
            raise StateError("States.NoChoiceMatched")
        return str(state["Default"])

    def _with_retries(
        self,
        work: Callable[[Mapping[str, Any], Any, Execution, Any], Any],
        state: Mapping[str, Any],
        value: Any,
        execution: Execution,
        context: Any,
    ) -> Any:
        tries = [0] * len(state.get("Retry", []))
        while True:
            try:
                result = work(state, value, execution, context)
                selector = state.get("ResultSelector")
                result = fill(selector, result, context) if selector else result
                return put(state.get("ResultPath", "$"), value, result)
            except PathError as error:
                raise StateError("States.Runtime", str(error)) from None
            except StateError as error:
                delay = self._delay(state, error, tries)
                if delay is None:
                    raise
                self._say(f"{execution.name} tries again in {delay:.0f} s after {error.error}")
                self._kernel.sleep(delay)

    def _delay(self, state: Mapping[str, Any], error: StateError, tries: list[int]) -> float | None:
        for number, retrier in enumerate(state.get("Retry", [])):
            if not _matches(retrier["ErrorEquals"], error.error):
                continue
            if tries[number] >= retrier.get("MaxAttempts", 3):
                return None
            delay = (
                retrier.get("IntervalSeconds", 1) * retrier.get("BackoffRate", 2) ** tries[number]
            )
            delay = min(delay, retrier.get("MaxDelaySeconds", math.inf))
            tries[number] += 1
            full = retrier.get("JitterStrategy") == "FULL"
            return self._random.uniform(0, delay) if full else float(delay)
        return None

    @staticmethod
    def _catch(state: Mapping[str, Any], value: Any, error: StateError) -> tuple[Any, str]:
        for catcher in state.get("Catch", []):
            if _matches(catcher["ErrorEquals"], error.error):
                result = {"Error": error.error, "Cause": error.cause}
                return put(catcher.get("ResultPath", "$"), value, result), catcher["Next"]
        raise error

    def _task(
        self, state: Mapping[str, Any], value: Any, execution: Execution, context: Any
    ) -> Any:
        payload = fill(state["Parameters"], value, context) if "Parameters" in state else value
        self._measure(execution, f"{execution.state} (parameters)", payload)
        timeout = state.get("TimeoutSeconds", math.inf)
        return self._services.call(state["Resource"], payload, timeout, execution)

    def _map(
        self, state: Mapping[str, Any], value: Any, execution: Execution, context: Any
    ) -> list[Any]:
        items = find(state.get("ItemsPath", "$"), value, context)
        waiting = list(enumerate(items))
        running: dict[Task, int] = {}
        results: list[Any] = [None] * len(items)
        here = execution.state
        while waiting or running:
            while waiting and len(running) < (state.get("MaxConcurrency") or math.inf):
                index, item = waiting.pop(0)
                running[self._iteration(state, value, (index, item), execution, context)] = index
            done = self._kernel.join_any(list(running))
            assert done is not None
            index = running.pop(done)
            execution.branches.remove(done)
            if isinstance(done.error, StateError):
                for other in running:
                    self._kernel.kill(other)
                    execution.branches.remove(other)
                raise done.error
            if done.error:
                raise done.error
            results[index] = done.result
        execution.state = here
        return results

    def _iteration(
        self,
        state: Mapping[str, Any],
        value: Any,
        numbered: tuple[int, Any],
        execution: Execution,
        context: Any,
    ) -> Task:
        index, item = numbered
        inner = {**context, "Map": {"Item": {"Index": index, "Value": item}}}
        given = fill(state["ItemSelector"], value, inner) if "ItemSelector" in state else item
        task = self._kernel.spawn(
            f"{execution.name}[{index}]",
            lambda: self._walk(state["ItemProcessor"], given, execution, inner),
        )
        execution.branches.append(task)
        return task

    @staticmethod
    def _measure(execution: Execution, name: str, value: Any) -> None:
        size = len(json.dumps(value, separators=(",", ":")).encode())
        execution.sizes[name] = max(size, execution.sizes.get(name, 0))
        if size > MAX_STATE:
            raise StateError("States.DataLimitExceeded", f"{name}: {size} bytes")


def _matches(names: list[str], error: str) -> bool:
    if error in names:
        return True
    if "States.ALL" in names:
        return error not in ("States.DataLimitExceeded", "States.Runtime")
    return "States.TaskFailed" in names and error != "States.Timeout"


def _filter(path: str | None, value: Any, context: Any) -> Any:
    return {} if path is None else find(path, value, context)


def _text(state: Mapping[str, Any], name: str, value: Any) -> str:
    path = state.get(f"{name}Path")
    return str(evaluate(path, value, None)) if path else str(state.get(name, ""))


def _holds(rule: Mapping[str, Any], value: Any) -> bool:
    if "And" in rule:
        return all(_holds(each, value) for each in rule["And"])
    if "Or" in rule:
        return any(_holds(each, value) for each in rule["Or"])
    if "Not" in rule:
        return not _holds(rule["Not"], value)
    [(operator, expected)] = [(k, v) for k, v in rule.items() if k in _COMPARISONS]
    try:
        found = find(rule["Variable"], value)
    except PathError:
        if operator == "IsPresent":
            return not expected
        raise StateError("States.Runtime", f"{rule['Variable']} leads nowhere") from None
    return _COMPARISONS[operator](found, expected)


_COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "IsPresent": lambda found, expected: bool(expected),
    "IsNull": lambda found, expected: (found is None) is expected,
    "BooleanEquals": lambda found, expected: found is expected,
    "StringEquals": lambda found, expected: isinstance(found, str) and found == expected,
    "StringMatches": lambda found, expected: isinstance(found, str) and _like(found, expected),
    "NumericEquals": lambda found, expected: found == expected,
    "NumericGreaterThan": lambda found, expected: found > expected,
}


def _like(text: str, pattern: str) -> bool:
    wanted = ".*".join(re.escape(part) for part in pattern.split("*"))
    return re.fullmatch(wanted, text, re.DOTALL) is not None


def _refuse_unknown(machine: Mapping[str, Any]) -> None:
    for name, state in machine["States"].items():
        if unknown := set(state) - _KNOWN[state["Type"]]:
            raise ValueError(f"the simulation does not know {unknown} of the state {name}")
        if "ItemProcessor" in state:
            _refuse_unknown(state["ItemProcessor"])
