"""Ways to merge into a small table: a delta or all versions anew, and both interpreted.

Each way has a table of its own in one session; every batch goes to all of them, in turns.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from statistics import median
from typing import Any
from unittest.mock import patch

from benchmarks.check import check
from benchmarks.contestants import Place
from benchmarks.contestants.lakekit import Lakekit
from benchmarks.places import fresh, place_of
from lakekit.spark import run as context
from lakekit.spark.session import tuning as small

NONE, ALL = -1, 1 << 40


@dataclass(frozen=True)
class Way:
    """One way: up to which bytes versions are written anew, and records are interpreted."""

    anew: int
    records: int


WAYS = {
    "delta": Way(NONE, NONE),
    "anew": Way(ALL, NONE),
    "delta, interpreted": Way(NONE, ALL),
    "anew, interpreted": Way(ALL, ALL),
}


def writing(keys: int) -> dict[str, Any]:
    """Time incremental merges in each way; the first batch warms up."""
    place = fresh(place_of("writing", keys))
    first = Lakekit(place)
    tables = {name: _table(first, number) for number, name in enumerate(WAYS)}
    for table in tables.values():
        table.prepare()
    seconds: dict[str, list[float]] = {name: [] for name in WAYS}
    for number in range(place.data.workload.batches):
        for name in _order(number):
            with _limits(WAYS[name]):
                start = time.perf_counter()
                tables[name].run(number)
                seconds[name].append(time.perf_counter() - start)
    wrong = [name for name, table in tables.items() if not _is_right(table, place)]
    first.close()
    return _found(keys, seconds, wrong)


def _table(first: Lakekit, number: int) -> Lakekit:
    table = Lakekit(first.place)
    table.table = f"lake.bench.way_{number}"
    table.__dict__["spark"] = first.spark
    return table


def _order(number: int) -> list[str]:
    """Return who goes when: another one first every time."""
    names = list(WAYS)
    return names[number % len(names) :] + names[: number % len(names)]


@contextmanager
def _limits(way: Way) -> Iterator[None]:
    """Let runs take a way whatever the size, as long as this lasts."""
    versions = patch.multiple(
        small, FEW_FILES=ALL, FEW_BYTES=ALL, ANEW_FILES=ALL, ANEW_BYTES=way.anew
    )
    with versions, patch.multiple(context, FEW_FILES=10_000, SHORT=way.records):
        yield


def _is_right(table: Lakekit, place: Place) -> bool:
    target = place.folder / "read_back" / table.table
    table.read_back(target)
    return check(place.data, target).correct


def _found(keys: int, seconds: dict[str, list[float]], wrong: list[str]) -> dict[str, Any]:
    """Return the medians and the ratios of the decisions."""
    found = {name: median(times[1:]) for name, times in seconds.items()}
    ratios = {
        "anew / delta": found["anew"] / found["delta"],
        "the same, interpreted": found["anew, interpreted"] / found["delta, interpreted"],
        "delta, interpreted / compiled": found["delta, interpreted"] / found["delta"],
        "anew, interpreted / compiled": found["anew, interpreted"] / found["anew"],
    }
    times = "; ".join(f"{name} {one:.2f} s" for name, one in found.items())
    told = "; ".join(f"{name} {ratio:.2f}" for name, ratio in ratios.items())
    text = (
        f"Incremental batches of 2 % of {keys} keys, medians in one process: {times}; {told}; "
        f"wrong tables: {', '.join(wrong) or 'none'}."
    )
    return {"seconds": found, "ratios": ratios, "wrong": wrong, "text": text}
