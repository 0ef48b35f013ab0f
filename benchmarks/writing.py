"""Ways to merge into a small table: a delta, or a rewrite of all versions; each also interpreted.

Each way has a table of its own in one session. Every batch goes to all of them, in turns.
"""

import time
from dataclasses import dataclass
from statistics import median
from typing import Any

from benchmarks.check import check
from benchmarks.contestants import Place
from benchmarks.contestants.lakekit import Lakekit
from benchmarks.places import fresh, place_of
from lakekit.spark.session.tuning import Tuning

NONE, ALL = -1, 1 << 40
MANY_FILES = 10_000


@dataclass(frozen=True)
class Way:
    """One way: up to which bytes versions are rewritten, and plans of records interpreted."""

    rewritten: int
    interpreted: int

    @property
    def tuning(self) -> Tuning:
        """What makes runs take this way, whatever the size."""
        return Tuning(
            few_files=MANY_FILES,
            few_bytes=ALL,
            rewrite_files=MANY_FILES,
            rewrite_bytes=self.rewritten,
            short_bytes=self.interpreted,
        )


WAYS = {
    "delta": Way(NONE, NONE),
    "rewrite": Way(ALL, NONE),
    "delta, interpreted": Way(NONE, ALL),
    "rewrite, interpreted": Way(ALL, ALL),
}


def writing(keys: int) -> dict[str, Any]:
    """Time incremental merges in each way; the first batch warms up."""
    place = fresh(place_of("writing", keys))
    first = Lakekit(place)
    tables = {name: _table(first, name) for name in WAYS}
    for table in tables.values():
        table.prepare()
    seconds: dict[str, list[float]] = {name: [] for name in WAYS}
    for number in range(place.data.workload.batches):
        for name in _order(number):
            start = time.perf_counter()
            tables[name].run(number)
            seconds[name].append(time.perf_counter() - start)
    wrong = [name for name, table in tables.items() if not _is_right(table, place)]
    first.close()
    return _found(keys, seconds, wrong)


def _table(first: Lakekit, name: str) -> Lakekit:
    table = Lakekit(first.place)
    table.table = f"lake.bench.way_{[*WAYS].index(name)}"
    table.tuning = WAYS[name].tuning
    table.__dict__["spark"] = first.spark
    return table


def _order(number: int) -> list[str]:
    """Return the order of the ways; each time another one is first."""
    names = list(WAYS)
    return names[number % len(names) :] + names[: number % len(names)]


def _is_right(table: Lakekit, place: Place) -> bool:
    target = place.folder / "read_back" / table.table
    table.read_back(target)
    return check(place.data, target).correct


def _found(keys: int, seconds: dict[str, list[float]], wrong: list[str]) -> dict[str, Any]:
    """Return the medians and the ratios of the decisions."""
    found = {name: median(times[1:]) for name, times in seconds.items()}
    ratios = {
        "rewrite / delta": found["rewrite"] / found["delta"],
        "the same, interpreted": found["rewrite, interpreted"] / found["delta, interpreted"],
        "delta, interpreted / compiled": found["delta, interpreted"] / found["delta"],
        "rewrite, interpreted / compiled": found["rewrite, interpreted"] / found["rewrite"],
    }
    times = "; ".join(f"{name} {one:.2f} s" for name, one in found.items())
    compared = "; ".join(f"{name} {ratio:.2f}" for name, ratio in ratios.items())
    text = (
        f"Incremental batches of 2 % of {keys} keys, medians in one process: {times}; {compared}; "
        f"wrong tables: {', '.join(wrong) or 'none'}."
    )
    return {"seconds": found, "ratios": ratios, "wrong": wrong, "text": text}
