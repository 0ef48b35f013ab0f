"""A child process that takes JSON requests on its standard input and answers one by one."""

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lakekit.project.product import search_path


class WorkerDiedError(Exception):
    """The process ended before it answered."""

    def __init__(self, code: int) -> None:
        super().__init__(f"signal {-code}" if code < 0 else f"exit code {code}")


class Worker:
    """One process, in a session of its own so that its children end with it.

    Args:
        script: The file in this folder that answers the requests.
        root: Where the process runs, and where it imports from.
        environment: All of its variables, but for Python's own.
        log: Takes its output.
    """

    def __init__(self, script: str, *, root: Path, environment: Mapping[str, str], log: Path):
        log.parent.mkdir(parents=True, exist_ok=True)
        program = Path(__file__).with_name("serve.py")
        with log.open("ab") as stream:
            # -P: the worker's own folder is no place to import from.
            self._process = subprocess.Popen(  # noqa: S603  our own program
                [sys.executable, "-P", str(program), script],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=stream,
                cwd=root,
                env={**environment, "PYTHONPATH": search_path(root), "PYTHONUNBUFFERED": "1"},
                start_new_session=True,
            )
        self._unread = b""

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    def ask(self, request: dict[str, Any], *, timeout: float) -> dict[str, Any]:
        """Return the answer to one request.

        Raises:
            TimeoutError: No answer in time; the process is killed.
            WorkerDiedError: The process ended.
        """
        until = time.monotonic() + timeout
        stdin, stdout = self._process.stdin, self._process.stdout
        if stdin is None or stdout is None:
            raise ValueError("a worker has pipes")
        with contextlib.suppress(BrokenPipeError):
            stdin.write(json.dumps(request).encode() + b"\n")
            stdin.flush()
        while b"\n" not in self._unread:
            ready, _, _ = select.select([stdout], [], [], max(0.0, until - time.monotonic()))
            if not ready:
                self.kill()
                raise TimeoutError
            data = os.read(stdout.fileno(), 1 << 16)
            if not data:
                self.kill()
                raise WorkerDiedError(self._process.wait())
            self._unread += data
        line, _, self._unread = self._unread.partition(b"\n")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def kill(self) -> None:
        """End the process and all that it started."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()
