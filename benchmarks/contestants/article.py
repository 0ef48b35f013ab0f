"""The textbook method: MERGE closes what changed, INSERT opens it, straight over the JSON.

It is what most articles on SCD2 with Iceberg show; hence the names.

Made right, so that the comparison is fair to it: the comparison of values is null-safe, and a
full extract also closes the keys that it lacks. It reads with an explicit schema: no pass over
the JSON infers one.
"""

from pathlib import Path

from benchmarks.contestants.base import IcebergContestant


class ArticleCow(IcebergContestant):
    """The textbook's two statements on an unpartitioned table, copy-on-write."""

    about = "MERGE, then INSERT; unpartitioned; copy-on-write (Iceberg's default)"
    mode = "copy-on-write"

    def prepare(self) -> None:
        modes = {f"write.{kind}.mode": self.mode for kind in ("merge", "update", "delete")}
        times = ("valid_from timestamp", "valid_to timestamp", "is_current boolean")
        self.create(*times, **{"format-version": "2", **modes})
        self.read_history().selectExpr(
            *self.names,
            "CAST(valid_from AS timestamp) AS valid_from",
            "CAST(valid_to AS timestamp) AS valid_to",
            "is_current",
        ).writeTo(self.table).append()

    def run(self, number: int) -> None:
        self.read_records(number).createOrReplaceTempView("raw")
        keys, at = ", ".join(self.keys), self.extraction_time(number)
        self.spark.sql(
            f"SELECT {', '.join(self.names)} FROM (SELECT *, row_number() OVER "
            f"(PARTITION BY {keys} ORDER BY {keys}) AS rank FROM raw) WHERE rank = 1"
        ).createOrReplaceTempView("batch")
        same_key = " AND ".join(f"t.{key} = s.{key}" for key in self.keys)
        rest = [name for name in self.names if name not in self.keys]
        changed = " OR ".join(f"NOT (t.{name} <=> s.{name})" for name in rest)
        close = f"THEN UPDATE SET t.is_current = false, t.valid_to = {at}"
        self.spark.sql(
            f"MERGE INTO {self.table} t USING batch s ON {same_key} AND t.is_current "
            f"WHEN MATCHED AND ({changed}) {close}"
        )
        if self.is_full:
            named = ", ".join(f"t.{key}" for key in self.keys)
            self.spark.sql(
                f"MERGE INTO {self.table} t USING (SELECT {named} FROM {self.table} t "
                f"LEFT ANTI JOIN batch s ON {same_key} WHERE t.is_current) s "
                f"ON {same_key} AND t.is_current WHEN MATCHED {close}"
            )
        self.spark.sql(
            f"INSERT INTO {self.table} SELECT s.*, {at}, CAST(NULL AS timestamp), true "
            f"FROM batch s LEFT JOIN {self.table} t ON {same_key} AND t.is_current "
            f"WHERE t.{self.keys[0]} IS NULL"
        )

    def read_back(self, target: Path) -> None:
        times = [f"CAST({t} AS timestamp_ntz) AS {t}" for t in ("valid_from", "valid_to")]
        self.write_back(target, *times, "is_current", source=self.table)


class ArticleMor(ArticleCow):
    """The same statements, merge-on-read."""

    about = "MERGE, then INSERT; unpartitioned; merge-on-read"
    mode = "merge-on-read"
