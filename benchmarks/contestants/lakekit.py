"""Lakekit itself, called as a Glue job calls it."""

import os
from datetime import UTC
from functools import cached_property
from pathlib import Path
from typing import Any

from benchmarks.columns import SEQUENCE
from benchmarks.contestants.base import IcebergContestant
from benchmarks.generator import START
from lakekit.batch import Batch
from lakekit.contract.contract import Contract
from lakekit.spark.merge_scd2 import merge_scd2
from lakekit.spark.schema.create_tables import create_or_evolve
from lakekit.spark.session.session import job_session
from lakekit.spark.session.tuning import Tuning
from lakekit.spark_conf import SETTINGS
from lakekit.sql.line_hash import DIGEST
from lakekit.sql.row_hash import row_hash


class Lakekit(IcebergContestant):
    """`merge_scd2` with the contract's defaults."""

    about = "lakekit.spark.merge_scd2.merge_scd2, contract defaults"
    cache_catalog = False
    tuning: Tuning | None = None

    def settings(self) -> dict[str, str]:
        return SETTINGS | super().settings()

    @cached_property
    def spark(self) -> Any:
        """The session, as a job finds it."""
        _ = super().spark
        return job_session()

    @property
    def contract(self) -> Contract:
        """The contract of the dimension."""
        sequence = {"sequence_by": SEQUENCE.name} if self.data.workload.sequence else {}
        return Contract.model_validate(
            {
                "contract": "customer",
                "source": "benchmark",
                "endpoint": {"path": "/customers"},
                "schema": [{"name": c.name, "type": c.type} for c in self.columns],
                "history": {"keys": list(self.keys), "max_deleted_ratio": 1, **sequence},
            }
        )

    def prepare(self) -> None:
        create_or_evolve(self.spark, self.contract, self.table)
        # The closed versions as a merge writes them; no run is recorded for them.
        self.read_history().where("NOT is_current").selectExpr(
            *self.names,
            "CAST(valid_from AS timestamp_ntz) AS _ingested_at",
            "'history' AS _source_file",
            "is_current AS _is_current",
            "CAST(valid_from AS timestamp_ntz) AS _valid_from",
            "CAST(valid_to AS timestamp_ntz) AS _valid_to",
            f"{row_hash(self.contract.tracked)} AS _row_hash",
            *[f"CAST(NULL AS bigint) AS {name}" for name in DIGEST],
        ).writeTo(self.table).append()
        self._merge(START, "full")

    def run(self, number: int) -> Any:
        return self._merge(number, self.data.workload.extract)

    def _merge(self, number: int, extract: str) -> Any:
        files = self.data.batch(number)
        batch = Batch(
            run_id=f"run-{number}",
            extract=extract,
            extraction_time=self.data.extraction_time(number).replace(tzinfo=UTC),
            files=tuple(map(str, files)),
            bytes=sum(map(_unpacked_size, files)),
        )
        staging = (self.place.folder / "staging" / self.table).as_uri()
        result = merge_scd2(
            self.spark, self.contract, batch, self.table, staging=staging, tuning=self.tuning
        )
        return result.model_dump(mode="json")

    def read_back(self, target: Path) -> None:
        times = ("_valid_from AS valid_from", "_valid_to AS valid_to", "_is_current AS is_current")
        self.write_back(target, *times, source=self.table)


def _unpacked_size(file: Path) -> int:
    """Return what the end of a gzip file says of it, as the landing's manifest would."""
    with file.open("rb") as packed:
        packed.seek(-4, os.SEEK_END)
        return int.from_bytes(packed.read(), "little")
