import pytest

from lakekit.contracts import load_contract
from lakekit.sql.evolve import evolve_table
from lakekit.sql.tables import create_table, table_properties

CONTRACT = load_contract(
    "contract: orders\nsource: shop\nendpoint: {path: /orders, extract: changes}\n"
    "schema: [{name: id, type: int}, {name: price, type: int}, {name: op, type: string}]\n"
    "history: {keys: [id], apply_as_deletes: op = 'D', except_columns: [op]}\n"
)


def evolve(columns: dict[str, str]) -> list[str]:
    return evolve_table(CONTRACT, "lake.d.orders", columns, properties=table_properties(CONTRACT))


def test_a_table_that_is_as_its_contract_says_stays_and_gets_no_column_that_is_not_stored() -> None:
    assert evolve({"id": "int", "price": "int"}) == []


def test_a_stored_column_that_is_absent_is_added() -> None:
    assert evolve({"id": "int"}) == [
        "ALTER TABLE `lake`.`d`.`orders` ADD COLUMN `price` int",
        "ALTER TABLE `lake`.`d`.`orders` SET TBLPROPERTIES ('lakekit.later-columns' = 'price')",
    ]


SPLIT = load_contract(
    "contract: orders\nsource: shop\nendpoint: {path: /orders}\n"
    "schema: [{name: id, type: int}, {name: at, type: timestamp}, {name: order, type: string}]\n"
    "history: {keys: [id]}\ntable: {partition_by: ['day(at)', 'bucket(4,id)', order]}\n"
)
COLUMNS = {column.name: column.type for column in SPLIT.columns}


def test_partition_fields_are_quoted_when_a_table_is_made() -> None:
    wanted = "PARTITIONED BY (`_is_current`, days(`at`), bucket(4, `id`), `order`)"

    assert wanted in create_table(SPLIT, "lake.d.orders").splitlines()


@pytest.mark.parametrize(
    ("known", "added"),
    [
        (["_is_current", "days(at)", "bucket(4, id)", "order"], []),
        (["days(`AT`)", "bucket(id, 4)", "void(x.y)", "`order`"], []),
        (["years(at)", "bucket(8, id)"], ["days(`at`)", "bucket(4, `id`)", "`order`"]),
    ],
)
def test_only_partition_fields_that_a_table_lacks_are_added(
    known: list[str], added: list[str]
) -> None:
    statements = evolve_table(
        SPLIT, "lake.d.orders", COLUMNS, properties=table_properties(SPLIT), partition=known
    )

    alter = "ALTER TABLE `lake`.`d`.`orders` ADD PARTITION FIELD"
    assert statements == [f"{alter} {field}" for field in added]


def test_a_quoted_field_of_a_struct_is_added_with_its_quotes() -> None:
    wide = load_contract(
        "contract: orders\nsource: shop\nendpoint: {path: /orders}\n"
        "schema: [{name: id, type: int}, {name: s, type: 'struct<a:int,`b c`:int>'}]\n"
        "history: {keys: [id]}\n"
    )
    columns = {"id": "int", "s": "struct<a:int>"}

    statements = evolve_table(wide, "lake.d.orders", columns, properties=table_properties(wide))

    assert statements == ["ALTER TABLE `lake`.`d`.`orders` ADD COLUMN `s`.`b c` int"]
