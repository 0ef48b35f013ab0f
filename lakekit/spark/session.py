"""Spark sessions: one set of settings for every place a job runs in."""

from pathlib import Path

from pyspark.sql import SparkSession

from lakekit.spark.jars import class_path

CATALOG = "lake"
LOCAL_DATABASE = "local"
SETTINGS = {
    "spark.sql.extensions": ("org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions"),
    f"spark.sql.catalog.{CATALOG}": "org.apache.iceberg.spark.SparkCatalog",
    # A cached table object would show an old main to the evidence check.
    f"spark.sql.catalog.{CATALOG}.cache-enabled": "false",
    "spark.sql.defaultCatalog": CATALOG,
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.ansi.enabled": "true",
    "spark.sql.adaptive.enabled": "true",
}


def local_session(warehouse: Path, *, cores: int = 2) -> SparkSession:
    """Start (or get) Spark over a warehouse folder: Iceberg's JDBC catalog on SQLite, no server.

    Args:
        warehouse: Folder of the tables; made if it is absent.
        cores: Local threads.
    """
    warehouse.mkdir(parents=True, exist_ok=True)
    catalog = f"spark.sql.catalog.{CATALOG}"
    settings = {
        **SETTINGS,
        f"{catalog}.type": "jdbc",
        f"{catalog}.uri": f"jdbc:sqlite:{warehouse.resolve() / 'catalog.db'}?busy_timeout=60000",
        f"{catalog}.jdbc.schema-version": "V1",
        f"{catalog}.warehouse": str(warehouse.resolve()),
        "spark.driver.extraClassPath": class_path(),
        "spark.ui.showConsoleProgress": "false",
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": str(2 * cores),
        "spark.driver.memory": "3g",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.log.level": "ERROR",
        # The JVM's own zone moves `date` and `timestamp` in the driver's conversions.
        "spark.driver.extraJavaOptions": "-Duser.timezone=UTC",
    }
    builder = SparkSession.builder.master(f"local[{cores}]").appName("lakekit")
    for key, value in settings.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    spark.sql(f"CREATE NAMESPACE IF NOT EXISTS {CATALOG}.{LOCAL_DATABASE}")
    spark.sql(f"USE {CATALOG}.{LOCAL_DATABASE}")
    return spark
