"""Data contracts of the Open Data Contract Standard, out and in."""

import json
from importlib.resources import files
from typing import Any

import jsonschema
import pytest
import yaml
from hypothesis import given as examples
from hypothesis import settings
from hypothesis import strategies as st

from lakekit.contract.contract import Contract
from lakekit.errors import InvalidContractError
from lakekit.exports.odcs import odcs_document, odcs_text
from lakekit.exports.odcs_in import Given, import_odcs
from tests.unit.exports.kit import ENVIRONMENT, contract

SCHEMA = json.loads(files("open_data_contract_standard").joinpath("schema.json").read_text())
VALIDATOR = jsonschema.Draft201909Validator(SCHEMA)
ATOMS = ("string", "boolean", "tinyint", "int", "bigint", "float", "double", "decimal(9,2)",
         "date", "timestamp", "timestamp_ntz", "binary")  # fmt: skip
TYPES = st.recursive(
    st.sampled_from(ATOMS),
    lambda inner: st.one_of(
        inner.map(lambda each: f"array<{each}>"),
        inner.map(lambda each: f"map<string,{each}>"),
        st.tuples(inner, inner).map(lambda two: f"struct<a:{two[0]},`b c`:{two[1]}>"),
    ),
    max_leaves=4,
)
TEXTS = st.text(st.characters(codec="utf-8", exclude_categories=("C",)), max_size=20)
NAMES = st.from_regex(r"[a-z][a-z0-9_]{0,8}", fullmatch=True)
COLUMNS = st.lists(
    st.tuples(NAMES, TYPES, st.booleans(), st.booleans(), TEXTS,
              st.one_of(st.none(), st.just("$.a['b c']"))),
    max_size=5, unique_by=lambda each: each[0],
)  # fmt: skip


@st.composite
def contracts(draw: st.DrawFn) -> Contract:
    columns = [
        {"name": f"c_{name}", "type": kind, "required": required, "sensitive": sensitive,
         "description": text}
        | ({"from": way} if way else {})
        for name, kind, required, sensitive, text, way in draw(COLUMNS)
    ]  # fmt: skip
    keys = draw(st.permutations(["id", "region"]))[: draw(st.integers(1, 2))]
    return Contract.model_validate(
        {
            "contract": "orders", "version": draw(st.integers(1, 99)), "source": "shop",
            "description": draw(TEXTS), "endpoint": {"path": "/orders"},
            "schema": [{"name": "id", "type": "int"}, {"name": "region", "type": "string"},
                       *columns],
            "history": {"keys": keys, **draw(st.sampled_from([{}, {"deletes": "mark"}]))},
            **draw(st.sampled_from([{}, {"quality": {"max_rejected_ratio": 0.5}}])),
        }
    )  # fmt: skip


@settings(max_examples=60)
@examples(contracts())
def test_a_contract_comes_back_as_it_went(contract: Contract) -> None:
    text = odcs_text(contract, ENVIRONMENT)

    VALIDATOR.validate(yaml.safe_load(text))
    found = import_odcs(text, Given(), name="c.yaml")

    assert found.contract.model_dump() == contract.model_dump()
    assert found.notes == []


@settings(max_examples=60)
@examples(contracts())
def test_what_the_standard_can_say_comes_back_without_our_own_property(contract: Contract) -> None:
    document = odcs_document(contract)
    del document["customProperties"]

    found = import_odcs(
        yaml.safe_dump(document), Given(source="shop", path="/orders"), name="c.yaml"
    )

    for name in ("contract", "version", "description", "source", "columns", "keys"):
        assert getattr(found.contract, name) == getattr(contract, name)
    assert found.notes == ["history.mode: scd2 was chosen, which keeps every version"]


