"""Readers of a history, and every Spark snippet of their page."""

import json
from datetime import UTC, datetime

import pytest

from lakekit.batch import Batch
from lakekit.contract.contract import load_contract
from lakekit.errors import SchemaMismatchError
from lakekit.spark.merge_scd2 import merge_scd2
from lakekit.spark.query import changes_between, current_rows, rows_as_of
from lakekit.sql import queries as reading
from tests.docs.pages import ROOT, snippets
from tests.spark.support.people import people

TEXT = """
contract: airports
source: airports_api
endpoint: {path: /airports}
schema: [{name: icao, type: string}, {name: name, type: string}, {name: city, type: string}]
history: {keys: [icao], max_deleted_ratio: 1}
"""
PAGE = [each for kind in ("sql", "python") for each in snippets(kind)
        if each.page == "docs/reading.md"]  # fmt: skip
SPARK = [each for each in PAGE if each.text.partition("\n")[0] in ("-- Spark", "# Spark")]


def on(day: str) -> datetime:
    return datetime.fromisoformat(f"{day}T00:00:00+00:00")


@pytest.fixture(scope="module")
def airports(spark, tmp_path_factory):
    """In March 2025 EHAM is renamed, WIOS deleted and KJFK new."""
    folder = tmp_path_factory.mktemp("airports")
    for day, names in {
        "2024-08-06": {"EHAM": "Schiphol", "WIOS": "Susilo"},
        "2025-03-01": {"EHAM": "Amsterdam", "KJFK": "Kennedy"},
    }.items():
        file = folder / f"{day}.ndjson"
        records = [{"icao": icao, "name": name} for icao, name in names.items()]
        file.write_text("".join(json.dumps(record) + "\n" for record in records))
        batch = Batch(run_id=day, extract="full", extraction_time=on(day), files=(str(file),))
        table, staging = "lake.local.airports", (folder / "s").as_uri()
        merge_scd2(spark, load_contract(TEXT), batch, table, staging=staging)
    spark.sql("CREATE TABLE flights (icao string, departed_at timestamp_ntz) USING iceberg")
    spark.sql(
        "INSERT INTO flights VALUES ('EHAM', TIMESTAMP_NTZ '2025-02-28 23:59:59'), "
        "('EHAM', TIMESTAMP_NTZ '2025-03-01 00:00:00'), ('WIOS', TIMESTAMP_NTZ '2025-03-01')"
    )
    return "lake.local.airports"


# The rows of each Spark snippet of the page, in order; a statement shows what it made.
EXPECTED = [
    {("EHAM", "Amsterdam"), ("KJFK", "Kennedy")},
    {("EHAM", "Schiphol"), ("WIOS", "Susilo")},
    {("updated", "EHAM", "Amsterdam"), ("inserted", "KJFK", "Kennedy"),
     ("deleted", "WIOS", "Susilo")},
    {("EHAM", 28, "Schiphol"), ("EHAM", 1, "Amsterdam"), ("WIOS", 1, None)},
    {("EHAM", "Schiphol"), ("WIOS", "Susilo")},
    {("updated", "EHAM", "Amsterdam"), ("inserted", "KJFK", "Kennedy"),
     ("deleted", "WIOS", "Susilo")},
]  # fmt: skip
SHOWN = [
    "SELECT icao, name FROM airports_current",
    "SELECT icao, name FROM {rows}",
    "SELECT _change, icao, name FROM {rows}",
    "SELECT icao, day(departed_at), name FROM {rows}",
    "SELECT icao, name FROM {rows}",
    "SELECT _change, icao, name FROM {rows}",
]


@pytest.mark.parametrize(
    ("snippet", "query", "expected"), list(zip(SPARK, SHOWN, EXPECTED, strict=True))
)
def test_a_snippet_of_the_page_shows_what_the_page_says(spark, airports, snippet, query, expected):
    if snippet.text.startswith("#"):
        names = {"spark": spark}
        exec(snippet.text, names)  # noqa: S102  the page's own code
        rows = names["rows"]
    else:
        rows = spark.sql(snippet.text)

    assert {tuple(row) for row in spark.sql(query, rows=rows).collect()} == expected


