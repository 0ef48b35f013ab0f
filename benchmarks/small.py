"""Many small tables: all in one job, and each in a job of its own."""

import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
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