FOREIGN: dict[str, Any] = {
    "kind": "DataContract", "apiVersion": "v3.0.2", "id": "urn:x", "version": "2.1.0",
    "status": "active", "description": {"purpose": "Sales", "limitations": "None"},
    "team": [{"username": "ann"}], "servers": [{"server": "x", "type": "local"}],
    "customProperties": [{"property": "owner", "value": "ann"}],
    "slaProperties": [{"property": "latency", "value": 4}],
    "schema": [
        {
            "name": "SalesOrders", "logicalType": "object", "physicalType": "table",
            "quality": [{"type": "text", "description": "Never empty"}],
            "properties": [
                {"name": "order id", "logicalType": "integer", "physicalType": "INT64",
                 "primaryKey": True, "primaryKeyPosition": 1, "required": True},
                {"name": "amount", "logicalType": "number", "physicalType": "NUMERIC(12, 2)"},
                {"name": "place", "logicalType": "string", "physicalType": "GEOGRAPHY",
                 "classification": "restricted"},
                {"name": "at", "logicalType": "timestamp", "partitioned": True,
                 "partitionKeyPosition": 1},
                {"name": "lines", "logicalType": "array", "items": {
                    "logicalType": "object", "properties": [
                        {"name": "sku", "logicalType": "string", "required": True},
                        {"name": "n", "logicalType": "integer"}]}},
                {"name": "_valid_from", "logicalType": "timestamp"},
            ],
        }
    ],
}  # fmt: skip
API = Given(source="shop", path="/orders")


def test_a_foreign_contract_becomes_one_with_a_list_of_what_is_lost() -> None:
    found = import_odcs(yaml.safe_dump(FOREIGN), API, name="c.yaml")

    contract = found.contract
    assert (contract.contract, contract.version, contract.description) == (
        "sales_orders", 2, "Sales",
    )  # fmt: skip
    assert [(c.name, c.type, c.from_, c.required) for c in contract.columns] == [
        ("order_id", "bigint", "order id", True),
        ("amount", "decimal(12,2)", None, False),
        ("place", "string", None, False),
        ("at", "timestamp", None, False),
        ("lines", "array<struct<sku:string,n:bigint>>", None, False),
    ]
    assert (contract.keys, contract.table.partition_by) == (("order_id",), ("at",))
    assert found.notes == [
        "slaProperties",
        "team",
        "servers",
        "customProperties.owner",
        "SalesOrders.quality",
        "SalesOrders.place.classification",
        "SalesOrders.place: physicalType 'GEOGRAPHY' is unknown here; string by its logicalType",
        "SalesOrders.at: timestamp was chosen for logicalType 'timestamp'",
        "SalesOrders.lines[].sku.required",
        "SalesOrders._valid_from: left out, as the name is that of a control column of Lakekit",
        "contract: sales_orders was made of the name SalesOrders",
        "version: 2.1.0 (a contract counts: 2)",
        "description.limitations",
        "history.mode: scd2 was chosen, which keeps every version",
    ]
    assert all(f"# {note}\n" in found.text for note in found.notes)


def changed(**parts: Any) -> str:
    return yaml.safe_dump({**FOREIGN, **parts})


@pytest.mark.parametrize(
    ("text", "given", "fault"),
    [
        ("a: 1", API, "expected kind: DataContract and apiVersion: v3.1.0, got kind: None"),
        (changed(apiVersion="v2.2.2"), API, "and apiVersion: v2.2.2"),
        (changed(schema=[]), API, "schema: expected a list of tables with names"),
        (changed(schema=[{"name": "a"}, {"name": "b"}]), API, "choose one with --table: a, b"),
        (changed(), Given("x", "shop", "/x"), "no table 'x'; choose one with --table: SalesOrders"),
        (changed(), Given(), "give --source NAME and --path PATH"),
        (changed(schema=[{"name": "a"}]), API, "schema"),
        (changed(schema=[{"name": "a", "properties": "x"}]), API, "schema"),
        (
            changed(customProperties=[{"property": "lakekit", "value": {"endpoint": [1]}}]),
            Given(),
            "give --source NAME and --path PATH",
        ),
        ("- 1", API, "must be a mapping"),
    ],
)
def test_what_is_no_data_contract_is_refused(text: str, given: Given, fault: str) -> None:
    with pytest.raises(InvalidContractError) as error:
        import_odcs(text, given, name="c.yaml")

    assert fault in str(error.value)
    assert str(error.value).startswith("c.yaml")


def test_a_file_of_the_example_is_valid() -> None:
    VALIDATOR.validate(odcs_document(contract()))
