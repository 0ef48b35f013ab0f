"""mack on Delta with deletion vectors, on a single-column key.

mack closes nothing when a full extract lacks a key. One more MERGE of Delta follows it, so that
its table can be right; the time of that counts too.
"""

from functools import cached_property
from pathlib import Path
from typing import Any

from benchmarks.contestants.base import SparkContestant


class Mack(SparkContestant):
    """`type_2_scd_generic_upsert` as it comes."""

    about = "mack 0.5.0, Delta 3.3.2, deletion vectors; deleted keys by one more MERGE"

    def settings(self) -> dict[str, str]:
        return {
            "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
            "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
        }

    @cached_property
    def _target(self) -> Any:
        from delta import DeltaTable  # noqa: PLC0415  in the peers' environment alone

        return DeltaTable.forPath(self.spark, self._path)

    @property
    def _path(self) -> str:
        return str(self.place.folder / "tables" / "customer")

    def prepare(self) -> None:
        if len(self.keys) > 1:
            raise NotImplementedError("mack takes one key column only")
        self.read_history().selectExpr(
            *self.names,
            "is_current",
            "CAST(valid_from AS timestamp) AS valid_from",
            "CAST(valid_to AS timestamp) AS valid_to",
        ).write.format("delta").option("delta.enableDeletionVectors", "true").save(self._path)

    def run(self, number: int) -> None:
        from mack import type_2_scd_generic_upsert  # noqa: PLC0415  in the peers' environment

        (key,), rest = self.keys, self.names[1:]
        raw = self.read_records(number)
        updates = raw.selectExpr("*", f"{self.extraction_time(number)} AS valid_from")
        type_2_scd_generic_upsert(
            self._target, updates, key, rest, "is_current", "valid_from", "valid_to"
        )
        if self.is_full:
            self._target.alias("t").merge(
                raw.select(key).alias("s"), f"t.{key} = s.{key}"
            ).whenNotMatchedBySourceUpdate(
                "t.is_current", {"is_current": "false", "valid_to": self.extraction_time(number)}
            ).execute()

    def read_back(self, target: Path) -> None:
        times = [f"CAST({t} AS timestamp_ntz) AS {t}" for t in ("valid_from", "valid_to")]
        self.write_back(target, *times, "is_current", source=f"delta.`{self._path}`")

    def files(self) -> dict[str, int]:
        row = self.spark.sql(f"DESCRIBE DETAIL delta.`{self._path}`").first()
        return {"data": row["numFiles"], "data_bytes": row["sizeInBytes"]}
