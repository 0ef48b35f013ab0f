"""Current versions are hashed anew if what their hashes are made of has changed, and only then."""

import pytest

from lakekit.contract.contract import load_contract
from lakekit.sql.tables import table_properties
from tests.unit.sql.conftest import evolve_table


def evolve_type(old: str, new: str, *, names_only: bool = False) -> list[str]:
    """Evolve a tracked column; of an old table the properties say the names only."""
    before, after = (
        load_contract(
            "contract: orders\nsource: shop\nendpoint: {path: /orders}\n"
            f"schema: [{{name: id, type: int}}, {{name: s, type: '{kind}'}}]\n"
            "history: {keys: [id]}\n"
        )
        for kind in (old, new)
    )
    properties = table_properties(before)
    if names_only:
        properties.pop("lakekit.tracked-fields", None)
    columns = {column.name: column.type for column in before.stored}
    return evolve_table(after, "lake.d.orders", columns, properties=properties)


def hashes_anew(statements: list[str]) -> bool:
    return any(each.startswith("UPDATE ") for each in statements)


def fields_told(statements: list[str]) -> str:
    text = "SET TBLPROPERTIES ('lakekit.tracked-fields' = '"
    return statements[-1].partition(text)[2].removesuffix("')")


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
def test_current_versions_are_hashed_anew_if_the_fields_of_a_struct_change(
    around: str, old: str, new: str
) -> None:
    statements = evolve_type(around.format(old), around.format(new))

    assert hashes_anew(statements)
    assert fields_told(statements) == f"s:{around.format(new)}"


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
def test_no_version_is_hashed_anew_if_a_type_is_widened(around: str, old: str, new: str) -> None:
    assert not hashes_anew(evolve_type(around.format(old), around.format(new)))


@pytest.mark.parametrize(
    "kind", ["struct<a:int>", "array<struct<a:int>>", "map<string,struct<a:int>>"]
)
def test_a_table_that_knows_names_only_is_hashed_anew_if_it_holds_structs(kind: str) -> None:
    statements = evolve_type(kind, kind, names_only=True)

    assert hashes_anew(statements)
    assert fields_told(statements) == f"s:{kind}"


@pytest.mark.parametrize("kind", ["int", "decimal(9,2)", "array<int>", "map<string,array<int>>"])
def test_a_table_that_knows_names_only_stays_if_it_holds_no_structs(kind: str) -> None:
    assert evolve_type(kind, kind, names_only=True) == []
