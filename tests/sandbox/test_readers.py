"""PyIceberg and DuckDB, over a moto server."""

from collections.abc import Iterator

import boto3
import pyarrow as pa
import pytest
from moto.server import ThreadedMotoServer
from pyiceberg.catalog.glue import GlueCatalog

from lakekit.cli.readers import Counts, count_with_duckdb, count_with_pyiceberg, open_table


@pytest.fixture(scope="module")
def environment() -> Iterator[dict[str, str]]:
    server = ThreadedMotoServer(port=0)
    server.start()
    _, port = server.get_host_and_port()
    yield {
        "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}",
        "AWS_REGION": "eu-west-1",
        "AWS_ACCESS_KEY_ID": "sandbox",
        "AWS_SECRET_ACCESS_KEY": "sandbox",
    }
    server.stop()


@pytest.fixture(scope="module")
def catalog(environment: dict[str, str]) -> GlueCatalog:
    endpoint, region = environment["AWS_ENDPOINT_URL"], environment["AWS_REGION"]
    session = boto3.Session("sandbox", "sandbox", region_name=region)
    client = session.client("s3", endpoint_url=endpoint)
    client.create_bucket(
        Bucket="lake", CreateBucketConfiguration={"LocationConstraint": "eu-west-1"}
    )
    properties = {
        "client.access-key-id": "sandbox", "client.secret-access-key": "sandbox",
        "client.region": region, "glue.endpoint": endpoint, "s3.endpoint": endpoint,
    }  # fmt: skip
    catalog = GlueCatalog("lake", **properties)
    catalog.create_namespace("history", {"location": "s3://lake/warehouse/history.db"})
    return catalog


def test_both_engines_count_the_rows_and_the_current_ones(
    environment: dict[str, str], catalog: GlueCatalog
) -> None:
    rows = pa.table({"key": ["a", "b", "c"], "_is_current": [True, True, False]})
    catalog.create_table("history.things", rows.schema).append(rows)

    table = open_table(environment, "history.things")

    assert count_with_pyiceberg(table) == Counts(3, 2)
    assert count_with_duckdb(environment, table.metadata_location) == Counts(3, 2)


def test_counts_as_the_table_was_at_an_earlier_snapshot(
    environment: dict[str, str], catalog: GlueCatalog
) -> None:
    rows = pa.table({"key": ["a"], "_is_current": [True]})
    written = catalog.create_table("history.later", rows.schema)
    written.append(rows)
    first = written.current_snapshot()
    written.append(rows)

    table = open_table(environment, "history.later")

    assert first is not None
    assert count_with_pyiceberg(table, first.snapshot_id) == Counts(1, 1)
    assert count_with_pyiceberg(table) == Counts(2, 2)
