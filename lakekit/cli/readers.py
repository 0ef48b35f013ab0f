"""Two engines that read the tables of a sandbox: PyIceberg and DuckDB."""

from collections.abc import Mapping
from dataclasses import dataclass

from pyiceberg.catalog import load_catalog
from pyiceberg.table import Table

from lakekit.duckdb.connection import S3Access, connect


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
