"""A hundred small landings of a table in one pass, against one landing of all their records."""

import json
import time
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from statistics import median
from typing import Any

from benchmarks.aims import MANY_LANDINGS
from benchmarks.harness import empty
from benchmarks.hot_key import CONTRACT, Change, changes
from benchmarks.places import OUT
from lakekit.batch import Batch
from lakekit.passes import MOST_LANDINGS, passes
from lakekit.spark.merge_scd2 import merge_landings
from lakekit.spark.session.session import local_session

FOLDER = OUT / "work" / "bursts"
# The first round warms up.
ROUNDS = 3
# How many landings are merged alone, to compare.
ALONE = 5
BEGIN = datetime(2030, 1, 1, tzinfo=UTC)
COLUMNS = "id, status, firmware, _valid_from, _valid_to"


def bursts(records: int) -> dict[str, Any]:
    """Time so many records in one landing, and in a hundred, after a first run of as many keys."""
    empty(FOLDER)
    spark = local_session(FOLDER / "warehouse")
    rounds = [_round(spark, number, records) for number in range(ROUNDS)]
    spark.stop()
    return measured(records, rounds[1:])


def _round(spark: Any, number: int, records: int) -> dict[str, Any]:
    first, later = ([next(changes(key, nth, 1)) for key in range(records)] for nth in (0, 1))
    size = -(-records // MOST_LANDINGS)
    split = [later[start : start + size] for start in range(0, records, size)]
    ways = {"one landing": [later], "landings": split, "alone": split[:ALONE]}
    seconds = {}
    for way, landings in ways.items():
        table = f"lake.local.{way.replace(' ', '_')}_{number}"
        _merge(spark, table, [_landed(table, BEGIN, first)], alone=True)
        batches = [
            _landed(table, BEGIN + timedelta(days=1, seconds=n), each)
            for n, each in enumerate(landings)
        ]
        start = time.perf_counter()
        _merge(spark, table, batches, alone=way == "alone")
        seconds[way] = time.perf_counter() - start
    tables = [spark.sql(f"SELECT {COLUMNS} FROM lake.local.{way}_{number}")
              for way in ("one_landing", "landings")]  # fmt: skip
    one, many = tables
    differs = one.exceptAll(many).count() + many.exceptAll(one).count()
    return {"seconds": seconds, "wrong": differs, "rows": one.count()}


def _merge(spark: Any, table: str, batches: Sequence[Batch], *, alone: bool) -> None:
    groups = [(batch,) for batch in batches] if alone else passes(CONTRACT, batches)
    staging = (FOLDER / "staging").as_uri()
    for group in groups:
        for _ in merge_landings(spark, CONTRACT, group, table, staging=staging):
            pass


def _landed(table: str, at: datetime, records: Sequence[Change]) -> Batch:
    file = FOLDER / f"{table}_{at:%d_%H%M%S}.ndjson"
    lines = [json.dumps(each | {"changed_at": f"{each['changed_at']}Z"}) + "\n" for each in records]
    size = file.write_text("".join(lines))
    return Batch(
        run_id=file.stem, extract="changes", extraction_time=at, files=(str(file),), bytes=size
    )


def measured(records: int, rounds: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the ratio of many landings to one, and what to print."""
    ratios = [each["seconds"]["landings"] / each["seconds"]["one landing"] for each in rounds]
    ratio, wrong = median(ratios), sum(each["wrong"] for each in rounds)
    met = "met" if ratio <= MANY_LANDINGS else "missed"
    times = "; ".join(
        f"one landing {each['seconds']['one landing']:.1f} s, {MOST_LANDINGS} landings "
        f"{each['seconds']['landings']:.1f} s, ratio {found:.2f}, "
        f"each of {ALONE} alone {each['seconds']['alone'] / ALONE:.1f} s"
        for each, found in zip(rounds, ratios, strict=True)
    )
    text = (
        f"{records} changed records of as many keys: {times}. The median ratio is {ratio:.2f}; the "
        f"aim, at most {MANY_LANDINGS}, is {met}. Rows that differ: {wrong}."
    )
    return {"rounds": rounds, "ratio": ratio, "wrong": ["bursts"] if wrong else [], "text": text}
