"""The floor: the work that no engine can leave out. It keeps no history and publishes nothing.

It reads the batch once with an explicit schema, scans the key and hash of the current rows, joins
them, and writes the new and changed rows and the deleted keys as plain Parquet.
"""

from pathlib import Path
from typing import Any

from benchmarks.contestants.base import IcebergContestant


class Floor(IcebergContestant):
    """Read, hash, join, write: no dedupe, no run id, no commit, no closing of old versions."""

    about = "read the batch, scan key and hash, join, write the changed rows; no table comes out"

    def prepare(self) -> None:
        self.create(
            "is_current boolean", "row_hash bigint", partition="is_current",
            **{"format-version": "2", "write.merge.mode": "merge-on-read"},
        )  # fmt: skip
        self._hashed(self.read_history().drop("valid_from", "valid_to")).writeTo(
            self.table
        ).append()

    def run(self, number: int) -> None:
        self._hashed(self.read_records(number)).createOrReplaceTempView("batch")
        deleted = f", t.{self.keys[0]} IS NOT NULL AND s.row_hash IS NULL AS deleted"
        same_key = " AND ".join(f"t.{key} = s.{key}" for key in self.keys)
        how = "FULL OUTER" if self.is_full else "LEFT OUTER"
        key = ", ".join(f"t.{key} AS old_{key}" for key in self.keys)
        self.spark.sql(
            f"SELECT s.*, {key}{deleted} FROM batch s {how} JOIN (SELECT {', '.join(self.keys)}, "
            f"row_hash FROM {self.table} WHERE is_current) t ON {same_key} "
            "WHERE NOT (t.row_hash <=> s.row_hash)"
        ).write.parquet(str(self._changes(number)))

    def finish_batch(self, number: int) -> None:
        """Bring its table to the state of the batch, outside the measured time."""
        self.spark.read.parquet(str(self._changes(number))).createOrReplaceTempView("changes")
        old = " AND ".join(f"t.{key} = s.old_{key}" for key in self.keys)
        self.spark.sql(
            f"MERGE INTO {self.table} t USING (SELECT * FROM changes WHERE "
            f"old_{self.keys[0]} IS NOT NULL) s ON {old} AND t.is_current "
            "WHEN MATCHED THEN UPDATE SET t.is_current = false"
        )
        self.spark.sql(
            f"INSERT INTO {self.table} SELECT {', '.join(self.names)}, true, row_hash "
            "FROM changes WHERE NOT deleted"
        )

    def read_back(self, target: Path) -> None:
        raise NotImplementedError("the floor keeps no history")

    def _changes(self, number: int) -> Path:
        return self.place.folder / f"changes_{number}"

    def _hashed(self, frame: Any) -> Any:
        rest = [name for name in self.names if name not in self.keys]
        parts = ", ".join(f"{name}, {name} IS NULL" for name in rest)
        return frame.selectExpr("*", f"xxhash64({parts}) AS row_hash")
