"""PyIceberg and DuckDB, over a moto server; and the commands that read AWS and the sandbox."""

import json
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from datetime import datetime
from pathlib import Path

import boto3
import pyarrow as pa
import pytest
from click.testing import Result
from moto.server import ThreadedMotoServer
from pyiceberg.catalog.glue import GlueCatalog
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.transforms import IdentityTransform
from pyiceberg.types import BooleanType, NestedField, StringType, TimestampType
from typer.testing import CliRunner

from lakekit.cli.main import app
from lakekit.cli.readers import Counts, count_with_duckdb, count_with_pyiceberg, open_table
from lakekit.duckdb.reader import open_reader
from lakekit.errors import InvalidStepInputError
from lakekit.local.catalog import LocalCatalog
from lakekit.sandbox.connection import Connection
from lakekit.warehouse import places as warehouse_places
from tests.tiers import long


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


# What a path of S3, an address or a pattern may take for its own.
KEYS = ["a", "*", "a b", "100%", "%2F", "a+b", "a/b", "?x=1", "#", "[a-z]", "é", "{a,b}", "", "~"]
SCHEMA = Schema(
    NestedField(1, "k", StringType()),
    NestedField(2, "_is_current", BooleanType()),
    NestedField(3, "_valid_from", TimestampType()),
    NestedField(4, "_valid_to", TimestampType()),
)
CONTRACT = {
    "lakekit.contract": json.dumps({
        "version": 1, "mode": "scd2", "keys": ["k"], "sequence_by": None, "deletes": "close",
        "ignore_null_updates": False,
    })
}  # fmt: skip
FIRST = datetime(2026, 1, 1)


@pytest.fixture(scope="module")
def keys(catalog: GlueCatalog) -> str:
    """A table with a partition for each of its keys."""
    by_key = PartitionSpec(PartitionField(1, 1000, IdentityTransform(), "k"))
    table = catalog.create_table("history.keys", SCHEMA, partition_spec=by_key, properties=CONTRACT)
    rows = [{"k": key, "_is_current": True, "_valid_from": FIRST} for key in [*KEYS, None]]
    table.append(pa.Table.from_pylist(rows, schema=SCHEMA.as_arrow()))
    return "keys"


