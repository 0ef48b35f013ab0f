"""SQLMesh's SCD type 2 by column, through its Spark engine adapter, on Iceberg."""

from functools import cached_property
from pathlib import Path
from typing import Any

from benchmarks.contestants.base import IcebergContestant


class Sqlmesh(IcebergContestant):
    """`scd_type_2_by_column` with its own SQL; one look-up of the adapter is replaced.

    On Spark 3.5 with an Iceberg catalog its `SHOW TABLE EXTENDED` fails, the error is swallowed,
    and the run changes nothing. The look-up is answered here; the SQL stays SQLMesh's.
    """

    about = "SQLMesh 0.236.4, scd_type_2_by_column; its table look-up replaced, which fails here"

    def settings(self) -> dict[str, str]:
        return super().settings() | {"spark.sql.ansi.enabled": "false"}

    @cached_property
    def _adapter(self) -> Any:
        from sqlglot import exp  # noqa: PLC0415
        from sqlmesh.core.engine_adapter.shared import (  # noqa: PLC0415  in the peers' environment
            DataObject,
            DataObjectType,
        )
        from sqlmesh.core.engine_adapter.spark import SparkEngineAdapter  # noqa: PLC0415
        from sqlmesh.engines.spark.db_api import spark_session  # noqa: PLC0415

        spark = self.spark

        class Adapter(SparkEngineAdapter):  # type: ignore[misc]  # untyped in the core environment
            def _get_data_objects(self, schema_name: Any, object_names: Any = None) -> list[Any]:
                schema = exp.to_table(schema_name).sql(dialect="spark").replace("`", "")
                rows = spark.sql(f"SHOW TABLES IN {schema}").collect()
                return [
                    DataObject(
                        catalog="lake",
                        schema=row["namespace"],
                        name=row["tableName"],
                        type=DataObjectType.TABLE,
                    )
                    for row in rows
                    if object_names is None or row["tableName"] in object_names
                ]

        return Adapter(lambda: spark_session.connection(spark, "lake"), default_catalog="lake")

    def prepare(self) -> None:
        self.create("valid_from timestamp", "valid_to timestamp")
        self.read_history().selectExpr(
            *self.names,
            "CAST(valid_from AS timestamp) AS valid_from",
            "CAST(valid_to AS timestamp) AS valid_to",
        ).writeTo(self.table).append()

    def run(self, number: int) -> None:
        from sqlglot import exp  # noqa: PLC0415  in the peers' environment alone

        types = {c.name: exp.DataType.build(c.type, dialect="spark") for c in self.columns}
        times = {name: exp.DataType.build("timestamp", dialect="spark") for name in _TIMES}
        self._adapter.scd_type_2_by_column(
            exp.to_table(self.table),
            self.read_records(number),
            unique_key=[exp.column(key) for key in self.keys],
            valid_from_col=exp.column("valid_from"),
            valid_to_col=exp.column("valid_to"),
            execution_time=self.data.extraction_time(number),
            check_columns=[exp.column(name) for name in self.names if name not in self.keys],
            invalidate_hard_deletes=self.is_full,
            target_columns_to_types=types | times,
        )

    def read_back(self, target: Path) -> None:
        times = [f"CAST({t} AS timestamp_ntz) AS {t}" for t in _TIMES]
        self.write_back(target, *times, "valid_to IS NULL AS is_current", source=self.table)


_TIMES = ("valid_from", "valid_to")
