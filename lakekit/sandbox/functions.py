"""Lambda's runtime: the repository's handlers in warm worker processes."""

import json
import threading
import time
import uuid
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lakekit.sandbox.settings import Settings
from lakekit.sandbox.workers.process import Worker, WorkerDiedError


@dataclass(frozen=True)
class Function:
    """What a function is deployed with."""

    name: str
    arn: str
    version: str
    role: str
    handler: str
    environment: dict[str, str]
    timeout: int
    memory: int


@dataclass(frozen=True)
class Answer:
    """A payload as text; `failed` says that it describes an error."""

    payload: str
    failed: bool = False


class Functions:
    """Invokes functions. A process serves one version of a function, and one call at a time."""

    def __init__(self, settings: Settings, find: Callable[[str], Function]) -> None:
        self._settings = settings
        self._find = find
        self._idle: dict[str, list[Worker]] = defaultdict(list)
        self._all: set[Worker] = set()
        self._lock = threading.Lock()

    def log(self, name: str) -> Path:
        """Return where a function's output goes."""
        return self._settings.logs / "functions" / f"{name}.log"

    def invoke(self, name: str, event: Any) -> Answer:
        """Run a function and return its answer; a missing function is a KeyError."""
        function = self._find(name)
        identity = str(uuid.uuid4())
        worker = self._take(function)
        request = {
            "name": function.name,
            "arn": function.arn,
            "version": function.version,
            "handler": function.handler,
            "memory": function.memory,
            "event": event,
            "request_id": identity,
            "deadline": time.time() + function.timeout,
        }
        try:
            answer = worker.ask(request, timeout=function.timeout)
        except TimeoutError:
            what = f"Task timed out after {function.timeout:.2f} seconds"
            return self._lost(worker, "Sandbox.Timedout", identity, what)
        except WorkerDiedError as error:
            what = f"Runtime exited with error: {error}"
            return self._lost(worker, "Runtime.ExitError", identity, what)
        with self._lock:
            self._idle[function.arn].append(worker)
        return Answer(answer["payload"], failed=answer.get("failed", False))

    def stop(self) -> None:
        """End all workers."""
        with self._lock:
            workers, self._all = self._all, set()
        for worker in workers:
            worker.kill()

    def _take(self, function: Function) -> Worker:
        with self._lock:
            idle = self._idle[function.arn]
            while idle:
                worker = idle.pop()
                if worker.alive:
                    return worker
                self._all.discard(worker)
        environment = {
            **self._settings.child_environment(function.role),
            **function.environment,
            "AWS_LAMBDA_FUNCTION_NAME": function.name,
            "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": str(function.memory),
            "TZ": ":UTC",
        }
        worker = Worker(
            "function_worker.py",
            root=self._settings.root,
            environment=environment,
            log=self.log(function.name),
        )
        with self._lock:
            self._all.add(worker)
        return worker

    def _lost(self, worker: Worker, kind: str, identity: str, what: str) -> Answer:
        with self._lock:
            self._all.discard(worker)
        message = f"RequestId: {identity} Error: {what}"
        return Answer(json.dumps({"errorType": kind, "errorMessage": message}), failed=True)
