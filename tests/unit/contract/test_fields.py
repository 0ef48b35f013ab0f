"""Which field of a record a column is read from."""

import json

import pytest

from lakekit.contract.contract import load_contract
from lakekit.contract.fields import types_by_field
from lakekit.contract.sqltypes import parse_type
from lakekit.errors import InvalidContractError
from lakekit.sql.line_hash import parse_fingerprint
from tests.unit.contract.people import GOOD


@pytest.mark.parametrize(
    ("field", "steps"),
    [
        ("first name", ("first name",)),
        ("a.b", ("a.b",)),
        ("größe", ("größe",)),
        ("__op", ("__op",)),
        ("$.attributes.name", ("attributes", "name")),
        ("$['$ref']", ("$ref",)),
        ("$.größe['x.y'][\"it's\"]", ("größe", "x.y", "it's")),
        ("*", ("*",)),
    ],
)
def test_a_column_names_any_field(field, steps):
    column = load_contract(
        GOOD.replace("name: order", f"name: order, from: {json.dumps(field)}")
    ).columns[1]

    assert (column.name, column.steps) == ("order", steps)


@pytest.mark.parametrize(
    ("field", "message"),
    [
        ("$", "must name a field of the record, as $.attributes.name does"),
        ("$.", "'.' is no step"),
        ("$ref", "'ref' is no step"),
        ("$.a b", "' b' is no step"),
        ("$.list[0]", "give the whole list to a column of type array"),
        ("$.list[*].x", "must lead through names alone"),
        ("", "should have at least 1 character"),
        ("$['']", "the name of a field is not empty"),
        ("$.a['']", "the name of a field is not empty"),
        ("__SEAL", "a name that Lakekit uses where it parses records"),
        ("_corrupt_record", "a name that Lakekit uses"),
        (5, "put it in quotes"),
    ],
)
def test_what_leads_to_no_field_is_refused(field, message):
    with pytest.raises(InvalidContractError) as refused:
        load_contract(GOOD.replace("name: order", f"name: order, from: {json.dumps(field)}"))

    assert "schema.1.from: " in str(refused.value)
    assert message in str(refused.value)


def test_lines_are_read_otherwise_when_a_column_names_another_field():
    texts = [GOOD, *(GOOD.replace("name: order", f"name: order, from: {n}") for n in "ab")]
    names = [parse_fingerprint(load_contract(text)) for text in texts]

    assert len({*names}) == 3


@pytest.mark.parametrize(
    ("read", "expected"),
    [
        ([("a", "int")], {"a": "int"}),
        ([("a", "int"), ("a", "int")], {"a": "int"}),
        ([("a", "int"), ("a", "string")], {"a": "string"}),
        ([("a b", "string"), ("a c", "int")], {"a": "struct"}),
        ([("a b", "string"), ("a", "map<string,int>")], {"a": "struct"}),
        ([("a", "array<int>"), ("a b", "string")], {"a": "array"}),
    ],
)
def test_a_field_has_the_form_that_its_columns_agree_on(read, expected):
    columns = [(tuple(steps.split()), parse_type(kind)) for steps, kind in read]

    assert {name: kind.name for name, kind in types_by_field(columns).items()} == expected
