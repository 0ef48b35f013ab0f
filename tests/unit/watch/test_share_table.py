"""What readers see of a table after it was loaded."""

from collections.abc import Mapping

import sqlglot

from lakekit.contract.contract import Contract, load_contract
from lakekit.steps.functions import ShareTable, ShareTableResult
from lakekit.watch.share_table import share_table, view_statement

PEOPLE = """
contract: people
source: crm
endpoint: {path: /people}
schema:
  - {name: id, type: bigint}
  - {name: Email, type: string, sensitive: true}
  - {name: seen, type: timestamp}
  - {name: visits, type: "array<struct<at: timestamp, `the page`: string>>"}
history: {keys: [id]}
"""
CONTROLS = {
    "_ingested_at": "timestamp", "_source_file": "string", "_is_current": "boolean",
    "_valid_from": "timestamp", "_valid_to": "timestamp", "_row_hash": "bigint",
    "_line_hash": "bigint", "_line_check": "bigint",
}  # fmt: skip
TABLE = {"id": "bigint", "Email": "string", "seen": "timestamp", "visits": "array<…>"} | CONTROLS
SHOWN = ["id", "seen", "visits", "_ingested_at", "_source_file", "_is_current", "_valid_from",
         "_valid_to"]  # fmt: skip
STEP = ShareTable(database="lakekit_dev", source="crm", table="people")


class Place:
    """A catalog, tags and an engine in memory."""

    def __init__(self, table: dict[str, str] | None = None) -> None:
        self.tables = {"people": TABLE if table is None else table}
        self.on_columns: dict[str, str] = {}
        self.on_tables: dict[str, str] = {}
        self.statements: list[str] = []
        self.order: list[str] = []

    def columns(self, name: str) -> Mapping[str, str] | None:
        return self.tables.get(name)

    def of_table(self, name: str) -> str | None:
        return self.on_tables.get(name)

    def of_columns(self, name: str, columns: list[str]) -> Mapping[str, str]:
        return {each: value for each, value in self.on_columns.items() if each in columns}

    def assign(self, name: str, value: str, columns: list[str] | None = None) -> None:
        self.order.append(value)
        if columns is None:
            self.on_tables[name] = value
        else:
            self.on_columns.update(dict.fromkeys(columns, value))

    def run(self, statement: str) -> None:
        self.statements.append(statement)
        self.tables["people_current"] = {name.lower(): TABLE[name] for name in SHOWN}

    def share(self, contract: Contract | None = None) -> ShareTableResult:
        return share_table(STEP, contract or load_contract(PEOPLE), self, self, self)


def test_open_columns_are_tagged_and_sensitive_ones_and_digests_are_not() -> None:
    place = Place()

    result = place.share()

    assert place.on_columns == dict.fromkeys(SHOWN, "open")
    assert (result.opened, result.closed, result.view_made) == (8, 0, True)
    assert place.on_tables == {"people_current": "open"}


def test_again_it_changes_nothing() -> None:
    place = Place()
    place.share()
    place.order.clear()

    assert place.share() == ShareTableResult(opened=0, closed=0, view_made=False)
    assert (place.order, len(place.statements)) == ([], 1)


def test_a_column_that_becomes_sensitive_is_closed_before_others_are_opened() -> None:
    place = Place()
    place.on_columns = {"seen": "open", "Email": "open"}
    hidden = load_contract(
        PEOPLE.replace("type: timestamp}\n", "type: timestamp, sensitive: true}\n", 1)
    )

    result = place.share(hidden)

    assert {place.on_columns[name] for name in ("seen", "Email")} == {"sensitive"}
    assert result.closed == 2
    assert place.order == ["sensitive", "open", "open"]
    assert "seen" not in place.statements[0]


def test_a_column_that_the_contract_does_not_have_stays_closed() -> None:
    place = Place(TABLE | {"phone": "string"})

    place.share()

    assert "phone" not in place.on_columns
    assert "phone" not in place.statements[0]


def test_a_view_is_made_again_when_a_type_has_changed() -> None:
    place = Place()
    place.share()
    place.tables["people"] = TABLE | {"id": "decimal(20,0)"}

    assert place.share().view_made


def test_the_view_shows_times_without_a_zone_and_athena_can_parse_it() -> None:
    text = view_statement(load_contract(PEOPLE), "lakekit_dev", SHOWN)

    assert text.startswith('CREATE OR REPLACE VIEW "lakekit_dev"."people_current" AS\nSELECT')
    assert 'CAST("seen" AS timestamp(6)) AS "seen"' in text
    assert 'CAST("visits" AS array(row(at timestamp(6), "the page" varchar))) AS "visits"' in text
    assert text.endswith('FROM "lakekit_dev"."people"\nWHERE _is_current')
    [parsed] = sqlglot.parse(text, dialect="athena")
    assert parsed is not None and parsed.key == "create"


def test_a_table_that_only_grows_has_no_view() -> None:
    place = Place({"id": "bigint", "_ingested_at": "timestamp"})
    contract = load_contract(PEOPLE.replace("{keys: [id]}", "{mode: append, keys: [id]}"))

    assert place.share(contract).view_made is False
    assert place.on_columns == {"id": "open", "_ingested_at": "open"}


def test_without_lake_formation_only_the_view_is_made_and_without_views_only_tags() -> None:
    place, contract = Place(), load_contract(PEOPLE)

    assert share_table(STEP, contract, place, None, place).view_made
    assert place.order == []
    assert share_table(STEP, contract, place, place, None).opened == 8
    assert "people_current" not in place.on_tables


def test_a_table_that_is_not_there_is_left_alone() -> None:
    place = Place()
    del place.tables["people"]

    assert place.share() == ShareTableResult()
