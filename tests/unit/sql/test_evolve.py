from lakekit.contracts import load_contract
from lakekit.sql.evolve import evolve_table
from lakekit.sql.tables import table_properties

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