@pytest.fixture
def ask(environment: dict[str, str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """Run a command that reads; by `place` in the sandbox, or in the environment `dev`."""
    about = {
        "endpoint": environment["AWS_ENDPOINT_URL"], "region": environment["AWS_REGION"],
        "folder": str(tmp_path), "names": {"database": "history"},
    }  # fmt: skip
    monkeypatch.setattr(warehouse_places, "connect", lambda *_: Connection(about))
    (tmp_path / "config/environments").mkdir(parents=True)
    own = "account: '123456789012'\nregion: eu-west-1\nstorage: {database: history}\n"
    (tmp_path / "config/environments/dev.yaml").write_text(own)
    (tmp_path / "config/environments/base.yaml").write_text("{}\n")
    monkeypatch.chdir(tmp_path)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)

    def run(*arguments: str) -> Result:
        return CliRunner().invoke(app, [*arguments])

    return run


@pytest.mark.parametrize("place", [["--sandbox"], ["--environment", "dev"]])
def test_tables_of_aws_and_of_the_sandbox_are_read(ask, keys, place):
    rows = json.loads(ask("as-of", keys, "2026-02-01T00:00:00Z", *place, "--format=json").stdout)
    listed = json.loads(ask("tables", *place, "--format", "json").stdout)

    assert sorted(row["k"] for row in rows if row["k"]) == sorted(filter(None, KEYS))
    assert len(rows) == len(KEYS) + 1
    (about,) = [each for each in listed if each["table"] == keys]
    assert (about["kind"], about["rows"], about["current"]) == ("scd2", 15, 15)
    assert (
        ask("describe", keys, *place, "--format", "csv").stdout.splitlines()[1] == "k,string,key,"
    )


@pytest.mark.parametrize("key", ["%2F", "?x=1", *map(long, KEYS)])
def test_a_key_is_found_whatever_the_path_of_its_file(ask, keys, key):
    found = ask("history", keys, "--key", f"k={key}", "--sandbox", "--format", "ndjson")

    assert json.loads(found.stdout)["k"] == key


def test_an_unknown_table_is_one_line(ask, keys):
    unknown = ask("history", "kys", "--key", "k=a", "--sandbox")

    assert "no table 'kys'; did you mean keys? there are " in str(unknown.exception)


@pytest.mark.parametrize(
    "options", [["--sandbox", "--environment", "dev"], ["--sandbox", "--warehouse", "w"]]
)
def test_one_place_is_named(ask, options):
    refused = ask("tables", *options)

    assert "give --warehouse FOLDER, --sandbox or --environment NAME" in str(refused.exception)


@pytest.fixture
def warehouse(tmp_path: Path) -> str:
    """A local warehouse without tables."""
    with closing(sqlite3.connect(tmp_path / "catalog.db")) as connection:
        connection.execute(
            "CREATE TABLE iceberg_tables (catalog_name, table_namespace, table_name, "
            "metadata_location)"
        )
    return str(tmp_path)


def test_who_has_read_enough_sees_no_error(warehouse):
    query = "SELECT * FROM range(200000)"
    asked = [sys.executable, "-m", "lakekit.cli.main", "sql", query, "--warehouse", warehouse]
    with subprocess.Popen(
        [*asked, "--format", "ndjson"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as command:
        assert command.stdout is not None
        assert command.stderr is not None
        assert command.stdout.readline() == b'{"range": 0}\n'
        command.stdout.close()
        assert command.stderr.read() == b""


@pytest.mark.parametrize(
    ("form", "printed"),
    [
        ("table", "a │ b\n──┼──\n1 │\n"),
        ("json", '[\n  {"a": 1, "b": null}\n]\n'),
        ("ndjson", '{"a": 1, "b": null}\n'),
        ("csv", "a,b\n1,\n"),
        ("markdown", "| a | b |\n|---|---|\n| 1 |  |\n"),
    ],
)
def test_rows_are_printed_in_each_format(ask, warehouse, form, printed):
    query = "SELECT 1 AS a, NULL AS b"

    assert ask("sql", query, "--warehouse", warehouse, "--format", form).stdout == printed


def test_a_limit_is_named_where_it_leaves_rows_out(ask, warehouse):
    query = "FROM range(3)"

    two = ask("sql", query, "--warehouse", warehouse, "--limit", "2", "--format", "csv")
    three = ask("sql", query, "--warehouse", warehouse, "--limit", "3", "--format", "csv")

    assert (two.stdout, two.stderr) == (
        "range\n0\n1\n", "the first 2 rows; --limit 0 shows all\n",
    )  # fmt: skip
    assert (three.stdout, three.stderr) == ("range\n0\n1\n2\n", "")


@pytest.mark.parametrize(
    ("query", "fault"),
    [
        ("SELECT * FROM t", "no table 't'; there are none yet"),
        ("SELEC 1", 'syntax error at or near "SELEC"'),
        ("SELECT 1; SELECT 2", "give one query, which only reads"),
        ("CREATE TABLE t (a int)", "give one query, which only reads"),
        ("COPY (SELECT 1) TO 'x.csv'", "give one query, which only reads"),
        ("INSTALL spatial", "give one query, which only reads"),
        ("", "give one query, which only reads"),
        ("SELECT $1", "Unexpected prepared parameter"),
        ("SELECT 'x'::int", "Could not convert string 'x' to INT32"),
        ("SELECT date 'infinity'", "a date or time outside the years 1 to 9999"),
    ],
)
def test_a_query_that_cannot_be_is_refused_in_one_line(ask, warehouse, query, fault):
    refused = ask("sql", query, "--warehouse", warehouse)

    assert isinstance(refused.exception, InvalidStepInputError)
    assert str(refused.exception).startswith(fault) or fault in str(refused.exception)
    assert "\n" not in str(refused.exception)


def test_no_tables_are_none(ask, warehouse):
    found = ask("tables", "--warehouse", warehouse, "--format", "json")

    assert (json.loads(found.stdout), found.stderr) == ([], "no tables yet\n")


def test_spark_reads_a_local_warehouse_only(ask):
    refused = ask("sql", "SELECT 1", "--sandbox", "--engine", "spark")

    assert "--engine spark reads a local warehouse" in str(refused.exception)


@pytest.mark.parametrize("where", ["d = 'nan'", "d > 5", "f > 5", "st.d > 5", "isnan(f)"])
def test_a_file_is_not_left_out_for_values_that_its_bounds_do_not_have(tmp_path, where):
    nan = [1.0, float("nan"), 2.0]
    rows = pa.table({
        "id": [1, 2, 3], "d": nan, "f": pa.array(nan, pa.float32()), "st": [{"d": d} for d in nan],
    })  # fmt: skip
    catalog = SqlCatalog("lake", uri=f"sqlite:///{tmp_path}/catalog.db", warehouse=str(tmp_path))
    try:
        catalog.create_namespace("local")
        catalog.create_table("local.numbers", rows.schema).append(rows)
    finally:
        catalog.engine.dispose()

    with open_reader(LocalCatalog(tmp_path)) as reader:
        assert [*reader.sql(f"SELECT id FROM numbers WHERE {where}").rows] == [(2,)]
