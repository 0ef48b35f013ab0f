"""Current versions are hashed again only if the columns of their hashes have changed."""

import json

import pytest

from lakekit.contract.contract import load_contract
from lakekit.sql.evolve import evolve_table
from lakekit.sql.tables import table_properties


def evolve_type(old: str, new: str) -> list[str]:
    """Evolve a tracked column."""
    before, after = (
        load_contract(
            "contract: orders\nsource: shop\nendpoint: {path: /orders}\n"
            f"schema: [{{name: id, type: int}}, {{name: s, type: '{kind}'}}]\n"
            "history: {keys: [id]}\n"
        )
        for kind in (old, new)
    )
    properties = table_properties(before)
    columns = {column.name: column.type for column in before.stored}
    return evolve_table(after, "lake.d.orders", columns, properties=properties)


def hashes_again(statements: list[str]) -> bool:
    return any(each.startswith("UPDATE ") for each in statements)


def recorded_type(statements: list[str]) -> str:
    text = "SET TBLPROPERTIES ('lakekit.tracked' = '"
    return json.loads(statements[-1].partition(text)[2].removesuffix("')"))["s"]


@pytest.mark.parametrize("around", ["{}", "array<{}>", "map<string,{}>", "struct<x:int,y:{}>"])
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("struct<a:int>", "struct<a:int,b:int>"),
        ("struct<a:int,b:int>", "struct<b:int,a:int>"),
        ("struct<a:int,b:int>", "struct<a:int>"),
        ("struct<`a,b:int`:int>", "struct<`a,b:int`:int,b:int>"),
    ],
)
def test_current_versions_are_hashed_again_if_the_fields_of_a_struct_change(
    around: str, old: str, new: str
) -> None:
    statements = evolve_type(around.format(old), around.format(new))

    assert hashes_again(statements)
    assert recorded_type(statements) == around.format(new)


@pytest.mark.parametrize("around", ["{}", "array<{}>", "map<string,{}>", "struct<x:{}>"])
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("tinyint", "int"),
        ("int", "bigint"),
        ("float", "double"),
        ("decimal(10,2)", "decimal(12,2)"),
        ("struct<a:int,B:int>", "struct<A:bigint,b:int>"),
    ],
)
def test_no_version_is_hashed_again_if_a_type_is_widened(around: str, old: str, new: str) -> None:
    assert not hashes_again(evolve_type(around.format(old), around.format(new)))


def test_a_table_that_does_not_say_what_its_hashes_cover_is_not_hashed_again() -> None:
    contract = load_contract(
        "contract: orders\nsource: shop\nendpoint: {path: /orders}\n"
        "schema: [{name: id, type: int}, {name: s, type: int}]\nhistory: {keys: [id]}\n"
    )
    properties = table_properties(contract)
    del properties["lakekit.tracked"]

    statements = evolve_table(
        contract, "lake.d.orders", {"id": "int", "s": "int"}, properties=properties
    )

    assert not hashes_again(statements)
    assert recorded_type(statements) == "int"
