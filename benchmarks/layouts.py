"""Ways to close many versions: keys sent to every worker, shuffled, or bucketed as the table is.

Only the MERGE is timed, each on a branch of its own: `close_versions`, as in a run.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from benchmarks.contestants import open_contestant
from benchmarks.places import fresh, place_of
from lakekit.spark.session.session import session_settings
from lakekit.sql.merge_scd2 import branch_of, close_versions

BUCKETS = 8
ROUNDS = 3
SHARE = 0.2
_NOT_SENT = {"spark.sql.autoBroadcastJoinThreshold": "-1"}
_STORAGE_PARTITIONED = {
    "spark.sql.sources.v2.bucketing.enabled": "true",
    "spark.sql.sources.v2.bucketing.pushPartValues.enabled": "true",
    "spark.sql.iceberg.planning.preserve-data-grouping": "true",
    "spark.sql.requireAllClusterKeysForCoPartition": "false",
}


@dataclass(frozen=True)
class Way:
    """One way: the table, the view of the changes, and the columns of the join besides the keys."""

    table: str
    changes: str
    settings: Mapping[str, str] = field(default_factory=dict)
    also: Sequence[str] = ()


WAYS = {
    "sent": Way("lake.bench.customer", "sent"),
    "shuffled": Way("lake.bench.customer", "plain", _NOT_SENT),
    "bucketed table, sent": Way("lake.bench.bucketed", "sent"),
    # The partition must be a column of the join.
    "storage-partitioned": Way(
        "lake.bench.bucketed", "bucketed", {**_NOT_SENT, **_STORAGE_PARTITIONED}, ["_is_current"]
    ),
}


def layouts(keys: int) -> dict[str, Any]:
    """Time the closing of a fifth of all keys in each way, in turns; the first round warms up."""
    place = fresh(place_of("layouts", keys))
    it: Any = open_contestant("lakekit", place)
    it.prepare()
    changed = _prepare(it)
    seconds: dict[str, list[float]] = {name: [] for name in WAYS}
    shuffles = {name: _shuffles(it, way) for name, way in WAYS.items()}
    for number in range(1 + ROUNDS):
        for name, way in WAYS.items():
            seconds[name].append(_close(it, way, f"round_{number}", changed))
    found = {name: median(times[1:]) for name, times in seconds.items()}
    ratios = {name: one / found["sent"] for name, one in found.items()}
    it.close()
    times = "; ".join(
        f"{name} {found[name]:.2f} s ({ratio:.2f}), {shuffles[name]} shuffles"
        for name, ratio in ratios.items()
    )
    text = f"To close {changed} of {keys} current versions by a MERGE: {times}."
    return {
        "changed": changed, "seconds": found, "ratios": ratios, "shuffles": shuffles, "text": text,
    }  # fmt: skip


def _prepare(it: Any) -> int:
    """Make a bucketed copy of the table, and the keys to close as a file and as a table."""
    (key,), spark = it.keys, it.spark
    bucket = f"bucket({BUCKETS}, {key})"
    spark.sql(
        f"CREATE TABLE lake.bench.bucketed USING iceberg PARTITIONED BY (_is_current, {bucket}) "
        "TBLPROPERTIES ('format-version' = '2', 'write.merge.mode' = 'merge-on-read') "
        f"AS SELECT * FROM {it.table}"
    )
    changes = spark.sql(
        f"SELECT {key}, true AS _is_current, TIMESTAMP_NTZ '2100-01-01 00:00:00' AS __at "
        f"FROM {it.table} WHERE _is_current AND pmod(xxhash64({key}), 100) < {100 * SHARE:.0f}"
    )
    changes.createOrReplaceTempView("changes")
    spark.sql(
        f"CREATE TABLE lake.bench.changes USING iceberg PARTITIONED BY (_is_current, {bucket}) "
        "AS SELECT * FROM changes"
    )
    path = str(it.place.folder / "changes")
    spark.table("lake.bench.changes").write.parquet(path)
    spark.table("lake.bench.changes").createOrReplaceTempView("bucketed")
    plain = spark.read.parquet(path)
    plain.createOrReplaceTempView("plain")
    plain.hint("broadcast").createOrReplaceTempView("sent")
    return int(plain.count())


def _shuffles(it: Any, way: Way) -> int:
    """Count the shuffles of the plan; one orders what is written by its files."""
    closing = close_versions(way.table, "main", [*it.keys, *way.also], way.changes)
    with session_settings(it.spark, way.settings):
        plan = it.spark.sql(f"EXPLAIN {closing}").first()[0]
    return int(plan.count("Exchange hashpartitioning"))


def _close(it: Any, way: Way, branch: str, changed: int) -> float:
    """Close on a new branch, and check how many versions are closed."""
    it.spark.sql(f"ALTER TABLE {way.table} CREATE OR REPLACE BRANCH {branch}")
    closing = close_versions(way.table, branch, [*it.keys, *way.also], way.changes)
    with session_settings(it.spark, way.settings):
        start = time.perf_counter()
        it.spark.sql(closing)
        took = time.perf_counter() - start
    count = it.spark.table(branch_of(way.table, branch)).where("_valid_to > '2099-01-01'").count()
    if count != changed:
        raise RuntimeError(f"{way.table}: {count} of {changed} versions were closed")
    return took
