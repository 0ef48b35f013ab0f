"""The executions of a state machine: started, asked for and stopped by name."""

import json
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lakekit.config.timeouts import derive_timeouts
from tests.flow.machine import Execution, Interpreter, StateError

if TYPE_CHECKING:
    from tests.flow.world import World

FOLDER = Path(__file__).parents[2] / "state_machines"
TIMEOUTS = derive_timeouts(120)
# More than any schedule has a reason for.
MOST_EXECUTIONS = 500


class EndlessError(Exception):
    """Runs start runs without end."""


@cache
def definition(name: str) -> Any:
    """Return a state machine's definition: its time-outs are in it, other tokens stay."""
    text = (FOLDER / f"{name}.asl.json").read_text()
    for token, seconds in (
        ("JobTimeoutSeconds", TIMEOUTS.job_state),
        ("ExecutionTimeoutSeconds", TIMEOUTS.executions[name]),
    ):
        text = text.replace(f'"${{{token}}}"', str(seconds))
    return json.loads(text)


class Machine:
    """The executions of one state machine, by name; the port `Executions`."""

    def __init__(self, world: "World", name: str) -> None:
        self.name = name
        self.executions: dict[str, Execution] = {}
        self._world = world
        self._interpreter = Interpreter(
            definition(name), world, world.kernel, world.random, world.say
        )

    def start(self, name: str, payload: dict[str, Any]) -> bool:
        """Start an execution, as a step does."""
        with self._world.request(f"START {name}"):
            return self.begin(name, payload)

    def is_running(self, name: str) -> bool:
        """Say whether an execution is at work, as a step asks."""
        with self._world.request(f"DESCRIBE {name}"):
            found = self.executions.get(name)
            return found is None or found.status == "RUNNING"

    def begin(self, name: str, payload: dict[str, Any]) -> bool:
        """Start an execution; the same again, while it runs, is answered as if it had begun."""
        world, given = self._world, json.loads(json.dumps(payload))
        if known := self.executions.get(name):
            return known.status == "RUNNING" and known.given == given
        if len(self.executions) >= MOST_EXECUTIONS:
            world.kernel.give_up(EndlessError(f"{len(self.executions)} executions of {self.name}"))
        started_at = world.clock().isoformat(timespec="milliseconds").replace("+00:00", "Z")
        execution = Execution(self.name, name, given, started_at)
        self.executions[name] = execution
        execution.task = world.kernel.spawn(name, lambda: self._run(execution))
        execution.timer = world.kernel.spawn(
            f"time-out of {name}",
            lambda: self.stop(name, "TIMED_OUT"),
            after=TIMEOUTS.executions[self.name],
        )
        if world.chance(world.weather.stopped):
            after = world.random.uniform(0, 60 + 1.2 * world.weather.merge_seconds[1])
            world.kernel.spawn(f"stop of {name}", lambda: self.stop(name), after=after)
        return True

    def stop(self, name: str, status: str = "ABORTED") -> None:
        """End an execution from outside: its functions go on, its job is cancelled."""
        execution = self.executions[name]
        if execution.status == "RUNNING" and execution.task:
            self._world.say(f"stops {name}")
            self._world.inject(name, "stopped")
            for task in (execution.task, *execution.branches):
                self._world.kernel.kill(task)
            self._end(execution, status)

    def _run(self, execution: Execution) -> None:
        try:
            execution.output = self._interpreter.run(execution)
            self._end(execution, "SUCCEEDED")
        except StateError as error:
            execution.error, execution.cause = error.error, error.cause
            self._end(execution, "FAILED")

    def _end(self, execution: Execution, status: str) -> None:
        execution.status, execution.ended = status, self._world.clock()
        if self._world.has_job(execution.name):
            execution.left_job = True
            self._world.outlived.add(execution.name)
        if execution.timer:
            self._world.kernel.kill(execution.timer)
        self._world.say(f"{execution.name} {status} {execution.error}")
