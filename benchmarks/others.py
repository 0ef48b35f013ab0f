"""What a batch's time does not show: many small tables, reads after many runs, a cluster.

Each runs in a process of its own (`python -m benchmarks.others NAME ...`) and prints one JSON line.
"""

import argparse
import json
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from statistics import median
from typing import Any

from benchmarks.check import check
from benchmarks.cluster import running_cluster, spread_of
from benchmarks.contestants import Place, open_contestant
from benchmarks.contestants.lakekit import Lakekit
from benchmarks.generator import Dataset, build
from benchmarks.harness import ROOT, _empty
from benchmarks.workloads import Workload, shape
from lakekit.spark.jars import class_path
from lakekit.spark.jobs import TABLES_AT_ONCE
from lakekit.spark.session import CATALOG_TABLES

OUT = ROOT / "build" / "bench"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one of them and print what it measured."""
    parser = argparse.ArgumentParser()
    parser.add_argument("name", choices=("small", "job", "reads", "cluster"))
    parser.add_argument("--keys", type=int, default=10_000)
    parser.add_argument("--count", type=int, default=20, help="small tables")
    parser.add_argument("--tables", default="")
    options = parser.parse_args(arguments)
    if options.name == "job":
        merge_tables(_place("small", options.keys), options.tables.split(","))
        return 0
    action: dict[str, Callable[[], dict[str, Any]]] = {
        "small": lambda: small(options.keys, options.count),
        "reads": lambda: reads(options.keys),
        "cluster": lambda: cluster(options.keys),
    }
    sys.stdout.write(json.dumps(action[options.name]()) + "\n")
    return 0


def _workload(name: str, keys: int) -> Workload:
    if name == "reads":
        return replace(shape(keys, 1, 0.01, "incremental"), runs=9)
    one = shape(keys, 1, 0.01, "full")
    return replace(one, runs=0) if name == "small" else one


def _place(name: str, keys: int, **rest: Any) -> Place:
    data = build(_workload(name, keys), OUT / "data")
    return Place(OUT / "work" / name, data, class_path(), **rest)


def _fresh(place: Place) -> Place:
    _empty(place.folder)
    with closing(sqlite3.connect(place.folder / "catalog.db")) as connection:
        connection.executescript(CATALOG_TABLES)
    return place


def small(keys: int, count: int) -> dict[str, Any]:
    """Measure small tables: all in one job, and each in a job of its own; whole processes."""
    place = _fresh(_place("small", keys))
    groups = {kind: [f"{kind}_{n:02}" for n in range(count)] for kind in ("one", "each")}
    first = _table(place, "unused")
    for name in [*groups["one"], *groups["each"]]:
        table = _table(place, name)
        table.__dict__["spark"] = first.spark
        table.prepare()
    first.close()
    start = time.perf_counter()
    _job(keys, groups["one"])
    one = time.perf_counter() - start
    start = time.perf_counter()
    for name in groups["each"]:
        _job(keys, [name])
    each = time.perf_counter() - start
    wrong = _wrong(place, [*groups["one"], *groups["each"]])
    text = (
        f"{count} tables of {keys} keys, 1 % changed, full extracts, with the start of "
        f"Python and Spark: one job {one:.1f} s, {count} jobs {each:.1f} s; "
        f"the one job takes {one / each:.3f} of that; wrong tables: {', '.join(wrong) or 'none'}."
    )
    found = {"one_job_seconds": one, "jobs_seconds": each, "ratio": one / each}
    return found | {"wrong": wrong, "text": text}


def _wrong(place: Place, names: Sequence[str]) -> list[str]:
    """Return the tables that are not what the generator expects."""
    first, wrong = _table(place, "unused"), []
    for name in names:
        table = _table(place, name)
        table.__dict__["spark"] = first.spark
        table.read_back(place.folder / "read_back" / name)
        if not check(place.data, place.folder / "read_back" / name).correct:
            wrong.append(name)
    first.close()
    return wrong


def _table(place: Place, name: str) -> Lakekit:
    table = Lakekit(place)
    table.table = f"lake.bench.{name}"
    return table


def _job(keys: int, names: Sequence[str]) -> None:
    command = [sys.executable, "-m", "benchmarks.others", "job"]
    command += ["--keys", str(keys), "--tables", ",".join(names)]
    subprocess.run(command, check=True, cwd=ROOT, stderr=subprocess.DEVNULL)  # noqa: S603


def merge_tables(place: Place, names: Sequence[str]) -> None:
    """Merge one batch into every table as the Glue job does: threads, a session each."""
    first = _table(place, "unused")
    spark = first.spark

    def merge(name: str) -> None:
        table = _table(place, name)
        table.__dict__["spark"] = spark.newSession()
        table.run(0)

    with ThreadPoolExecutor(TABLES_AT_ONCE) as pool:
        list(pool.map(merge, names))
    first.close()


def reads(keys: int) -> dict[str, Any]:
    """Time a query of the current rows after ten runs, and again on the compacted table."""
    found: dict[str, Any] = {}
    for name, current in (
        ("lakekit", "_is_current"),
        ("article_cow", "is_current"),
        ("article_mor", "is_current"),
    ):
        place = _place("reads", keys)
        place = _fresh(Place(place.folder / name, place.data, place.class_path))
        it: Any = open_contestant(name, place)
        it.prepare()
        for number in range(place.data.workload.batches):
            it.run(number)
        query = f"SELECT sum(net_worth), max(email1), count(*) FROM {it.table} WHERE {current}"
        after, files = _query_seconds(it.spark, query), it.files()
        options = "map('rewrite-all', 'true', 'remove-dangling-deletes', 'true')"
        target = it.table.removeprefix("lake.")
        it.spark.sql(
            f"CALL lake.system.rewrite_data_files(table => '{target}', options => {options})"
        )
        it.spark.sql(f"REFRESH TABLE {it.table}")
        compacted = _query_seconds(it.spark, query)
        found[name] = {
            "after_ten_runs": after, "compacted": compacted, "ratio": after / compacted,
            "files_before": files, "files_after": it.files(),
        }  # fmt: skip
        it.close()
    texts = [
        f"{name}: {each['after_ten_runs']:.2f} s after ten runs, {each['compacted']:.2f} s "
        f"compacted, ratio {each['ratio']:.2f}"
        for name, each in found.items()
    ]
    what = f"Sum, maximum and count over the current rows of {keys} keys, ten incremental runs: "
    return found | {"text": what + "; ".join(texts) + "."}


def _query_seconds(spark: Any, query: str) -> float:
    times = []
    for _ in range(6):
        start = time.perf_counter()
        spark.sql(query).collect()
        times.append(time.perf_counter() - start)
    return median(times[1:])


def cluster(keys: int) -> dict[str, Any]:
    """Merge on a standalone cluster of two worker processes and see who did the tasks."""
    place = _fresh(_place("cluster", keys))
    with running_cluster(place.folder / "cluster") as master:
        settings = {
            "spark.executor.memory": "1500m",
            "spark.executor.cores": "1",
            "spark.cores.max": "2",
            "spark.scheduler.minRegisteredResourcesRatio": "1.0",
            "spark.locality.wait": "0s",
        }
        it: Any = open_contestant(
            "lakekit", Place(place.folder, place.data, place.class_path, master, settings=settings)
        )
        it.prepare()
        seconds, stages = _merge_all(it, place.data)
        target = place.folder / "read_back"
        it.read_back(target)
        it.close()
    verdict = check(place.data, target)
    tasks: dict[str, int] = {}
    for stage in stages:
        for executor, count in stage["tasks"].items():
            tasks[executor] = tasks.get(executor, 0) + count
    shared = [s for s in stages if len(s["tasks"]) > 1]
    divisible = [s for s in stages if sum(s["tasks"].values()) > 1]
    right = "correct" if verdict.correct else "WRONG"
    text = (
        f"Standalone master and two workers, {keys} keys, 1 % changed, full extract: the last "
        f"merge took {seconds:.2f} s, the table is {right}; tasks per executor {tasks}; "
        f"{len(shared)} of {len(divisible)} stages with several tasks ran on both."
    )
    return {
        "seconds": seconds, "correct": verdict.correct, "tasks_per_executor": tasks,
        "stages": stages, "text": text,
    }  # fmt: skip


def _merge_all(it: Any, data: Dataset) -> tuple[float, list[dict[str, Any]]]:
    seconds, seen = 0.0, set()
    for number in range(data.workload.batches):
        seen = {stage["stage"] for stage in spread_of(it.spark)}
        start = time.perf_counter()
        it.run(number)
        seconds = time.perf_counter() - start
    return seconds, [stage for stage in spread_of(it.spark) if stage["stage"] not in seen]


if __name__ == "__main__":
    sys.exit(main())
