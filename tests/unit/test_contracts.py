from pathlib import Path

import pytest

from lakekit.contracts import load_contract
from lakekit.errors import InvalidContractError
from lakekit.sqltypes import can_widen, parse_type

GOOD = """
contract: people
source: people_api
endpoint: {path: /people}
schema: [{name: id, type: int}, {name: order, type: string}]
history: {keys: [id]}
"""


def test_loads_the_contract_that_ships():
    contract = load_contract(Path("config/contracts/airports.yaml").read_text())

    assert contract.keys == ("icao",)
    assert [column.name for column in contract.tracked[:2]] == ["iata", "name"]
    assert contract.maintenance.snapshots.min_to_keep == 5


def test_reports_every_fault_with_its_path():
    text = GOOD.replace("contract: people", "contract: People").replace("type: int", "type: integr")

    with pytest.raises(InvalidContractError) as fault:
        load_contract(text, name="people.yaml")

    assert "people.yaml: contract: " in str(fault.value)
    assert "people.yaml: schema.0.type: 'integr' is not a Spark SQL type" in str(fault.value)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("keys: [id]", "keyz: [id]", "unknown field; did you mean 'keys'?"),
        ("keys: [id]", "keys: []", "history: keys: scd2 needs at least one column"),
        ("keys: [id]", "keys: [nope]", "'nope' is not a column"),
        ("keys: [id]", "keys: [id, id]", "stands twice"),
        ("type: int}", "type: double}", "which cannot be a key"),
        ("name: order", "name: ID", "id stands twice"),
        ("name: order", "name: _valid_from", "control column"),
        ("name: order", 'name: "x`; DROP TABLE y; --"', "schema.1.name"),
        ("contract: people", "contract: ../../other", "contract: String should match"),
        (
            "contract: people",
            "contract: people\ncontract: other",
            "the key 'contract' stands twice",
        ),
        ("source: people_api", "source: &a people_api\nversion: *a", "aliases are not allowed"),
        ("source: people_api", "source: !!python/object:os.x {}", "could not determine"),
        ("path: /people", "path: https://other.example/x", "endpoint.path"),
        ("type: string", "type: 'decimal(40,2)'", "at most"),
        ("history: {", "history: {max_deleted_ratio: 2, ", "history.max_deleted_ratio"),
    ],
)
def test_refuses(old, new, message):
    with pytest.raises(InvalidContractError, match=message.replace("?", r"\?")):
        load_contract(GOOD.replace(old, new))


@pytest.mark.parametrize("text", ["", "# nothing", "[1]", "a: [", "\x00"])
def test_refuses_what_is_not_a_mapping(text):
    with pytest.raises(InvalidContractError):
        load_contract(text)


def test_accepts_a_byte_order_mark_and_windows_lines():
    assert load_contract("\ufeff" + GOOD.replace("\n", "\r\n")).contract == "people"


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("ARRAY < STRING >", "array<string>"),
        (
            "map<string,array<struct<a:int,b:numeric(4)>>>",
            "map<string,array<struct<a:int,b:decimal(4,0)>>>",
        ),
        ("decimal", "decimal(10,0)"),
        ("long", "bigint"),
    ],
)
def test_parses_types(text, canonical):
    assert str(parse_type(text)) == canonical


@pytest.mark.parametrize("text", ["", "array<", "map<string>", "int int", "struct<a int>", "x;y"])
def test_refuses_what_is_no_type(text):
    with pytest.raises(ValueError, match="not a Spark SQL type"):
        parse_type(text)


@pytest.mark.parametrize(
    ("old", "new", "possible"),
    [
        ("int", "bigint", True),
        ("decimal(5,2)", "decimal(9,2)", True),
        ("decimal(5,2)", "decimal(9,3)", False),
        ("bigint", "int", False),
        ("string", "int", False),
    ],
)
def test_knows_which_types_widen(old, new, possible):
    assert can_widen(parse_type(old), parse_type(new)) is possible
