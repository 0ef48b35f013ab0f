"""Many small tables: all in one job, and each in a job of its own."""

import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from statistics import median
from typing import Any

from benchmarks.check import check
from benchmarks.contestants import Place
from benchmarks.contestants.lakekit import Lakekit
from benchmarks.harness import ROOT
from benchmarks.places import fresh, place_of
from lakekit.spark.jobs import TABLES_AT_ONCE


def small(keys: int, count: int) -> dict[str, Any]:
    """Measure small tables: all in one job, and each in a job of its own; whole processes."""
    place = fresh(place_of("small", keys))
    groups = {kind: [f"{kind}_{n:02}" for n in range(count)] for kind in ("one", "each")}
    first = _table(place, "unused")
    for name in [*groups["one"], *groups["each"]]:
        table = _table(place, name)
        table.__dict__["spark"] = first.spark
        table.prepare()
    first.close()
    rounds = [_round(keys, number, groups) for number in range(place.data.workload.batches)]
    wrong = _wrong(place, [*groups["one"], *groups["each"]])
    return _found(keys, count, rounds, wrong)


def _round(keys: int, batch: int, groups: Mapping[str, Sequence[str]]) -> dict[str, float]:
    """Merge a batch in both ways; the order changes with every round."""
    jobs = {"one": [groups["one"]], "each": [[name] for name in groups["each"]]}
    seconds = {}
    for kind in list(jobs)[:: -1 if batch % 2 else 1]:
        start = time.perf_counter()
        for names in jobs[kind]:
            _job(keys, batch, names)
        seconds[kind] = time.perf_counter() - start
    return seconds


def _found(
    keys: int, count: int, rounds: Sequence[Mapping[str, float]], wrong: Sequence[str]
) -> dict[str, Any]:
    ratios = [each["one"] / each["each"] for each in rounds]
    times = "; ".join(
        f"one job {each['one']:.1f} s, {count} jobs {each['each']:.1f} s, ratio {ratio:.3f}"
        for each, ratio in zip(rounds, ratios, strict=True)
    )
    text = (
        f"{count} tables of {keys} keys, 1 % changed, full extracts, with the start of "
        f"Python and Spark, in {len(rounds)} rounds: {times}; wrong tables: "
        f"{', '.join(wrong) or 'none'}."
    )
    return {"rounds": rounds, "ratio": median(ratios), "wrong": wrong, "text": text}


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


def _job(keys: int, batch: int, names: Sequence[str]) -> None:
    command = [sys.executable, "-m", "benchmarks.others", "job"]
    command += ["--keys", str(keys), "--batch", str(batch), "--tables", ",".join(names)]
    subprocess.run(command, check=True, cwd=ROOT, stderr=subprocess.DEVNULL)  # noqa: S603


def merge_tables(place: Place, batch: int, names: Sequence[str]) -> None:
    """Merge a batch into every table as the Glue job does: threads, a session each."""
    first = _table(place, "unused")
    spark = first.spark

    def merge(name: str) -> None:
        table = _table(place, name)
        table.__dict__["spark"] = spark.newSession()
        table.run(batch)

    with ThreadPoolExecutor(TABLES_AT_ONCE) as pool:
        list(pool.map(merge, names))
    first.close()
