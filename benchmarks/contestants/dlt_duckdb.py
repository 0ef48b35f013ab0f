"""dlt's scd2 on DuckDB: another kind of engine, on one machine, so it is reported apart.

Its best case: it is fed with Arrow batches that DuckDB reads from the JSON, and the row hash is
computed in that query. An incremental batch names a `merge_key`, so absent keys stay open.
"""

import os
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

from benchmarks.contestants.base import Contestant
from benchmarks.generator import FIRST_BATCH


class DltDuckdb(Contestant):
    """A dlt pipeline into a DuckDB file."""

    about = "dlt 1.31.0, scd2 strategy, DuckDB file; Arrow batches with a row hash"

    @cached_property
    def _db(self) -> Any:
        import duckdb  # noqa: PLC0415  in the peers' environment alone

        db = duckdb.connect(str(self.place.folder / "customer.duckdb"))
        db.execute("SET threads = 2; SET memory_limit = '3GB'; SET TimeZone = 'UTC'")
        return db

    @cached_property
    def _pipeline(self) -> Any:
        os.environ |= {
            "RUNTIME__DLTHUB_TELEMETRY": "false",
            "DATA_WRITER__DISABLE_COMPRESSION": "true",
        }
        import dlt  # noqa: PLC0415  in the peers' environment alone

        return dlt.pipeline(
            "bench",
            destination=dlt.destinations.duckdb(self._db),
            dataset_name="bench",
            pipelines_dir=str(self.place.folder / "pipelines"),
        )

    def _load(self, rows: str, extraction_time: Any, *, full: bool) -> None:
        import dlt  # noqa: PLC0415  in the peers' environment alone

        rest = [name for name in self.names if name not in self.keys]
        hashed = (
            f"SELECT *, hash({', '.join([*self.keys, *rest])})::varchar AS row_hash FROM {rows}"
        )

        def batches() -> Iterator[Any]:
            yield from self._db.cursor().execute(hashed).fetch_record_batch(200_000)

        disposition: Any = {
            "disposition": "merge",
            "strategy": "scd2",
            "row_version_column_name": "row_hash",
            "validity_column_names": ["valid_from", "valid_to"],
            "boundary_timestamp": extraction_time,
        }
        merge_key: Any = None if full else list(self.keys)
        table = dlt.resource(
            batches, name="customer", write_disposition=disposition, merge_key=merge_key
        )
        self._pipeline.run(table).raise_on_failed_jobs()

    def prepare(self) -> None:
        files = f"read_parquet('{self.data.history}/*.parquet')"
        names = ", ".join(self.names)
        day = self.data.workload.history + 1
        start = FIRST_BATCH.replace(month=1, day=day)
        self._load(f"(SELECT {names} FROM {files} WHERE is_current)", start, full=True)
        # The closed versions; dlt reads only their hash and validity, and only if they are open.
        self._db.execute(
            f"INSERT INTO bench.customer BY NAME SELECT {names}, 'closed' AS row_hash, "
            "valid_from::timestamptz AS valid_from, valid_to::timestamptz AS valid_to "
            f"FROM {files} WHERE NOT is_current"
        )

    def run(self, number: int) -> None:
        types = {c.name: c.type.replace("string", "varchar") for c in self.columns}
        columns = ", ".join(f"'{name}': '{type_}'" for name, type_ in types.items())
        files = [str(file) for file in self.data.batch(number)]
        source = f"read_json({files}, format = 'newline_delimited', columns = {{{columns}}})"
        self._load(source, self.data.extraction_time(number), full=self.is_full)

    def read_back(self, target: Path) -> None:
        target.mkdir(parents=True, exist_ok=True)
        times = [f"{t} AT TIME ZONE 'UTC' AS {t}" for t in ("valid_from", "valid_to")]
        columns = ", ".join([*self.names, *times, "valid_to IS NULL AS is_current"])
        self._db.execute(f"COPY (SELECT {columns} FROM bench.customer) TO '{target}/all.parquet'")

    def close(self) -> None:
        self._db.close()
