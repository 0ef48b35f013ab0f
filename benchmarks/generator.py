"""Data of a workload: the starting history, the batches, and the table that must come out.

DuckDB computes all of it from the seed. The expected table comes from the generator's own narrow
list of versions (`id, u, f, since, until`), never from an engine that is measured.
"""

import gzip
import hashlib
import json
import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb

from benchmarks.columns import select_list
from benchmarks.workloads import Workload

FIRST_DAY = datetime(2024, 1, 1)
FIRST_BATCH = datetime(2024, 6, 1)
ROWS_PER_FILE = 250_000
MILLION = 1_000_000
DAY = 86_400
# The number of the extract before the first batch.
START = -1
_RAW_LAYOUT = "(FORMAT json, TIMESTAMPFORMAT '%Y-%m-%dT%H:%M:%SZ')"


@dataclass(frozen=True)
class Dataset:
    """The files of one workload in one folder."""

    folder: Path
    workload: Workload

    @property
    def history(self) -> Path:
        """Parquet files: the columns, `valid_from`, `valid_to`, `is_current`."""
        return self.folder / "history"

    @property
    def versions(self) -> Path:
        """The narrow list of versions after all batches."""
        return self.folder / "versions.parquet"

    def batch(self, number: int) -> list[Path]:
        """Return the NDJSON files of one batch; 0 is the first to warm up, START a full extract."""
        return sorted((self.folder / f"batch_{number}").glob("*.ndjson.gz"))

    def extraction_time(self, number: int) -> datetime:
        """Return the extraction time of a batch, UTC."""
        if number == START:
            return FIRST_DAY + timedelta(days=self.workload.history)
        return FIRST_BATCH + timedelta(days=number)


def build(workload: Workload, root: Path) -> Dataset:
    """Write the data of a workload, unless it is there from an earlier run."""
    source = Path(__file__).read_bytes() + (Path(__file__).parent / "columns.py").read_bytes()
    text = json.dumps(workload.as_dict(), sort_keys=True).encode() + source
    data = Dataset(root / hashlib.sha256(text).hexdigest()[:12], workload)
    if not (data.folder / "done").exists():
        shutil.rmtree(data.folder, ignore_errors=True)
        data.folder.mkdir(parents=True)
        with connect() as db:
            _start(db, data)
            for number in range(workload.batches):
                _advance(db, data, number)
            db.execute(f"COPY versions TO '{data.versions}' (FORMAT parquet)")
        (data.folder / "done").touch()
    return data


@contextmanager
def connect() -> Iterator[duckdb.DuckDBPyConnection]:
    """Open a DuckDB in memory that takes no more than its share of the machine."""
    # Its own choice is a folder in the working directory, the repository as a rule.
    with TemporaryDirectory(prefix="lakekit_bench_") as spill, duckdb.connect() as db:
        db.execute(
            "SET threads = 2; SET memory_limit = '4GB'; SET preserve_insertion_order = false; "
            f"SET TimeZone = 'UTC'; SET temp_directory = '{spill}'"
        )
        yield db


def _start(db: duckdb.DuckDBPyConnection, data: Dataset) -> None:
    """Make the versions before the first batch, and the starting table of every contestant."""
    load = data.workload
    db.execute(
        "CREATE TABLE versions AS SELECT id, u::int AS u, 0 AS f, "
        f"{_literal(FIRST_DAY)} + INTERVAL 1 DAY * u AS since, "
        f"if(u < {load.history}, {_literal(FIRST_DAY)} + INTERVAL 1 DAY * (u + 1), NULL) AS until "
        f"FROM range({load.keys}) k(id), range({load.history + 1}) v(u)"
    )
    order = "hash(id, u)" if load.mixed else "until IS NULL, id, u"
    db.execute(f"CREATE OR REPLACE TABLE rows AS SELECT * FROM versions ORDER BY {order}")
    db.execute(
        f"COPY (SELECT {select_list(load)}, since AS valid_from, until AS valid_to, "
        f"until IS NULL AS is_current FROM rows) TO '{data.history}' "
        "(FORMAT parquet, PER_THREAD_OUTPUT)"
    )
    db.execute("DROP TABLE rows")
    db.execute(
        "CREATE OR REPLACE TABLE extract AS "
        "SELECT id, u, f, since FROM versions WHERE until IS NULL"
    )
    _write_batch(db, data, START)


