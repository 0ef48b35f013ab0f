"""Three engines that read the tables of a sandbox: Spark, PyIceberg and DuckDB."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pyiceberg.catalog import load_catalog
from pyiceberg.table import Table
from pyspark.sql import SparkSession

from lakekit.duckdb.connection import S3Access, connect
from lakekit.sandbox import spark_conf
from lakekit.sandbox.connection import Connection
from lakekit.sandbox.settings import Settings
from lakekit.spark.session.jars import PACKAGES, S3_PACKAGES, class_path
from lakekit.spark.session.output import output_into


@dataclass(frozen=True)
class Counts:
    """Rows of a table, and those that are current."""

    total: int
    current: int


def open_table(environment: Mapping[str, str], identifier: str) -> Table:
    """Open a table with PyIceberg, by the Glue catalog.

    Args:
        environment: The AWS variables of the sandbox.
        identifier: `database.table`.
    """
    endpoint, region = environment["AWS_ENDPOINT_URL"], environment["AWS_REGION"]
    properties = {
        "type": "glue",
        "client.access-key-id": environment["AWS_ACCESS_KEY_ID"],
        "client.secret-access-key": environment["AWS_SECRET_ACCESS_KEY"],
        "client.region": region,
        "glue.endpoint": endpoint,
        "s3.endpoint": endpoint,
    }
    return load_catalog("lake", **properties).load_table(identifier)


def count_with_pyiceberg(table: Table, snapshot_id: int | None = None) -> Counts:
    """Count by PyIceberg; with a snapshot, as the table was then."""
    total = table.scan(snapshot_id=snapshot_id).count()
    current = table.scan(row_filter="_is_current = true", snapshot_id=snapshot_id).count()
    return Counts(total, current)


def count_with_duckdb(environment: Mapping[str, str], metadata_location: str) -> Counts:
    """Count by DuckDB, which reads a metadata file and what it names over S3."""
    access = S3Access(
        environment["AWS_ACCESS_KEY_ID"], environment["AWS_SECRET_ACCESS_KEY"],
        environment["AWS_REGION"], environment["AWS_ENDPOINT_URL"],
    )  # fmt: skip
    with connect(access) as connection:
        query = "SELECT count(*), count_if(_is_current) FROM iceberg_scan($location)"
        row = connection.execute(query, {"location": metadata_location}).fetchone()
    assert row is not None  # noqa: S101 - an aggregate has a row
    return Counts(*row)


def open_spark(sandbox: Connection, log: Path) -> SparkSession:
    """Start Spark in this process with the settings of the Glue jobs; Java speaks to the log."""
    job = sandbox.client("glue").get_job(JobName=sandbox.names["jobs"]["merge_scd2"])["Job"]
    settings = Settings(
        root=Path.cwd(), folder=sandbox.folder, assembly=Path(), account="",
        region=sandbox.region, endpoint=sandbox.endpoint,
    )  # fmt: skip
    conf = {
        **spark_conf.deployed(job["DefaultArguments"]["--conf"]),
        **spark_conf.local(settings, class_path(PACKAGES + S3_PACKAGES)),
    }
    # A job's process has its credentials in the environment; this one belongs to a person.
    conf["spark.driver.extraJavaOptions"] += (
        f" -Daws.accessKeyId={sandbox.environment['AWS_ACCESS_KEY_ID']}"
        f" -Daws.secretAccessKey={sandbox.environment['AWS_SECRET_ACCESS_KEY']}"
    )
    builder = SparkSession.builder
    for key, value in conf.items():
        builder = builder.config(key, value)
    with output_into(log):
        spark = builder.getOrCreate()
        spark.sql("SHOW NAMESPACES IN lake").collect()  # loads the catalog, with its warnings
    return spark


def count_with_spark(spark: SparkSession, table: str) -> Counts:
    """Count by Spark; the table may carry `VERSION AS OF`."""
    row = spark.sql(f"SELECT count(*), count_if(_is_current) FROM {table}").first()
    assert row is not None  # noqa: S101 - an aggregate has a row
    return Counts(*row)
