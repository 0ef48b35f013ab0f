"""All contestants of a workload in one run: same data, same machine, same JVM settings.

Each has a process of its own that lives through the workload. A batch goes round all of them
before the next one starts. The order changes with the batch; the first batches warm up.
"""

import os
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.check import agrees_with_model, check
from benchmarks.contestants import CONTESTANTS
from benchmarks.generator import Dataset, build
from benchmarks.processes import ContestantError, Worker
from benchmarks.workloads import MODEL_LIMIT, Workload
from lakekit.spark.session.session import CATALOG_TABLES

ROOT = Path(__file__).absolute().parent.parent


@dataclass(frozen=True)
class Course:
    """Where the benchmark works, and the settings that all contestants share."""

    root: Path
    class_path: str
    python: dict[bool, Path]
    delta_jars: str = ""
    master: str = "local[2]"
    memory: str = "3g"
    settings: dict[str, str] = field(default_factory=dict)

    def start(self, name: str, data: Dataset) -> Worker:
        """Start a contestant's process in a new folder."""
        folder = self.root / "work" / data.folder.name / name
        empty(folder)
        with closing(sqlite3.connect(folder / "catalog.db")) as connection:
            connection.executescript(CATALOG_TABLES)
        entry = CONTESTANTS[name]
        log = (folder / "log.txt").open("w")
        process = subprocess.Popen(  # noqa: S603  our own module
            [str(self.python[entry.peer]), "-m", "benchmarks.worker"],
            cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log,
            text=True, start_new_session=True,
            env={**os.environ, "PYTHONPATH": str(ROOT), "PYSPARK_PYTHON": sys.executable},
        )  # fmt: skip
        log.close()
        worker = Worker(name, process)
        try:
            worker.about = self._open(worker, folder, data)
        except ContestantError as error:
            worker.error = str(error)
        return worker

    def _open(self, worker: Worker, folder: Path, data: Dataset) -> str:
        jars = [self.class_path, *([self.delta_jars] if CONTESTANTS[worker.name].delta else [])]
        about: str = worker.ask(
            "open", name=worker.name, workload=data.workload.as_dict(), data=str(data.folder),
            folder=str(folder), class_path=":".join(jars),
            master=self.master, memory=self.memory, settings=self.settings,
        )  # fmt: skip
        return about


def measure(
    workload: Workload, names: Sequence[str], course: Course, say: Callable[[str], None]
) -> dict[str, Any]:
    """Run one workload with all contestants and return what was measured."""
    say(f"\n{workload.name}")
    start = time.perf_counter()
    data = build(workload, course.root / "data")
    say(f"  data {time.perf_counter() - start:.0f} s")
    model = agrees_with_model(data) if workload.keys <= MODEL_LIMIT else None
    workers: list[Worker] = []
    entries = {}
    try:
        for name in names:
            workers.append(course.start(name, data))
        with ThreadPoolExecutor(2) as pool:  # preparing is not timed
            list(pool.map(lambda worker: _guarded(worker, _prepare, say), workers))
        for number in range(workload.batches):
            for worker in _order(workers, number):
                _guarded(worker, _run, say, number, workload.warm_up)
        for worker in workers:
            entries[worker.name] = _finish(worker, data, course, say)
    finally:
        with ThreadPoolExecutor(len(names)) as pool:
            list(pool.map(Worker.end, workers))
    return {
        "workload": workload.name, "parameters": workload.as_dict(),
        "expectation_checked_against_model": model, "contestants": entries,
    }  # fmt: skip


def _order(workers: list[Worker], number: int) -> list[Worker]:
    """Return the order: another one first every time, and every second time backwards."""
    turned = workers[number % len(workers) :] + workers[: number % len(workers)]
    return turned[::-1] if number % 2 else turned


def _guarded(worker: Worker, action: Callable[..., None], *arguments: Any) -> None:
    """Do one thing with a contestant that has not failed yet; its failure ends no other."""
    if worker.error:
        return
    try:
        action(worker, *arguments)
    except ContestantError as error:
        worker.error = str(error)


def _prepare(worker: Worker, say: Callable[[str], None]) -> None:
    say(f"  {worker.name}: prepared in {worker.ask('prepare'):.0f} s")


def _run(worker: Worker, say: Callable[[str], None], number: int, warm_up: int) -> None:
    worker.runs.append(worker.ask("run", number=number))
    what = "warm-up" if number < warm_up else f"run {number - warm_up + 1}"
    say(f"  {worker.name}: {what} {worker.runs[-1]['seconds']:.2f} s")


def _finish(
    worker: Worker, data: Dataset, course: Course, say: Callable[[str], None]
) -> dict[str, Any]:
    """Read a contestant's table back and judge it."""
    apart = CONTESTANTS[worker.name].apart
    entry: dict[str, Any] = {"about": worker.about, "apart": apart, "runs": worker.runs}
    try:
        if not worker.error:
            entry["files"] = worker.ask("files")
        if not worker.error and worker.name != "floor":
            target = course.root / "work" / data.folder.name / worker.name / "read_back"
            worker.ask("read_back", target=str(target))
            entry["check"] = asdict(check(data, target))
            say(f"  {worker.name}: correct {entry['check']['correct']}")
    except ContestantError as error:
        worker.error = str(error)
    if worker.error:
        entry["error"] = worker.error
        say(f"  {worker.name}: {worker.error[:300]}")
    return entry


def empty(folder: Path) -> None:
    if folder.exists():
        subprocess.run(["/bin/rm", "-rf", str(folder)], check=True)  # noqa: S603  our own folder
    folder.mkdir(parents=True)
