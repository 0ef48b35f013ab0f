"""Measurements apart from batches: small tables, reads, a cluster, a hot key, a burst of landings.

Each runs in a process of its own (`python -m benchmarks.others NAME ...`) and prints one JSON line.
"""

import argparse
import json
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from statistics import median
from typing import Any

from benchmarks.bursts import bursts
from benchmarks.check import check
from benchmarks.cluster import running_cluster, spread_of
from benchmarks.cold_reads import cold_reads
from benchmarks.contestants import Place, open_contestant
from benchmarks.generator import Dataset
from benchmarks.hot_key import hot_key
from benchmarks.layouts import layouts
from benchmarks.places import fresh, place_of
from benchmarks.small import merge_tables, small
from benchmarks.writing import writing

# The least share of the work that each of the two workers does.
SHARE = 0.25


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one of them and print what it measured."""
    parser = argparse.ArgumentParser()
    names = ("small", "job", "reads", "cluster", "layouts", "writing", "hot-key", "bursts")
    parser.add_argument("name", choices=(*names, "cold-reads"))
    parser.add_argument("--keys", type=int, default=10_000)
    parser.add_argument("--count", type=int, default=20, help="small tables")
    parser.add_argument("--batch", type=int, default=0)
    parser.add_argument("--tables", default="")
    options = parser.parse_args(arguments)
    if options.name == "job":
        place = place_of("small", options.keys)
        merge_tables(place, options.batch, options.tables.split(","))
        return 0
    action: dict[str, Callable[[], dict[str, Any]]] = {
        "small": lambda: small(options.keys, options.count),
        "reads": lambda: reads(options.keys),
        "cluster": lambda: cluster(options.keys),
        "layouts": lambda: layouts(options.keys),
        "writing": lambda: writing(options.keys),
        "hot-key": lambda: hot_key(options.keys),
        "bursts": lambda: bursts(options.keys),
        "cold-reads": lambda: cold_reads(options.keys),
    }
    sys.stdout.write(json.dumps(action[options.name]()) + "\n")
    return 0


def reads(keys: int) -> dict[str, Any]:
    """Time a query of the current rows after ten runs, and again on the compacted table."""
    found: dict[str, Any] = {}
    for name, current in (
        ("lakekit", "_is_current"),
        ("article_cow", "is_current"),
        ("article_mor", "is_current"),
    ):
        place = place_of("reads", keys)
        place = fresh(Place(place.folder / name, place.data, place.class_path))
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
        it.read_back(place.folder / "read_back")
        found[name] = {
            "after_ten_runs": after, "compacted": compacted, "ratio": after / compacted,
            "files_before": files, "files_after": it.files(),
            "correct": check(place.data, place.folder / "read_back").correct,
        }  # fmt: skip
        it.close()
    texts = [
        f"{name}: {each['after_ten_runs']:.2f} s after ten runs, {each['compacted']:.2f} s "
        f"compacted, ratio {each['ratio']:.2f}{'' if each['correct'] else ', table WRONG'}"
        for name, each in found.items()
    ]
    what = f"Sum, maximum and count over the current rows of {keys} keys, ten incremental runs: "
    correct = found["lakekit"]["correct"]
    return found | {"correct": correct, "text": what + "; ".join(texts) + "."}


def _query_seconds(spark: Any, query: str) -> float:
    times = []
    for _ in range(6):
        start = time.perf_counter()
        spark.sql(query).collect()
        times.append(time.perf_counter() - start)
    return median(times[1:])


def cluster(keys: int) -> dict[str, Any]:
    """Merge on a standalone cluster of two worker processes; count the tasks of each."""
    place = fresh(place_of("cluster", keys))
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
    result = check(place.data, target)
    tasks, busy = (_per_executor(stages, name) for name in ("tasks", "seconds"))
    shared = [s for s in stages if len(s["tasks"]) > 1]
    spread = is_spread(busy)
    divisible = [s for s in stages if sum(s["tasks"].values()) > 1]
    right = "correct" if result.correct else "WRONG"
    each = ", ".join(f"{name}: {tasks[name]} tasks, {busy[name]:.2f} s" for name in sorted(tasks))
    text = (
        f"Standalone master and two workers, {keys} keys, 1 % changed, full extract: the last "
        f"merge took {seconds:.2f} s, the table is {right}; executor {each}; "
        f"{len(shared)} of {len(divisible)} stages with several tasks ran on both."
    )
    return {
        "seconds": seconds, "correct": result.correct, "spread": spread,
        "tasks_per_executor": tasks,
        "seconds_per_executor": busy, "stages": stages, "text": text,
    }  # fmt: skip


def is_spread(busy: Mapping[str, float]) -> bool:
    """Whether each of two executors or more was busy for its share of the time, roughly."""
    return len(busy) > 1 and min(busy.values()) >= SHARE * sum(busy.values())


def _per_executor(stages: Sequence[dict[str, Any]], figure: str) -> dict[str, float]:
    total: Counter[str] = Counter()
    for stage in stages:
        total.update(stage[figure])
    return dict(total)


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
