"""One key with many versions: how the time of a merge grows with them; batches mostly of one key.

After each run the whole table is compared with the history that follows from the changes.
"""

import json
import os
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

from benchmarks.aims import TWICE_THE_VERSIONS
from benchmarks.harness import empty
from benchmarks.metrics import Meter
from benchmarks.places import OUT
from lakekit.batch import Batch
from lakekit.contract.contract import Contract
from lakekit.spark.merge_scd2 import merge_scd2
from lakekit.spark.session.session import local_session

FOLDER = OUT / "work" / "hot-key"
# The first round warms up.
ROUNDS = 4
START = datetime(2026, 1, 1)
LATE = timedelta(seconds=10)
CONTRACT = Contract.model_validate(
    {
        "contract": "device",
        "source": "benchmark",
        "endpoint": {"path": "/devices"},
        "schema": [
            {"name": "id", "type": "bigint"},
            {"name": "status", "type": "string"},
            {"name": "firmware", "type": "string"},
            {"name": "op", "type": "string"},
            {"name": "changed_at", "type": "timestamp"},
        ],
        "history": {
            "keys": ["id"],
            "sequence_by": "changed_at",
            "apply_as_deletes": "op = 'D'",
            "except_columns": ["op"],
            "track_history_columns": ["status", "firmware"],
        },
    }
)
Change = dict[str, Any]
# The batches of a table, by what they are.
Batches = Mapping[str, Sequence[Change]]


def hot_key(versions: int) -> dict[str, Any]:
    """Time runs of one key with a quarter, half and all of so many versions, then mixed batches."""
    empty(FOLDER)
    spark = local_session(FOLDER / "warehouse")
    sizes = [versions // 4, versions // 2, versions]
    runs = [
        (size, merge_all(spark, FOLDER, f"versions_{size}_{number}", one_key(size)))
        for number in range(ROUNDS)
        for size in sizes
    ]
    mixed = merge_all(spark, FOLDER, "mixed", mostly_one_key(versions * 5 // 2))
    spark.stop()
    wrong = [run["table"] for run in [*(run for _, run in runs), mixed] if not run["correct"]]
    timed = runs[len(sizes) :]
    # Whatever else the machine does only adds to a time.
    seconds = {
        what: [min(run["seconds"][what] for of, run in timed if of == size) for size in sizes]
        for what in one_key(1)
    }
    return measured(sizes, seconds, mixed, wrong)


def one_key(versions: int) -> Batches:
    """Return all changes of a key, and one late record in their middle."""
    return {
        "first run": [*changes(0, 0, versions)],
        "one late record": [_change(0, versions // 2, LATE)],
    }


def mostly_one_key(versions: int) -> Batches:
    """Return batches with so many versions of one key, two fifths of all; others have three."""

    def batch(nth: int, delay: timedelta = timedelta()) -> list[Change]:
        records = [*changes(0, nth * versions, versions, delay)]
        for key in range(1, versions // 2 + 1):
            records += changes(key, 3 * nth, 3, delay)
        return records

    return {"first run": batch(0), "later records": batch(1), "late records": batch(0, LATE)}


def changes(
    key: int, first: int, versions: int, delay: timedelta = timedelta()
) -> Iterator[Change]:
    """Yield changes of a key, a minute apart; after every tenth it is deleted for a while."""
    for n in range(first, first + versions):
        yield _change(key, n, delay)
        if n % 10 == 9 and not delay:
            yield _change(key, n, 2 * LATE) | {"op": "D"}


def _change(key: int, n: int, delay: timedelta) -> Change:
    status, firmware = f"{'late' if delay else 'on time'} {n}", f"release {n // 100}"
    at = START + timedelta(minutes=n) + delay
    return {"id": key, "status": status, "firmware": firmware, "op": "U", "changed_at": at}


def history(happened: Iterable[Change]) -> list[tuple[Any, ...]]:
    """Return the versions that follow from changes: key, status, start and end."""
    rows: list[tuple[Any, ...]] = []
    for change in sorted(happened, key=lambda each: (each["id"], each["changed_at"])):
        key, at = change["id"], change["changed_at"]
        if rows and rows[-1][0] == key and rows[-1][-1] is None:
            rows[-1] = (*rows[-1][:-1], at)
        if change["op"] != "D":
            rows.append((key, change["status"], at, None))
    return rows


def merge_all(spark: Any, folder: Path, name: str, batches: Batches) -> dict[str, Any]:
    """Merge batches one after the other into a new table, and compare it after each.

    `work` is the time that the tasks had a core for, whatever else the machine did.
    """
    table, staging, merged = f"lake.local.{name}", folder / "staging", []
    run: dict[str, Any] = {"table": name, "seconds": {}, "work": {}, "peak": {}, "records": {}}
    correct = []
    for number, (what, records) in enumerate(batches.items()):
        batch = _landed(folder / f"{name}_{number}.ndjson", number, records)
        jvm = spark.sparkContext._jvm.java.lang.ProcessHandle.current().pid()
        meter = Meter([os.getpid(), int(jvm)], staging, spark)
        meter.start()
        start = time.perf_counter()
        merge_scd2(spark, CONTRACT, batch, table, staging=staging.as_uri())
        run["seconds"][what] = time.perf_counter() - start
        counts = meter.stop()
        run["work"][what] = counts["executorCpuTime"] / 1e9
        run["peak"][what] = counts["peak_rss"]
        run["records"][what] = len(records)
        merged += records
        query = f"SELECT id, status, _valid_from, _valid_to FROM {table} ORDER BY 1, 3"
        correct.append([*map(tuple, spark.sql(query).collect())] == history(merged))
    return run | {"correct": all(correct)}


def _landed(file: Path, number: int, records: Sequence[Change]) -> Batch:
    lines = [json.dumps(each | {"changed_at": f"{each['changed_at']}Z"}) + "\n" for each in records]
    return Batch(
        run_id=f"run-{number}",
        extract="changes",
        extraction_time=datetime(2030, 1, 1 + number, tzinfo=UTC),
        files=(str(file),),
        bytes=file.write_text("".join(lines)),
    )


def measured(
    sizes: Sequence[int],
    seconds: Mapping[str, Sequence[float]],
    mixed: Mapping[str, Any],
    wrong: Sequence[str],
) -> dict[str, Any]:
    ratios = {
        what: [more / less for less, more in pairwise(times)] for what, times in seconds.items()
    }
    most = max(max(each) for each in ratios.values())
    met = "met" if most <= TWICE_THE_VERSIONS else "missed"
    lines = ["| versions of a key |" + "".join(f" {what}, s | ratio |" for what in seconds)]
    lines.append("|---:|" + "---:|---:|" * len(seconds))
    for n, size in enumerate(sizes):
        cells = [
            f" {times[n]:.1f} | {f'{ratios[what][n - 1]:.2f}' if n else ''} |"
            for what, times in seconds.items()
        ]
        lines.append(f"| {size} |" + "".join(cells))
    runs = "; ".join(
        f"{what} ({mixed['records'][what]}) {took:.1f} s, peak {mixed['peak'][what] / 1e9:.1f} GB"
        for what, took in mixed["seconds"].items()
    )
    text = [
        *lines,
        "",
        f"The ratio is to half as many versions; the aim, at most {TWICE_THE_VERSIONS}, is {met}.",
        f"Batches with 40 % of their records on one key: {runs}; wrong tables: "
        f"{', '.join(wrong) or 'none'}.",
    ]
    return {
        "sizes": sizes, "seconds": seconds, "ratios": ratios, "ratio": most, "mixed": mixed,
        "wrong": wrong, "text": "\n".join(text),
    }  # fmt: skip
