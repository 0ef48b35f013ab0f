"""sources.yml: valid by dbt's own schema, with tests that hold on a history."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import duckdb
import jsonschema
import pytest
import yaml

from lakekit.config.load import read_contracts, read_sources
from lakekit.config.schedule import Schedule
from lakekit.exports.dbt import dbt_sources, longest_gap
from tests.unit.exports.kit import ENVIRONMENT, QUIET, SHOP, contract

ROOT = Path(__file__).parents[3]
SCHEMA = json.loads((ROOT / "tests/schemas/dbt_sources.json").read_text())
# What dbt's test `unique` runs.
UNIQUE = (
    "SELECT {column} AS unique_field, count(*) FROM (SELECT * FROM t WHERE {where}) "
    "WHERE {column} IS NOT NULL GROUP BY {column} HAVING count(*) > 1"
)


def exported(*contracts: Any, sources: Any = (SHOP,)) -> Any:
    document = yaml.safe_load(dbt_sources(ENVIRONMENT, sources, contracts))
    jsonschema.validate(document, SCHEMA)
    return document["sources"]


def test_the_example_is_valid() -> None:
    config = ROOT / "examples/airports/config"

    [source] = exported(*read_contracts(config), sources=read_sources(config))

    assert (source["name"], source["schema"]) == ("airports_api", "lakekit_dev")
    assert source["tables"][0]["columns"][0] == {
        "name": "icao", "description": "ICAO code", "data_type": "varchar",
        "data_tests": ["not_null", {"unique": {"config": {"where": "_is_current"}}}],
    }  # fmt: skip


def test_types_descriptions_and_control_columns() -> None:
    columns = "  - {name: tags, type: 'map<string,struct<a:int>>', description: 'Ta: gs'}\n"
    [source] = exported(contract(columns=columns, description="'All: orders'"))

    [table] = source["tables"]
    found = {each["name"]: each for each in table["columns"]}
    assert table["description"] == "All: orders"
    assert found["tags"] == {
        "name": "tags", "description": "Ta: gs", "data_type": "map(varchar, row(a integer))",
    }  # fmt: skip
    assert found["region"]["data_tests"] == ["not_null"]
    assert found["_valid_to"].keys() == {"name", "description", "data_type"}


def test_a_key_of_several_columns_is_unique_among_current_rows() -> None:
    [source] = exported(contract(history="{keys: [id, region]}"))
    [test] = source["tables"][0]["data_tests"]
    given = test["unique"]
    query = UNIQUE.format(column=given["column_name"], where=given["config"]["where"])

    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE t (id int, region text, _is_current boolean)")
        connection.execute(
            "INSERT INTO t VALUES (1, 'a', false), (1, 'a', true), (1, 'b', true), (12, '', true)"
        )
        assert connection.execute(query).fetchall() == []
        connection.execute("INSERT INTO t VALUES (1, 'b', true)")
        assert len(connection.execute(query).fetchall()) == 1


def test_a_table_without_versions_has_no_unique_key() -> None:
    [source] = exported(contract(history="{mode: append, keys: [id]}"))

    assert "unique" not in json.dumps(source)


def test_freshness_follows_the_schedule_of_the_source() -> None:
    quiet = contract("notes").model_copy(update={"source": "quiet"})
    shop, other = exported(contract(), quiet, sources=(SHOP, QUIET))

    assert shop["config"] == {
        "loaded_at_field": "_ingested_at",
        "freshness": {"warn_after": {"count": 2, "period": "day"}},
    }
    assert other["config"] == {"freshness": None}


@pytest.mark.parametrize(
    ("expression", "gap"),
    [
        ("rate(15 minutes)", timedelta(minutes=15)),
        ("cron(0/15 6-20 * * ? *)", timedelta(hours=9, minutes=15)),
        ("cron(0 6 ? * MON-FRI *)", timedelta(days=3)),
        ("cron(0 6 1 * ? *)", timedelta(days=31)),
        ("cron(0 6 1 1 ? 2020)", None),
    ],
)
def test_the_longest_time_between_two_loads(expression: str, gap: timedelta | None) -> None:
    now = datetime(2026, 6, 15, 12, tzinfo=UTC)

    assert longest_gap(Schedule(expression=expression), now) == gap
