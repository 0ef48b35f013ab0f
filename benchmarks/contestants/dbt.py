"""dbt snapshots: dbt-spark in the session that it finds, check strategy, Iceberg.

dbt stamps versions with the current time. A macro of the project gives it the extraction time
instead: its table can then be compared with the expected one to the second.
"""

from pathlib import Path
from typing import Any

from benchmarks.contestants.base import IcebergContestant

_PROJECT = """
name: bench
version: "1.0"
config-version: 2
profile: bench
snapshot-paths: [snapshots]
macro-paths: [macros]
flags: {send_anonymous_usage_stats: false}
"""
_PROFILE = """
bench:
  target: here
  outputs:
    here: {type: spark, method: session, schema: bench, host: NA, threads: 1}
"""
_MACRO = """
{% macro spark__snapshot_get_time() %}to_timestamp('${bench.at}'){% endmacro %}
"""
_SNAPSHOT = """
{%% snapshot customer %%}
{{ config(target_schema='bench', unique_key=%(keys)s, strategy='check', check_cols='all',
          file_format='iceberg', hard_deletes='%(deletes)s') }}
select * from spark_catalog.default.batch
{%% endsnapshot %%}
"""


class Dbt(IcebergContestant):
    """`dbt snapshot`, the whole invocation timed, as a person waits for it."""

    about = "dbt-core 1.11.16, dbt-spark 1.11.0, snapshot, check strategy; copy-on-write (default)"
    mode = "copy-on-write"

    def settings(self) -> dict[str, str]:
        catalog = "spark.sql.catalog.lake"
        return super().settings() | {
            "spark.sql.ansi.enabled": "false",
            "spark.sql.catalogImplementation": "in-memory",
            f"{catalog}.default-namespace": "bench",
        }

    def prepare(self) -> None:
        modes = {f"write.{kind}.mode": self.mode for kind in ("merge", "update", "delete")}
        times = [f"dbt_{name} timestamp" for name in ("updated_at", "valid_from", "valid_to")]
        self.create("dbt_scd_id string", *times, **{"format-version": "2", **modes})
        self.spark.sql("USE lake.bench")
        key = " || '|' || ".join(f"CAST({key} AS string)" for key in self.keys)
        start = "CAST(valid_from AS timestamp)"
        self.read_history().selectExpr(
            *self.names,
            f"md5({key} || '|' || CAST({start} AS string)) AS dbt_scd_id",
            f"{start} AS dbt_updated_at",
            f"{start} AS dbt_valid_from",
            "CAST(valid_to AS timestamp) AS dbt_valid_to",
        ).writeTo(self.table).append()
        self._write_project()

    def _write_project(self) -> None:
        # A list of keys fails here: dbt adds `dbt_unique_key_1` to the table, then finds it twice.
        keys = f"concat_ws('|', {', '.join(self.keys)})" if len(self.keys) > 1 else self.keys[0]
        deletes = "invalidate" if self.is_full else "ignore"
        snapshot = _SNAPSHOT % {"keys": repr(keys), "deletes": deletes}
        files = {
            "dbt_project.yml": _PROJECT,
            "profiles.yml": _PROFILE,
            "macros/time.sql": _MACRO,
            "snapshots/customer.sql": snapshot,
        }
        for name, text in files.items():
            file = self._project / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)

    @property
    def _project(self) -> Path:
        return self.place.folder / "project"

    def run(self, number: int) -> None:
        from dbt.cli.main import dbtRunner  # noqa: PLC0415  in the peers' environment alone

        fields = ", ".join(f"{column.name} {column.type}" for column in self.columns)
        folder = self.data.batch(number)[0].parent
        self.spark.sql("DROP TABLE IF EXISTS spark_catalog.default.batch")
        self.spark.sql(
            f"CREATE TABLE spark_catalog.default.batch ({fields}) USING json LOCATION '{folder}'"
        )
        where = ["--project-dir", str(self._project), "--profiles-dir", str(self._project)]
        # Through the session: another value of a variable of dbt would parse the project again.
        self.spark.conf.set("bench.at", f"{self.data.extraction_time(number):%Y-%m-%d %H:%M:%S}")
        done: Any = dbtRunner().invoke(["--no-version-check", "snapshot", *where])
        if not done.success:
            results = getattr(done.result, "results", None) or []
            raise RuntimeError(f"dbt: {done.exception or [r.message for r in results]}")

    def read_back(self, target: Path) -> None:
        times = [
            f"CAST(dbt_{name} AS timestamp_ntz) AS {name}" for name in ("valid_from", "valid_to")
        ]
        self.write_back(target, *times, "dbt_valid_to IS NULL AS is_current", source=self.table)


class DbtMor(Dbt):
    """The same on a merge-on-read table."""

    about = "dbt-core 1.11.16, dbt-spark 1.11.0, snapshot, check strategy; merge-on-read"
    mode = "merge-on-read"