def test_the_branch_of_a_run_is_found_and_abandoned_as_the_page_on_operations_says(spark):
    shown, abandoned = (
        each.text for each in snippets("sql") if each.page == "docs/operations.md"
    )  # fmt: skip
    branch = "lakekit_a3b83e60b04ad31f"
    table = "lakekit_dev.customers"
    spark.sql("CREATE NAMESPACE lakekit_dev")
    spark.sql(f"CREATE TABLE {table} (id int) USING iceberg")
    spark.sql(f"CREATE TABLE {table}_journal (_run_id string) USING iceberg")
    spark.sql(f"INSERT INTO {table} VALUES (1)")
    spark.sql(f"INSERT INTO {table}_journal VALUES ('shop-again-1'), ('shop-again-2')")
    for name in (branch, f"work_{branch}_0c1d2e3f4a5b"):
        spark.sql(f"ALTER TABLE {table} CREATE BRANCH `{name}`")

    refs, named = (spark.sql(text) for text in statements(shown))
    assert {row["name"] for row in refs.collect()} > {branch}
    assert named.collect()[0][0] == branch
    for text in statements(abandoned):
        spark.sql(text)

    assert [row["name"] for row in spark.sql(f"SELECT * FROM {table}.refs").collect()] == ["main"]
    assert [row[0] for row in spark.table(f"{table}_journal").collect()] == ["shop-again-2"]


def statements(text):
    lines = [line for line in text.splitlines() if not line.startswith("--")]
    return [each.strip() for each in "\n".join(lines).split(";") if each.strip()]


def test_the_page_holds_the_texts_of_the_builders():
    page = (ROOT / "docs/reading.md").read_text()
    between = (on("2025-01-01"), on("2026-01-01"))

    for text in (
        reading.current_view("airports"),
        reading.current_view("airports", dialect="athena"),
        reading.rows_as_of("airports", on("2025-01-01")),
        reading.rows_as_of("airports", "?", dialect="athena"),
        reading.changes_between("airports", ["icao"], between, columns=["icao", "name", "city"]),
        reading.temporal_join(
            "flights", "airports", ["icao"], event_time="departed_at", columns=["name"]
        ),
        reading.changes_between(
            "airports", ["icao"], between, columns=["icao", "name", "city"], dialect="athena"
        ),
        reading.temporal_join(
            "flights", "airports", ["icao"],
            event_time="departed_at", columns=["name"], dialect="athena",
        ),
    ):  # fmt: skip
        assert text in page


def test_rows_as_of_the_first_time_and_the_changes_give_the_rows_as_of_the_second(spark, airports):
    first, second = on("2024-12-31"), on("2025-03-01")
    rows = {row["icao"]: row["name"] for row in rows_as_of(spark, airports, first).collect()}

    for row in changes_between(spark, airports, first, second).collect():
        if row["_change"] == "deleted":
            del rows[row["icao"]]
        else:
            rows[row["icao"]] = row["name"]

    after = rows_as_of(spark, airports, second).collect()
    assert rows == {row["icao"]: row["name"] for row in after} == {
        row["icao"]: row["name"] for row in current_rows(spark, airports).collect()
    }  # fmt: skip
    assert changes_between(spark, airports, second, on("2026-01-01")).collect() == []


def test_a_version_that_says_deleted_is_no_row(load, spark, table):
    mark = people(deletes="mark")
    load(1, {"id": 1, "name": "a"}, {"id": 2, "name": "b"}, contract=mark)
    load(3, {"id": 1, "name": "a"}, contract=mark)

    at = datetime(2026, 1, 3, tzinfo=UTC)
    assert [row["id"] for row in current_rows(spark, table).collect()] == [1]
    assert [row["id"] for row in rows_as_of(spark, table, at).collect()] == [1]
    found = changes_between(spark, table, datetime(2026, 1, 1, tzinfo=UTC), at).collect()
    assert [(row["_change"], row["_changed_at"].day, row["id"], row["name"]) for row in found] == [
        ("deleted", 3, 2, "b")
    ]


def test_a_table_without_validity_is_refused(load, spark, table):
    append = people(mode="append")
    load(1, {"id": 1}, contract=append)

    with pytest.raises(SchemaMismatchError, match="no history table"):
        rows_as_of(spark, table, datetime(2026, 1, 3, tzinfo=UTC))
