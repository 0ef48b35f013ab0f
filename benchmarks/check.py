"""Whether a contestant's table is right, by the generator's own versions, never by another engine.

Every row becomes one 64-bit hash in DuckDB, and the two tables are compared as multisets: by
their counts and the sums of their hashes. For small workloads the expectation itself is checked
against the independent model that the tests use.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import duckdb

from benchmarks.columns import SEQUENCE, columns_of, keys_of, select_list
from benchmarks.generator import FIRST_DAY, START, Dataset, connect

TIMES = ("valid_from", "valid_to")


@dataclass(frozen=True)
class CheckResult:
    """Whether a table is the expected one, and if not, how far off."""

    correct: bool
    rows: int
    missing: int = 0
    unexpected: int = 0
    columns: dict[str, int] = field(default_factory=dict)
    sample: tuple[str, ...] = ()


def check(data: Dataset, found: Path) -> CheckResult:
    """Compare a table that was read back with the expected one."""
    with connect() as db:
        db.execute(f"CREATE VIEW expected AS {expected(data)}")
        files = f"read_parquet('{found}/**/*.parquet')"
        db.execute(f"CREATE VIEW found AS SELECT {_typed(data)} FROM {files}")
        wanted, got = (_digest(db, name) for name in ("expected", "found"))
        if wanted == got:
            return CheckResult(True, got[0])
        return _difference(db, data, got[0])


def expected(data: Dataset) -> str:
    """Return the query of the expected table."""
    return (
        f"SELECT {_typed(data)} FROM (SELECT {select_list(data.workload)}, "
        "since AS valid_from, until AS valid_to, until IS NULL AS is_current "
        f"FROM read_parquet('{data.versions}'))"
    )


def _typed(data: Dataset) -> str:
    """Return the columns in their own types, whatever an engine made of them."""
    columns = [(c.name, c.type) for c in columns_of(data.workload)]
    columns += [*((name, "timestamp") for name in TIMES), ("is_current", "boolean")]
    return ", ".join(
        f"{name}::{type_.replace('string', 'varchar')} AS {name}" for name, type_ in columns
    )


def _digest(db: duckdb.DuckDBPyConnection, name: str) -> tuple[int, int]:
    columns = [row[0] for row in db.execute(f"DESCRIBE {name}").fetchall()]
    query = f"SELECT count(*), sum(hash({', '.join(columns)})::hugeint) FROM {name}"
    rows, total = db.execute(query).fetchone() or (0, None)
    return rows, total or 0


def _difference(db: duckdb.DuckDBPyConnection, data: Dataset, rows: int) -> CheckResult:
    keys = ", ".join(keys_of(data.workload.key_type))
    counts, sample = [], []
    for name, left, right in (
        ("missing", "expected", "found"),
        ("unexpected", "found", "expected"),
    ):
        db.execute(f"CREATE TEMP TABLE {name} AS FROM {left} EXCEPT ALL FROM {right}")
        (count,) = db.execute(f"SELECT count(*) FROM {name}").fetchone() or (0,)
        counts.append(count)
        rest = (
            f"SELECT {keys}, phone2, net_worth, valid_from, valid_to FROM {name} ORDER BY 1 LIMIT 2"
        )
        sample += [f"{name}: {row}" for row in db.execute(rest).fetchall()]
    return CheckResult(False, rows, counts[0], counts[1], _differing(db, data), tuple(sample))


def _differing(db: duckdb.DuckDBPyConnection, data: Dataset) -> dict[str, int]:
    """Count the wrong values of each column in versions that start as expected."""
    result = db.execute("SELECT * FROM missing LIMIT 0")
    names = [column[0] for column in result.description or []]
    same = [*keys_of(data.workload.key_type), "valid_from"]
    counts = ", ".join(f"count_if(m.{name} IS DISTINCT FROM u.{name})" for name in names)
    on = " AND ".join(f"m.{name} = u.{name}" for name in same)
    query = f"SELECT {counts} FROM missing m JOIN unexpected u ON {on}"
    row = db.execute(query).fetchone() or ()
    return {name: count for name, count in zip(names, row, strict=True) if count}


def agrees_with_model(data: Dataset) -> bool:
    """Run the independent model over the same records and compare it with the expectation."""
    # Imported for small workloads only: the others need no checkout with its tests.
    from tests.model.admission import history  # noqa: PLC0415
    from tests.model.terms import Options, Run  # noqa: PLC0415

    with connect() as db:
        runs = [*_first_runs(db, data), *_batch_runs(db, data, Run)]
        table = db.execute(expected(data))
        names = [column[0] for column in table.description or []]
        rename = {"valid_from": "_valid_from", "valid_to": "_valid_to", "is_current": "_is_current"}
        wanted = [
            {rename.get(name, name): value for name, value in zip(names, row, strict=True)}
            for row in table.fetchall()
        ]
    model = history(
        [r if isinstance(r, Run) else Run("full", *r) for r in runs],
        Options(
            keys=keys_of(data.workload.key_type),
            sequence_by=SEQUENCE.name if data.workload.sequence else None,
        ),
    )
    columns = sorted(wanted[0])
    return Counter(tuple(row.get(name) for name in columns) for row in model) == Counter(
        tuple(row[name] for name in columns) for row in wanted
    )


def _first_runs(
    db: duckdb.DuckDBPyConnection, data: Dataset
) -> Sequence[tuple[datetime, list[dict[str, Any]]]]:
    """Return the starting history as the full extracts that would have led to it."""
    columns = select_list(data.workload)
    source = f"read_parquet('{data.versions}')"
    before = f"since <= TIMESTAMP '{data.extraction_time(START)}'"
    days = db.execute(f"SELECT DISTINCT since FROM {source} WHERE {before} ORDER BY 1").fetchall()
    return [
        (day, _records(db, f"SELECT {columns} FROM {source} WHERE since = TIMESTAMP '{day}'"))
        for (day,) in days
        if day >= FIRST_DAY
    ]


def _batch_runs(db: duckdb.DuckDBPyConnection, data: Dataset, run: Any) -> list[Any]:
    load = data.workload
    types = ", ".join(
        f"'{c.name}': '{c.type.replace('string', 'varchar')}'" for c in columns_of(load)
    )
    return [
        run(
            load.extract,
            data.extraction_time(number),
            _records(
                db,
                f"SELECT * FROM read_json({[str(f) for f in data.batch(number)]}, "
                f"format = 'newline_delimited', columns = {{{types}}})",
            ),
        )
        for number in range(load.batches)
    ]


def _records(db: duckdb.DuckDBPyConnection, query: str) -> list[dict[str, Any]]:
    result = db.execute(query)
    names = [column[0] for column in result.description or []]
    return [dict(zip(names, row, strict=True)) for row in result.fetchall()]
