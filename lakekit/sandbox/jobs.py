"""Glue's job runtime: the repository's scripts on local Spark, warm or in a process per run."""

import threading
import time
import uuid
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lakekit.sandbox import spark_conf
from lakekit.sandbox.settings import Settings, role_name
from lakekit.sandbox.workers.process import Worker, WorkerDiedError
from lakekit.spark.session.jars import PACKAGES, S3_PACKAGES, class_path

ACTIVE = ("STARTING", "RUNNING")
WORKERS = ("WorkerType", "NumberOfWorkers", "ExecutionClass")
MESSAGE_LENGTH = 2048


class TooManyRunsError(Exception):
    """The job has as many runs as `MaxConcurrentRuns` allows."""


@dataclass
class JobRun:
    """One run of a job, as GetJobRun shows it."""

    job: str
    role: str
    script: Path
    arguments: dict[str, str]
    timeout: int
    log: Path
    workers: dict[str, Any]
    id: str = field(default_factory=lambda: f"jr_{uuid.uuid4().hex * 2}")
    state: str = "STARTING"
    error: str | None = None
    started: float = field(default_factory=time.time)
    completed: float | None = None

    def describe(self) -> dict[str, Any]:
        """Return the run in Glue's words; times are seconds since 1970."""
        until = self.completed or time.time()
        shown: dict[str, Any] = {
            "Id": self.id,
            "JobName": self.job,
            "Attempt": 0,
            "JobRunState": self.state,
            "Arguments": self.arguments,
            **self.workers,
            **self._capacity(),
            "StartedOn": self.started,
            "LastModifiedOn": until,
            "ExecutionTime": int(until - self.started),
            "Timeout": self.timeout,
            "GlueVersion": "5.1",
            "LogGroupName": str(self.log),
        }
        if self.completed:
            shown["CompletedOn"] = self.completed
        if self.error:
            shown["ErrorMessage"] = self.error[:MESSAGE_LENGTH]
        return shown

    def _capacity(self) -> dict[str, float]:
        """Return the DPUs of its workers, as Glue does: what the run would cost there."""
        number, kind = self.workers.get("NumberOfWorkers", 0), self.workers.get("WorkerType", "")
        is_known = kind.startswith("G.") and kind[2:-1].isdigit()
        return {"MaxCapacity": float(number * int(kind[2:-1]))} if is_known else {}


class Jobs:
    """Runs jobs one after another: a laptop has memory for one Spark."""

    def __init__(self, settings: Settings, scripts: dict[str, Path]) -> None:
        self._settings = settings
        self._scripts = scripts
        self._runs: dict[str, JobRun] = {}
        self._turn = threading.Lock()
        self._worker: Worker | None = None
        self._conf: dict[str, str] = {}
        self._now: JobRun | None = None

    @property
    def worker_pid(self) -> int | None:
        """Return the process that runs jobs, if there is one."""
        worker = self._worker
        return worker.pid if worker and worker.alive else None

    def start(self, job: dict[str, Any], request: dict[str, Any]) -> JobRun:
        """Queue a run of a job, which is given as GetJob shows it.

        Its workers are noted: this machine has one.
        """
        name = job["Name"]
        active = [r for r in self._runs.values() if r.job == name and r.state in ACTIVE]
        if len(active) >= job.get("ExecutionProperty", {}).get("MaxConcurrentRuns", 1):
            raise TooManyRunsError(name)
        run = JobRun(
            job=name,
            role=role_name(job["Role"]),
            script=self._script(job["Command"]["ScriptLocation"]),
            arguments={**job.get("DefaultArguments", {}), **request.get("Arguments", {})},
            timeout=int(job.get("Timeout") or 2880),
            log=self._settings.logs / "jobs" / name,
            workers={key: value for key in WORKERS if (value := request.get(key, job.get(key)))},
        )
        run.log = run.log / f"{run.id[:19]}.log"
        self._runs[run.id] = run
        threading.Thread(target=self._run, args=(run,), daemon=True).start()
        return run

    def get(self, job: str, run_id: str) -> JobRun:
        """Return a run; a missing one is a KeyError."""
        run = self._runs[run_id]
        if run.job != job:
            raise KeyError(run_id)
        return run

    def all(self, job: str) -> list[JobRun]:
        """Return the runs of a job, newest first."""
        return [run for run in reversed(self._runs.values()) if run.job == job]

    def stop_run(self, run: JobRun) -> None:
        """Stop a run, and the worker that runs it."""
        if run.state in ACTIVE:
            self._end(run, "STOPPED", None)
            if self._now is run and self._worker:
                self._worker.kill()

    def stop(self) -> None:
        """End the worker."""
        if self._worker:
            self._worker.kill()

    def _script(self, location: str) -> Path:
        # A script that no template has is given by its path.
        return self._scripts[location] if location in self._scripts else Path(location)

    def _run(self, run: JobRun) -> None:
        with self._turn:
            if run.state != "STARTING":
                return
            self._now, run.state = run, "RUNNING"
            try:
                self._ask(run)
            except TimeoutError:
                self._end(run, "TIMEOUT", f"Job run exceeded its {run.timeout} minutes")
            except WorkerDiedError as death:
                self._end(run, "FAILED", f"The Spark process of this run ended with {death}")
            except Exception as error:
                self._end(run, "FAILED", f"{type(error).__name__}: {error}")
            finally:
                self._now = None
                if self._settings.cold:
                    self.stop()

    def _ask(self, run: JobRun) -> None:
        conf = {
            **spark_conf.deployed(run.arguments.get("--conf", "")),
            **spark_conf.local(self._settings, class_path(PACKAGES + S3_PACKAGES)),
        }
        run.log.parent.mkdir(parents=True, exist_ok=True)
        request = {
            "script": str(run.script),
            "arguments": _command_line(run),
            "conf": conf,
            "role": run.role,
            "log": str(run.log),
        }
        answer = self._warm(conf, run.role).ask(request, timeout=run.timeout * 60)
        self._end(run, "FAILED" if answer["error"] else "SUCCEEDED", answer["error"])

    def _warm(self, conf: dict[str, str], role: str) -> Worker:
        worker = self._worker
        if worker and worker.alive and conf == self._conf:
            return worker
        if worker:
            worker.kill()
        environment = {**self._settings.child_environment(role), "TZ": ":UTC"}
        log = self._settings.logs / "jobs" / "worker.log"
        self._worker, self._conf = (
            Worker("job_worker.py", root=self._settings.root, environment=environment, log=log),
            conf,
        )
        return self._worker

    def _end(self, run: JobRun, state: str, error: str | None) -> None:
        if run.state in ACTIVE:
            run.completed, run.error = time.time(), error
            run.state = state


def _command_line(run: JobRun) -> list[str]:
    arguments = {"--JOB_NAME": run.job, "--JOB_RUN_ID": run.id, **run.arguments}
    return [part for pair in arguments.items() for part in pair]
