"""A sandbox for tests, the demo and the command line: starts the process and ends it."""

import json
import os
import select
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

from lakekit.sandbox.connection import Connection, SandboxError
from lakekit.sandbox.template import read_assembly, synthesise
from lakekit.spark.session.java import provide_java

START_SECONDS = 120
STOP_SECONDS = 20


class Sandbox(Connection):
    """AWS on one machine, as a context manager. Its data is in memory and lost at the end.

    Args:
        root: Where Lakekit's own files are: `lakekit.project.product.root()`.
        project: The project whose environment `dev` it is.
        folder: Logs and the synthesised templates.
        config: Folder of sources and contracts in place of the project's.
        base_urls: Address of a source in place of its own.
        secrets: Values for Secrets Manager, by name.
        cold: A new Spark process for every job run.
        wait_scale: Factor on the waits of state machines and queues.
        port: Port on loopback; 0 takes a free one.
        progress: Takes what it does while it starts.
    """

    def __init__(  # noqa: PLR0913  options by name
        self,
        *,
        root: Path,
        project: Path,
        folder: Path,
        config: Path | None = None,
        base_urls: Mapping[str, str] | None = None,
        secrets: Mapping[str, str] | None = None,
        cold: bool = False,
        wait_scale: float = 1.0,
        port: int = 0,
        progress: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._root, self._project = root.resolve(), project.resolve()
        self._progress = progress
        self.folder = folder.resolve()
        self._given = {
            "config": str((config or self._project / "config").resolve()),
            "base_urls": dict(base_urls or {}),
            "secrets": dict(secrets or {}),
            "cold": cold,
            "wait_scale": wait_scale,
            "port": port,
        }
        self._process: subprocess.Popen[str] | None = None

    def __enter__(self) -> "Sandbox":
        provide_java()
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / "logs").mkdir(exist_ok=True)
        self._progress("making the templates of dev; up to a minute, after each change")
        assembly = synthesise(self._root, self._project, self.folder / "templates")
        self._progress("building their resources on this machine")
        try:
            super().__init__(self._launch(assembly))
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    @property
    def alive(self) -> bool:
        """Say whether the sandbox's process runs."""
        return self._process is not None and self._process.poll() is None

    def stop(self) -> None:
        """End the sandbox and all of its processes."""
        process, self._process = self._process, None
        if process is None or process.stdin is None or process.stdout is None:
            return
        process.stdin.close()
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        process.stdout.close()

    def _launch(self, assembly: Path) -> dict[str, Any]:
        log = self.folder / "logs" / "server.log"
        found = read_assembly(assembly)
        settings = {
            **self._given,
            "root": str(self._root),
            "folder": str(self.folder),
            "assembly": str(assembly.resolve()),
            "account": found.account,
            "region": found.region,
        }
        environment = {k: v for k, v in os.environ.items() if not k.startswith(("AWS_", "MOTO_"))}
        with log.open("ab") as stream:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "lakekit.sandbox.server"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=stream,
                text=True,
                env=environment,
            )
        return self._read_description(settings, log)

    def _read_description(self, settings: dict[str, Any], log: Path) -> dict[str, Any]:
        process = self._process
        if process is None or process.stdin is None or process.stdout is None:
            raise SandboxError("the sandbox has no process")
        process.stdin.write(json.dumps(settings) + "\n")
        process.stdin.flush()
        ready, _, _ = select.select([process.stdout], [], [], START_SECONDS)
        line = process.stdout.readline() if ready else ""
        about: dict[str, Any] = json.loads(line) if line else {"error": "it does not answer"}
        if "error" in about:
            raise SandboxError(f"the sandbox does not start: {about['error']}\nSee {log}")
        return about
