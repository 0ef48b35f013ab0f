"""A Spark standalone cluster of two worker processes on this machine, started and stopped here."""

import os
import re
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyspark

from benchmarks.harness import ROOT

WORKERS = 2
PATIENCE = 90.0


@contextmanager
def running_cluster(folder: Path) -> Iterator[str]:
    """Start a master and its workers on loopback, and yield the master's address."""
    folder.mkdir(parents=True, exist_ok=True)
    started: list[subprocess.Popen[bytes]] = []
    try:
        log = _start(folder, "master", started, "--port", "0", "--webui-port", "0")
        master = _wait_for(log, r"Starting Spark master at (spark://\S+)")
        _wait_for(log, r"(New state: ALIVE)")
        for number in range(WORKERS):
            work = str(folder / f"work_{number}")
            size = ("--cores", "1", "--memory", "2g", "--webui-port", "0", "-d", work)
            log = _start(folder, f"worker_{number}", started, *size, master)
            _wait_for(log, r"(Successfully registered with master)")
        yield master
    finally:
        for process in reversed(started):
            process.terminate()
        for process in reversed(started):
            try:
                process.wait(timeout=20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _start(
    folder: Path, name: str, started: list[subprocess.Popen[bytes]], *arguments: str
) -> Path:
    """Start one daemon of the cluster and return its log."""
    home = Path(pyspark.__file__).parent
    kind = name.partition("_")[0]
    main = f"org.apache.spark.deploy.{kind}.{kind.capitalize()}"
    log = folder / f"{name}.log"
    command = [str(home / "bin" / "spark-class"), main, "--host", "127.0.0.1", *arguments]
    environment = {
        **os.environ, "SPARK_HOME": str(home), "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_DAEMON_MEMORY": "512m",
    }  # fmt: skip
    with log.open("wb") as target:
        started.append(
            subprocess.Popen(  # noqa: S603  Spark's own launcher
                command, env=environment, stdout=target, stderr=subprocess.STDOUT
            )
        )
    return log


def _wait_for(log: Path, pattern: str) -> str:
    """Wait until a log says something, and return the part of it that the pattern marks."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if found := re.search(pattern, log.read_text(errors="replace")):
            return found.group(1)
        time.sleep(0.2)
    raise TimeoutError(f"{log.name} does not say '{pattern}':\n{log.read_text()[-2000:]}")


def spread_of(spark: Any) -> list[dict[str, Any]]:
    """Return, for each finished stage, how many tasks each executor did, and their seconds."""
    context = spark.sparkContext
    jvm, gateway = context._jvm, context._gateway
    context._jsc.sc().listenerBus().waitUntilEmpty()
    store = context._jsc.sc().statusStore()
    empty, none = jvm.java.util.ArrayList(), gateway.new_array(jvm.double, 0)
    listed = store.stageList(empty, False, False, none, empty)
    found = []
    for stage in (listed.apply(index) for index in range(listed.size())):
        if str(stage.status()) != "COMPLETE":
            continue
        by_executor = store.executorSummary(stage.stageId(), stage.attemptId())
        entries = by_executor.iterator()
        tasks, seconds = {}, {}
        while entries.hasNext():
            entry = entries.next()
            executor, did = str(entry._1()), entry._2()
            tasks[executor] = int(did.succeededTasks())
            seconds[executor] = did.taskTime() / 1000
        found.append(
            {
                "stage": stage.stageId(),
                "name": str(stage.name()).replace(f"{ROOT}/", ""),
                "task_seconds": stage.executorRunTime() / 1000,
                "tasks": tasks,
                "seconds": seconds,
            }
        )
    return sorted(found, key=lambda stage: int(stage["stage"]))
