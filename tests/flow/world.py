"""An environment without AWS: bucket, leases, tables, functions, jobs, executions, notices."""

import gzip
import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

from lakekit import layout
from lakekit.aws.executions import Owners
from lakekit.aws.lease import Leases
from lakekit.errors import StorageUnavailableError
from lakekit.ports import Flow
from lakekit.runs import claim_landings
from tests.fakes import MemoryObjectStore
from tests.flow.catalog import Table
from tests.flow.executions import TIMEOUTS, Machine
from tests.flow.functions import FUNCTIONS
from tests.flow.jobs import JOBS
from tests.flow.kernel import Kernel, Killed, Task
from tests.flow.lake import BROKEN_TABLES, OTHER, Records
from tests.flow.machine import Execution, StateError
from tests.flow.store import SlowStore
from tests.flow.weather import Weather
from tests.golden.releases import objects

BEGIN = datetime(2026, 1, 1, tzinfo=UTC)
MACHINES = ("load_source", "maintain_tables")
# What Glue says of a job that it has lost.
LOST = "Command failed with exit code 1"
# A function ends so many seconds before its state does.
_SPARE = 5


@dataclass(frozen=True)
class Notice:
    """A mail to the people who run this."""

    run_id: str
    subject: str
    message: str
    at: float


class World:
    """Everything that a schedule happens in."""

    def __init__(self, seed: int, weather: Weather, *, trace: bool = False) -> None:
        self.random, self.weather = Random(seed), weather
        claim_landings.MAX_LANDINGS = weather.landings_at_once
        self.kernel = Kernel(Random(seed + 1))
        self.trace: list[str] | None = [] if trace else None
        self.plain = MemoryObjectStore(self.clock)
        self.store = SlowStore(self.plain, self.request, self.written, weather.page)
        self._releases = Random(seed + 3)
        self.machines = {name: Machine(self, name) for name in MACHINES}
        loads, maintenance = self.machines["load_source"], self.machines["maintain_tables"]
        owners = Owners(loads, maintenance)
        lifetime = timedelta(seconds=TIMEOUTS.lease)
        leases = Leases(self.store, self.clock, lifetime=lifetime, is_running=owners.is_running)
        self.flow = Flow(self.store, leases, loads, self.clock)
        self.tables: dict[str, Table] = {}
        self.records = Records(Random(seed + 2), weather)
        self.notices: list[Notice] = []
        # Errors that chance has injected, by the run or file that met them.
        self.injected: dict[str, Counter[str]] = defaultdict(Counter)
        # Runs whose job went on after they had given it up.
        self.outlived: set[str] = set()
        self.running_jobs: Counter[str] = Counter()
        # The jobs that work for a run, the oldest first.
        self.jobs_of: dict[tuple[str, str], list[Task]] = defaultdict(list)
        self.job_runs: Counter[str] = Counter()
        self.calls: Counter[str] = Counter()

    def clock(self) -> datetime:
        """Return the virtual time."""
        return BEGIN + timedelta(seconds=self.kernel.now)

    def at_work(self, owner: str) -> bool:
        """Say whether the owner of a lease is at work, without asking for it."""
        machine = self.machines["load_source"]
        if owner.startswith(layout.MAINTENANCE) and owner not in machine.executions:
            machine = self.machines["maintain_tables"]
        found = machine.executions.get(owner.removeprefix(layout.MAINTENANCE))
        return owner == layout.REBUILD_OWNER or found is None or found.status == "RUNNING"

    def say(self, text: str) -> None:
        """Add a line to the trace."""
        if self.trace is not None:
            name = self.kernel.current.name
            self.trace.append(f"{self.kernel.now:10.2f}  {name[:44]:44}  {text}")

    def chance(self, rate: float) -> bool:
        """Say whether something happens that happens at a rate."""
        return rate > 0 and self.random.random() < rate

    def metadata(self, table: str) -> Any:
        """Return a table's metadata, as the catalog does."""
        with self.request(f"TABLE {table}"):
            found = self.tables.get(table)
            if found and self.weather.broken == "schema" and table in BROKEN_TABLES:
                self.inject(self.kernel.current.notes["run"], "SchemaMismatchError")
                return {**found.metadata(), "schemas": Table(OTHER).metadata()["schemas"]}
            return found.metadata() if found else None

    def lines(self, address: str) -> list[bytes]:
        """Return the lines of a landed object, as Spark reads them."""
        body = self.plain.get(address.removeprefix("memory://"))
        return (gzip.decompress(body) if address.endswith(".gz") else body).splitlines()

    @contextmanager
    def request(self, what: str) -> Iterator[None]:
        """One request to a service: it takes time before and after what it does."""
        task = self.kernel.current
        self.kernel.sleep(self._latency())
        self._fault(task, what)
        self.say(what)
        task.notes["calls"] = task.notes.get("calls", 0) + 1
        yield
        self._fault(task, f"answer to {what}")
        if self.weather.pace != "even":
            self.kernel.sleep(self._latency())

    def written(self, body: bytes) -> bytes:
        """Return a document as a release writes it, of which two are at work at once."""
        is_document = body.startswith(b"{")
        if not is_document or self._releases.random() >= self.weather.next_release:
            return body
        value = json.loads(body)
        for each in [*objects(value)]:
            each["of_the_next_release"] = {"a": [1]}
        return json.dumps(value).encode()

    def _latency(self) -> float:
        if self.weather.pace == "even":
            return 0.05
        if self.weather.pace == "slow" and self.chance(0.03):
            return self.random.uniform(2, 20)
        if self.weather.pace == "stalls" and self.chance(0.01):
            return self.random.choice((5, 50, 500))
        return self.random.expovariate(20)

    def _fault(self, task: Task, what: str) -> None:
        run_id = task.notes.get("run")
        if run_id is None:
            return
        if self.chance(self.weather.crash):
            self.say(f"dies at {what}")
            task.killed = True
            raise Killed
        if self.chance(self.weather.unavailable):
            self.say(f"StorageUnavailableError at {what}")
            self.inject(run_id, "StorageUnavailableError")
            raise StorageUnavailableError(what)

    def inject(self, run_id: str, error: str) -> None:
        """Note that chance has let something fail."""
        self.injected[run_id][error] += 1
        if self.kernel.current.notes.get("job"):
            self.injected[run_id]["job"] += 1

    def work(self, name: str, run_id: str, what: Callable[[], Any], *, after: float = 0) -> Task:
        """Begin a process that faults can meet, on behalf of a run."""
        task = self.kernel.spawn(name, what, after=after)
        task.notes |= {"run": run_id, "job": self.kernel.current.notes.get("job")}
        return task

    # What the states of a machine call.

    def call(self, resource: str, payload: Any, timeout: float, execution: Execution) -> Any:
        """Do what a Task state asks for."""
        if resource.endswith("Function}"):
            return self._function(_snake(resource, "Function"), payload, timeout, execution)
        if resource.endswith("glue:startJobRun.sync"):
            return self._job(payload, timeout, execution)
        if resource.endswith("sns:publish"):
            self.kernel.sleep(0.1)
            notice = Notice(execution.name, payload["Subject"], payload["Message"], self.kernel.now)
            self.notices.append(notice)
            return {}
        assert resource.endswith("states:startExecution"), resource
        self.kernel.sleep(0.1)
        self.machines[_snake(payload["StateMachineArn"], "StateMachine")].begin(
            payload["Name"], payload["Input"]
        )
        return {}

    def _function(self, step: str, payload: Any, timeout: float, execution: Execution) -> Any:
        run_id = execution.name
        if self.chance(self.weather.throttled):
            self.inject(run_id, "Lambda.TooManyRequestsException")
            raise StateError("Lambda.TooManyRequestsException")
        function = FUNCTIONS[step]
        event = json.loads(json.dumps(payload))
        task = self.work(f"{run_id} {step}", run_id, lambda: function(self, event))
        lost = self.chance(self.weather.answer_lost)
        patience = self.random.choice((0.1, 1, 3)) if lost else timeout - _SPARE
        try:
            ended = self.kernel.join(task, patience)
        finally:
            if not task.done:  # whoever has stopped to wait for it
                self._limit(task, timeout - _SPARE - patience)
        self.calls[step] = max(self.calls[step], task.notes.get("calls", 0))
        if lost:
            self.say(f"nobody hears the answer of {step}")
            self.inject(run_id, "Lambda.SdkClientException")
            raise StateError("Lambda.SdkClientException")
        if not ended:
            self.inject(run_id, "Sandbox.Timedout")
            raise StateError("Sandbox.Timedout")
        return self._answer(task, run_id)

    def _limit(self, task: Task, seconds: float) -> None:
        """End a function that is at work for too long."""

        def wait() -> None:
            if not self.kernel.join(task, seconds):
                self.kernel.kill(task)

        self.kernel.spawn(f"time-out of {task.name}", wait)

    def _answer(self, task: Task, run_id: str) -> Any:
        if isinstance(task.error, Killed):
            self.inject(run_id, "Runtime.ExitError")
            raise StateError("Runtime.ExitError")
        if isinstance(task.error, Exception):
            name, text = type(task.error).__name__, str(task.error)
            self.say(f"{name}: {text}")
            raise StateError(name, json.dumps({"errorMessage": text, "errorType": name}))
        return json.loads(json.dumps(task.result))

    def _job(self, payload: Any, timeout: float, execution: Execution) -> Any:
        job, run_id = _snake(payload["JobName"], "Job"), execution.name
        self.kernel.sleep(1)
        if self.running_jobs[job] >= self.weather.jobs_at_once:
            self.inject(run_id, "Glue.ConcurrentRunsExceededException")
            raise StateError("Glue.ConcurrentRunsExceededException")
        if self.chance(self.weather.job_refused):
            self.inject(run_id, "Glue.InternalServiceException")
            raise StateError("Glue.InternalServiceException")
        arguments = {key.removeprefix("--"): each for key, each in payload["Arguments"].items()}
        task = self.work(
            f"{run_id} {job}", run_id, lambda: self._job_run(job, run_id, arguments), after=30
        )
        task.notes["job"] = True
        self.jobs_of[run_id, job].append(task)
        if self.chance(self.weather.job_start_lost):
            self.say(f"nobody hears that {job} has begun")
            self.inject(run_id, "Glue.SdkClientException")
            raise StateError("Glue.SdkClientException")
        try:
            ended = self.kernel.join(task, timeout)
        except Killed:
            self._cancel(task)
            raise
        if not ended:
            self._cancel(task)
            self.inject(run_id, "States.Timeout")
            raise StateError("States.Timeout")
        if isinstance(task.error, Killed):
            late = task.notes.get("late", False)
            self.injected[run_id].update(("late" if late else "States.TaskFailed", "job"))
            raise _failed_job(job, "TIMEOUT" if late else "FAILED", LOST)
        if task.error is not None:
            raise _failed_job(job, "FAILED", f"{type(task.error).__name__}: {task.error}")
        return {"Id": f"jr_{self.job_runs[job]}", "JobName": job}

    def _job_run(self, job: str, run_id: str, arguments: dict[str, str]) -> None:
        self.running_jobs[job] += 1
        self.job_runs[job] += 1
        task = self.kernel.current
        if self.chance(self.weather.job_dies):
            death = self.random.uniform(0, 1.5 * self.weather.merge_seconds[1])
            self.kernel.spawn(f"death of {task.name}", lambda: self.kernel.kill(task), after=death)

        def time_out() -> None:
            task.notes["late"] = True
            self.kernel.kill(task)

        # What nobody stops Glue ends.
        end = self.kernel.spawn(f"end of {task.name}", time_out, after=TIMEOUTS.job)
        try:
            self.wait_for_earlier_runs(job, run_id)
            JOBS[job](self, run_id, arguments["source"])
        finally:
            self.kernel.kill(end)
            self.running_jobs[job] -= 1

    def wait_for_earlier_runs(self, job: str, run_id: str) -> None:
        """Wait for earlier job runs of the same run, as a job does."""
        for other in self.jobs_of[run_id, job]:
            if other is self.kernel.current:
                return
            self.kernel.join(other)

    def has_job(self, run_id: str) -> bool:
        """Say whether a job still works for a run."""
        return any(
            not task.done for (name, _), tasks in self.jobs_of.items() if name == run_id
            for task in tasks
        )  # fmt: skip

    def _cancel(self, task: Task) -> None:
        """What Step Functions does to the job of a state that it gives up: it tries to stop it."""
        if self.chance(self.weather.job_outlives):
            self.outlived.add(task.notes["run"])
        else:
            self.kernel.kill(task)


def _failed_job(job: str, state: str, message: str) -> StateError:
    cause = {"ErrorMessage": message, "JobName": job, "JobRunState": state}
    return StateError("States.TaskFailed", json.dumps(cause, separators=(",", ":")))


def _snake(token: str, kind: str) -> str:
    """Return the name of a step, job or machine from its token in a definition.

    >>> _snake("${StartRunFunction}", "Function")
    'start_run'
    """
    words = token.removeprefix("${").removesuffix(kind + "}")
    return "".join(f"_{c.lower()}" if c.isupper() else c for c in words).lstrip("_")


def waits_for_person(world: World) -> list[str]:
    """Return the manifests of landings that have waited for a person so long that one sees it."""
    prefix, edge = layout.index_prefix("blocked"), world.clock() - timedelta(minutes=5)
    found = [
        info.key.removeprefix(prefix).split("/")
        for info in world.plain.list(prefix)
        if info.modified and info.modified <= edge
    ]
    return [f"raw/{source}/{table}/{stamp}/manifest.json" for source, table, stamp in found]