def _advance(db: duckdb.DuckDBPyConnection, data: Dataset, number: int) -> None:
    """Make one batch: draw what each key does, write its records, keep the versions."""
    load = data.workload
    extraction_time = _literal(data.extraction_time(number))
    drawn = f"hash(id, {load.seed}, {number}) % {MILLION} / {MILLION}"
    event = extraction_time
    if load.sequence:  # some time of the day before
        seconds = f"(hash(id, {load.seed}, {number}, 'event') % {DAY})::int"
        event = f"{extraction_time} - INTERVAL 1 SECOND * {seconds}"
    flip = f"hash(id, {load.seed}, {number}, 'flip') % {MILLION} < {load.null_flips * MILLION}"
    leaving = load.changed + load.deleted if load.extract == "full" else load.changed
    sent = "true" if load.extract == "full" else f"d < {max(load.batch - load.new, load.changed)}"
    db.execute(
        f"CREATE OR REPLACE TABLE drawn AS SELECT id, u, f, since, {drawn} AS d, {flip} AS flip, "
        f"d < {load.changed} AS changed, NOT changed AND d < {leaving} AS deleted, "
        f"if(changed, {event}, {extraction_time}) AS ends, "
        f"NOT deleted AND ({sent}) AS sent FROM versions WHERE until IS NULL"
    )
    fresh = round(load.keys * load.new)
    first = load.keys + number * fresh
    db.execute(
        "CREATE OR REPLACE TABLE extract AS "
        "SELECT id, if(changed AND NOT flip, u + 1, u) AS u, if(changed AND flip, 1 - f, f) AS f, "
        "if(changed, ends, since) AS since, changed FROM drawn WHERE sent UNION ALL "
        f"SELECT id, 0, 0, {event}, true FROM range({first}, {first + fresh}) k(id)"
    )
    _write_batch(db, data, number)
    db.execute(
        "UPDATE versions SET until = drawn.ends FROM drawn "
        "WHERE versions.until IS NULL AND versions.id = drawn.id "
        "AND (drawn.changed OR drawn.deleted)"
    )
    db.execute("INSERT INTO versions SELECT id, u, f, since, NULL FROM extract WHERE changed")


def _write_batch(db: duckdb.DuckDBPyConnection, data: Dataset, number: int) -> None:
    """Write the records as gzipped NDJSON: files that two cores can share."""
    folder = data.folder / f"batch_{number}"
    folder.mkdir()
    (rows,) = db.execute("SELECT count(*) FROM extract").fetchone() or (0,)
    count = max(2, -(-rows // ROWS_PER_FILE))
    columns = select_list(data.workload)
    if data.workload.other_bytes:
        columns += f", {number} AS batch"
    plain = [folder / f"part-{part:05}.ndjson" for part in range(count)]
    for part, file in enumerate(plain):
        chosen = f"SELECT {columns} FROM extract WHERE hash(id, 'file') % {count} = {part}"
        db.execute(f"COPY ({chosen}) TO '{file}' {_RAW_LAYOUT}")
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(_compress, plain))


def _compress(file: Path) -> None:
    # Python's zlib runs in parallel; DuckDB's own gzip writer is several times slower.
    with file.open("rb") as source, gzip.open(f"{file}.gz", "wb", compresslevel=3) as target:
        shutil.copyfileobj(source, target, 1 << 20)
    file.unlink()


def _literal(time: datetime) -> str:
    return f"TIMESTAMP '{time:%Y-%m-%d %H:%M:%S}'"
