"""The process of a contestant: asked by lines of JSON, and stopped in between."""

import json
import os
import select
import signal
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

PATIENCE = 3600.0


class ContestantError(Exception):
    """A contestant failed, with what it said."""


@dataclass
class Worker:
    """The process of one contestant."""

    name: str
    process: subprocess.Popen[str]
    runs: list[dict[str, Any]] = field(default_factory=list)
    about: str = ""
    error: str = ""
    guard: subprocess.Popen[bytes] = field(init=False)

    def __post_init__(self) -> None:
        # A stopped process would not notice that the benchmark has ended, for whatever reason.
        self.guard = subprocess.Popen(  # noqa: S603  our own process group
            ["/bin/sh", "-c", f"read _; kill -KILL -{self.process.pid}"],
            stdin=subprocess.PIPE, start_new_session=True,
        )  # fmt: skip

    def ask(self, do: str, patience: float = PATIENCE, **arguments: Any) -> Any:
        """Send one command and wait for its answer; between commands the process is stopped."""
        self._signal(signal.SIGCONT)
        try:
            return self._ask(do, patience, arguments)
        finally:
            self._signal(signal.SIGSTOP)

    def _signal(self, number: int) -> None:
        """Send a signal to the process and its JVM, if they have not ended."""
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, number)

    def _ask(self, do: str, patience: float, arguments: dict[str, Any]) -> Any:
        pipe_in, pipe_out = self.process.stdin, self.process.stdout
        assert pipe_in is not None and pipe_out is not None  # noqa: S101  opened as pipes
        ready: Sequence[Any] = ()
        try:
            pipe_in.write(json.dumps({"do": do, **arguments}) + "\n")
            pipe_in.flush()
            ready, _, _ = select.select([pipe_out], [], [], patience)
            line = pipe_out.readline() if ready else ""
        except BrokenPipeError:
            line = ""
        if not line:
            why = "its process ended" if self.process.poll() is not None else "no answer in time"
            raise ContestantError(f"{do}: {why}")
        answer = json.loads(line)
        if not answer["ok"]:
            raise ContestantError(f"{do}: {answer['error']}")
        return answer["value"]

    def end(self) -> None:
        """Stop the process and the JVM that belongs to it."""
        try:
            self.ask("close", patience=60)
            self._signal(signal.SIGCONT)
            self.process.communicate(timeout=60)
        except (ContestantError, subprocess.TimeoutExpired, ValueError):
            self._signal(signal.SIGKILL)
            self.process.wait()
        finally:
            self.guard.kill()
            self.guard.communicate()
