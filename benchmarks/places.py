"""Places for what runs without the harness: the data, and an empty folder with a catalog."""

import sqlite3
from contextlib import closing
from dataclasses import replace
from typing import Any

from benchmarks.contestants import Place
from benchmarks.generator import build
from benchmarks.harness import ROOT, empty
from benchmarks.workloads import Workload, shape
from lakekit.spark.session.jars import class_path
from lakekit.spark.session.session import CATALOG_TABLES

OUT = ROOT / "build" / "bench"


def _workload(name: str, keys: int) -> Workload:
    if name == "reads":
        return replace(shape(keys, 1, 0.01, "incremental"), runs=9)
    if name == "writing":
        return replace(shape(keys, 1, 0.01, "incremental"), runs=5)
    one = shape(keys, 1, 0.01, "full")
    return replace(one, runs=1) if name == "small" else one


def place_of(name: str, keys: int, **rest: Any) -> Place:
    data = build(_workload(name, keys), OUT / "data")
    return Place(OUT / "work" / name, data, class_path(), **rest)


def fresh(place: Place) -> Place:
    empty(place.folder)
    with closing(sqlite3.connect(place.folder / "catalog.db")) as connection:
        connection.executescript(CATALOG_TABLES)
    return place
