"""The base of every contestant: a table that is prepared, merged into, and read back."""

import os
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from benchmarks.columns import Column, columns_of, keys_of
from benchmarks.generator import Dataset
from lakekit.spark_conf import LOCAL_FILES, LOCAL_SCANS, STEADY_JAVA


@dataclass(frozen=True)
class Place:
    """Where and with what a contestant runs; the same for all of them but the folder."""

    folder: Path
    data: Dataset
    class_path: str = ""
    master: str = "local[2]"
    memory: str = "3g"
    shuffle_partitions: int = 4
    settings: dict[str, str] = field(default_factory=dict)


class Contestant(ABC):
    """One way to keep a history. `run` alone is timed."""

    about = ""

    def __init__(self, place: Place) -> None:
        self.place = place
        self.data = place.data
        self.columns: tuple[Column, ...] = columns_of(self.data.workload)
        self.keys: tuple[str, ...] = keys_of(self.data.workload.key_type)

    @property
    def names(self) -> list[str]:
        """Return the names of the dimension's columns."""
        return [column.name for column in self.columns]

    @property
    def is_full(self) -> bool:
        """Whether an absent key is a deleted one."""
        return self.data.workload.extract == "full"

    @abstractmethod
    def prepare(self) -> None:
        """Make the table with the starting history."""

    @abstractmethod
    def run(self, number: int) -> Any:
        """Merge one batch."""

    def finish_batch(self, number: int) -> None:  # noqa: B027  most have nothing to do
        """Do what is not timed after a batch."""

    @abstractmethod
    def read_back(self, target: Path) -> None:
        """Write Parquet files of the columns, `valid_from`, `valid_to` (UTC) and `is_current`."""

    def files(self) -> dict[str, int]:
        """Return how many files the table has now, by kind."""
        return {}

    def process_ids(self) -> list[int]:
        """Return the processes that do the work."""
        return [os.getpid()]

    def close(self) -> None:  # noqa: B027  most have nothing to do
        """Release what the contestant holds."""


class SparkContestant(Contestant):
    """A contestant on a Spark session of its own, in a JVM of its own."""

    def settings(self) -> dict[str, str]:
        """Return the session's settings that are this contestant's own."""
        return {}

    @cached_property
    def spark(self) -> Any:
        """The session."""
        from pyspark.sql import SparkSession  # noqa: PLC0415  a worker may have no Spark

        place = self.place
        java = f"-Duser.timezone=UTC{STEADY_JAVA}{LOCAL_SCANS}"
        settings = {
            **LOCAL_FILES,
            "spark.driver.memory": place.memory,
            "spark.driver.extraClassPath": place.class_path,
            "spark.executor.extraClassPath": place.class_path,
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.driver.host": "127.0.0.1",
            "spark.driver.extraJavaOptions": java,
            "spark.executor.extraJavaOptions": java,
            "spark.sql.session.timeZone": "UTC",
            "spark.sql.shuffle.partitions": str(place.shuffle_partitions),
            "spark.sql.codegen.cache.maxEntries": "1000",
            "spark.sql.warehouse.dir": str(place.folder / "spark"),
            "spark.local.dir": str(place.folder / "scratch"),
            "spark.ui.enabled": "false",
            "spark.ui.showConsoleProgress": "false",
            "spark.ui.retainedStages": "10000",
            "spark.log.level": "ERROR",
            # Between its batches the process of a contestant is stopped, and gives no sign of life.
            "spark.network.timeout": "7200s",
            **self.settings(),
            **place.settings,
        }
        builder = SparkSession.builder.master(place.master).appName("benchmark")
        for key, value in settings.items():
            builder = builder.config(key, value)
        return builder.getOrCreate()

    def read_history(self) -> Any:
        """Return the starting history as a frame."""
        return self.spark.read.parquet(str(self.data.history))

    def read_records(self, number: int) -> Any:
        """Return a batch as a frame, with an explicit schema."""
        schema = ", ".join(f"{column.name} {column.type}" for column in self.columns)
        return self.spark.read.schema(schema).json([str(f) for f in self.data.batch(number)])

    def extraction_time(self, number: int) -> str:
        """Return a batch's extraction time as SQL."""
        return f"TIMESTAMP '{self.data.extraction_time(number):%Y-%m-%d %H:%M:%S}'"

    def write_back(self, target: Path, *more: str, source: str) -> None:
        """Write a query over the table in the form of `read_back`."""
        query = f"SELECT {', '.join([*self.names, *more])} FROM {source}"
        self.spark.sql(query).write.mode("overwrite").parquet(str(target))

    def process_ids(self) -> list[int]:
        jvm = self.spark.sparkContext._jvm
        return [os.getpid(), int(jvm.java.lang.ProcessHandle.current().pid())]

    def close(self) -> None:
        self.spark.stop()


class IcebergContestant(SparkContestant):
    """A contestant on Iceberg, in a JDBC catalog on SQLite."""

    table = "lake.bench.customer"
    cache_catalog = True

    def settings(self) -> dict[str, str]:
        catalog = "spark.sql.catalog.lake"
        return {
            "spark.sql.extensions": (
                "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions"
            ),
            catalog: "org.apache.iceberg.spark.SparkCatalog",
            f"{catalog}.type": "jdbc",
            f"{catalog}.uri": f"jdbc:sqlite:{self.place.folder}/catalog.db?busy_timeout=60000",
            f"{catalog}.jdbc.schema-version": "V1",
            f"{catalog}.jdbc.init-catalog-tables": "false",
            f"{catalog}.warehouse": str(self.place.folder / "tables"),
            f"{catalog}.cache-enabled": str(self.cache_catalog).lower(),
            "spark.sql.defaultCatalog": "lake",
            "spark.sql.ansi.enabled": "true",
        }

    def create(self, *columns: str, partition: str = "", **properties: str) -> None:
        """Create the table."""
        fields = ", ".join([*(f"{c.name} {c.type}" for c in self.columns), *columns])
        pairs = ", ".join(f"'{k}' = '{v}'" for k, v in properties.items())
        self.spark.sql("CREATE NAMESPACE IF NOT EXISTS lake.bench")
        self.spark.sql(
            f"CREATE TABLE {self.table} ({fields}) USING iceberg"
            + (f" PARTITIONED BY ({partition})" if partition else "")
            + (f" TBLPROPERTIES ({pairs})" if pairs else "")
        )

    def files(self) -> dict[str, int]:
        rows = self.spark.sql(
            "SELECT content, count(*) AS n, sum(file_size_in_bytes) AS size "
            f"FROM {self.table}.files GROUP BY content"
        ).collect()
        kinds = {0: "data", 1: "deletes", 2: "deletes"}
        sizes = {f"{kinds[row['content']]}_bytes": int(row["size"]) for row in rows}
        return {kinds[row["content"]]: int(row["n"]) for row in rows} | sizes
