"""Spark sessions: one set of settings for every place a job runs in."""

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from lakekit.spark.session.jars import class_path
from lakekit.spark.session.java import provide_java
from lakekit.spark_conf import (
    CATALOG,
    LIGHT_JAVA,
    LOCAL_DATABASE,
    LOCAL_FILES,
    LOCAL_SCANS,
    SETTINGS,
    STEADY_JAVA,
)

# The schema V1 of Iceberg's JDBC catalog; PyIceberg and DuckDB know it too.
CATALOG_TABLES = """
CREATE TABLE IF NOT EXISTS iceberg_tables (
  catalog_name VARCHAR(255) NOT NULL,
  table_namespace VARCHAR(255) NOT NULL,
  table_name VARCHAR(255) NOT NULL,
  metadata_location VARCHAR(1000),
  previous_metadata_location VARCHAR(1000),
  iceberg_type VARCHAR(5),
  PRIMARY KEY (catalog_name, table_namespace, table_name)
);
CREATE TABLE IF NOT EXISTS iceberg_namespace_properties (
  catalog_name VARCHAR(255) NOT NULL,
  namespace VARCHAR(255) NOT NULL,
  property_key VARCHAR(255) NOT NULL,
  property_value VARCHAR(1000),
  PRIMARY KEY (catalog_name, namespace, property_key)
);
"""

# Where a predicate of a contract, or a text, does not name another zone.
IN_UTC = {"spark.sql.session.timeZone": "UTC"}

# The number of cores by which Spark cuts files into tasks; else the cores that are there.
_CUT_FOR = "spark.sql.files.minPartitionNum"

_ASKED_OFTEN = (
    "functions.col",
    "functions.lit",
    "functions.when",
    "PythonUtils.toSeq",
    "PythonSQLUtils",
    "Column",
    "SparkSession",
    "org.apache.spark.sql",
    "org.apache.spark.util.Utils",
    "org.apache.iceberg.spark.Spark3Util",
    "org.apache.iceberg.TableMetadataParser",
    "com.fasterxml.jackson.databind.ObjectMapper",
    # The end of a Java iterator is an error, whose kind is looked at.
    "py4j.reflection.TypeUtil",
)


def local_session(warehouse: Path, *, cores: int = 2, light: bool = False) -> SparkSession:
    """Start (or get) Spark over a warehouse folder: Iceberg's JDBC catalog on SQLite, no server.

    Args:
        warehouse: Folder of the tables; made if it is absent.
        cores: Local threads.
        light: Compile Java lightly: half the work for small data, slower for large.
    """
    provide_java()
    database = make_catalog(warehouse)
    catalog = f"spark.sql.catalog.{CATALOG}"
    java = LIGHT_JAVA if light else STEADY_JAVA
    settings = {
        **SETTINGS,
        f"{catalog}.type": "jdbc",
        f"{catalog}.uri": f"jdbc:sqlite:{database}?busy_timeout=60000",
        f"{catalog}.jdbc.schema-version": "V1",
        # Iceberg leaves its look for the tables open, which locks out every writer.
        f"{catalog}.jdbc.init-catalog-tables": "false",
        f"{catalog}.warehouse": str(warehouse.resolve()),
        "spark.driver.extraClassPath": class_path(),
        **LOCAL_FILES,
        "spark.ui.showConsoleProgress": "false",
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": str(2 * cores),
        "spark.driver.memory": "3g",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.log.level": "ERROR",
        # The JVM's own zone moves `date` and `timestamp` in the driver's conversions.
        "spark.driver.extraJavaOptions": f"-Duser.timezone=UTC{java}{LOCAL_SCANS}",
    }
    builder = SparkSession.builder.master(f"local[{cores}]").appName("lakekit")
    for key, value in settings.items():
        builder = builder.config(key, value)
    spark = _quick(builder.getOrCreate())
    spark.sql(f"CREATE NAMESPACE IF NOT EXISTS {CATALOG}.{LOCAL_DATABASE}")
    spark.sql(f"USE {CATALOG}.{LOCAL_DATABASE}")
    return spark


def make_catalog(warehouse: Path) -> Path:
    """Make a warehouse folder and its catalog where they are absent; return the catalog's file.

    Raises:
        OSError, sqlite3.Error: The folder cannot be made or written, or has another file there.
    """
    warehouse.mkdir(parents=True, exist_ok=True)
    database = warehouse.resolve() / "catalog.db"
    with closing(sqlite3.connect(database, timeout=60)) as connection:
        connection.executescript(CATALOG_TABLES)
    return database


@contextmanager
def session_settings(spark: SparkSession, settings: Mapping[str, str]) -> Iterator[None]:
    """Change settings of a session for a while."""
    before = {key: spark.conf.get(key, None) for key in settings}
    for key, value in settings.items():
        spark.conf.set(key, value)
    try:
        yield
    finally:
        for key, old in before.items():
            if old is None:
                spark.conf.unset(key)
            else:
                spark.conf.set(key, old)


def steady(spark: SparkSession) -> dict[str, str]:
    """Return the settings by which a run reads the same each time that it reads.

    Times are UTC. A date that does not exist is no date; Spark would stop, as an older Spark read
    it. Files are cut into the same tasks, on which the number of a line depends: on a cluster that
    grows, Spark would cut them differently with each new executor.
    """
    cores = spark.conf.get(_CUT_FOR, None) or str(spark.sparkContext.defaultParallelism)
    return IN_UTC | {_CUT_FOR: cores, "spark.sql.legacy.timeParserPolicy": "CORRECTED"}


def job_session() -> SparkSession:
    """Get the session of a job; `--conf` has its settings and those of sessions made from it."""
    return _quick(SparkSession.builder.getOrCreate())


def _quick(spark: SparkSession) -> SparkSession:
    """Look up once what PySpark asks Java for by its name in every call.

    Each time Py4J would search all jars for it, which takes a quarter of a small merge.
    """
    for path in _ASKED_OFTEN:
        owner: Any = spark._jvm
        for name in path.split("."):
            found = getattr(owner, name)
            setattr(owner, name, found)
            owner = found
    return spark
