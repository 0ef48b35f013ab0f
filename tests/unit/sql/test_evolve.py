"""The statements that bring a table to its contract."""

from datetime import datetime

import pytest

from lakekit.contract.contract import load_contract
from lakekit.errors import SchemaMismatchError
from lakekit.sql.added_columns import with_added
from lakekit.sql.columns import evolve_columns
from lakekit.sql.evolve import evolve_table
from lakekit.sql.tables import create_table, set_properties, table_properties
from lakekit.table_properties import ADDED_COLUMNS, LINE_DIGESTS, RENAMES, LineDigestsProperty

CONTRACT = load_contract(
    "contract: orders\nsource: shop\nendpoint: {path: /orders, extract: changes}\n"
    "schema: [{name: id, type: int}, {name: price, type: int}, {name: op, type: string}]\n"
    "history: {keys: [id], apply_as_deletes: op = 'D', except_columns: [op]}\n"
)


def evolve(columns: dict[str, str]) -> list[str]:
    return evolve_table(CONTRACT, "lake.d.orders", columns, properties=table_properties(CONTRACT))


def digests(schema_changes: int) -> dict[str, str]:
    """The property after so many changes of the columns."""
    return LINE_DIGESTS.write(LineDigestsProperty(schema_changes=schema_changes))


def test_a_table_that_is_as_its_contract_says_stays_and_gets_no_column_that_is_not_stored() -> None:
    assert evolve({"id": "int", "price": "int"}) == []


def test_a_column_is_recorded_as_added_before_it_is_added() -> None:
    known, newest = table_properties(CONTRACT), datetime(2026, 1, 5)

    statements = evolve_table(
        CONTRACT, "lake.d.orders", {"id": "int"}, properties=known, newest=newest
    )

    assert statements == [
        set_properties("lake.d.orders", with_added({}, ["price"], {}, newest) | digests(1)),
        "ALTER TABLE `lake`.`d`.`orders` ADD COLUMN `price` int",
    ]


def test_a_crash_before_a_column_is_added_changes_nothing_of_what_follows() -> None:
    newest = datetime(2026, 1, 5)
    known = table_properties(CONTRACT) | with_added({}, ["old", "price"], {}, newest) | digests(1)

    statements = evolve_table(
        CONTRACT, "lake.d.orders", {"id": "int"}, properties=known, newest=newest
    )

    assert statements == [
        set_properties("lake.d.orders", digests(2)),
        "ALTER TABLE `lake`.`d`.`orders` ADD COLUMN `price` int",
    ]


def test_a_column_that_the_contract_writes_in_other_case_is_not_added() -> None:
    assert evolve({"id": "int", "PRICE": "int"}) == []


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


@pytest.mark.parametrize("field", ["at", "days(at)", "bucket(4, `AT`)"])
def test_a_partition_field_goes_with_its_column_to_a_new_name(field: str) -> None:
    contract = load_contract(
        "contract: orders\nsource: shop\nendpoint: {path: /orders}\nschema:\n"
        "  - {name: id, type: int}\n  - {name: seen, type: date, renamed_from: at}\n"
        "history: {keys: [id]}\n"
        f"table: {{partition_by: ['{field.replace('`AT`', 'seen').replace('at', 'seen')}']}}\n"
    )
    columns, known = {"id": "int", "At": "date"}, table_properties(contract)

    statements = evolve_table(contract, "lake.d.o", columns, properties=known, partition=[field])

    assert not [each for each in statements if "PARTITION FIELD" in each]


@pytest.mark.parametrize("noted", [False, True])
def test_no_column_gets_the_name_that_a_partition_keeps(noted: bool) -> None:
    contract = load_contract(
        "contract: orders\nsource: shop\nendpoint: {path: /orders}\n"
        "schema: [{name: id, type: int}, {name: town, type: string, renamed_from: city},\n"
        "  {name: city, type: string}]\n"
        "history: {keys: [id]}\ntable: {partition_by: [town]}\n"
    )
    columns = {"id": "int", "town" if noted else "city": "string"}
    known = table_properties(contract)
    known |= RENAMES.write([{"city": "town"}]) if noted else {}
    partition = ["town" if noted else "city"]

    with pytest.raises(SchemaMismatchError, match="no column can be called city"):
        evolve_table(contract, "lake.d.o", columns, properties=known, partition=partition)
    evolve_table(contract, "lake.d.o", columns, properties=known, partition=["bucket(4, city)"])


def test_a_quoted_field_of_a_struct_is_added_with_its_quotes() -> None:
    wide = load_contract(
        "contract: orders\nsource: shop\nendpoint: {path: /orders}\n"
        "schema: [{name: id, type: int}, {name: s, type: 'struct<a:int,`b c`:int>'}]\n"
        "history: {keys: [id]}\n"
    )
    columns = {"id": "int", "s": "struct<a:int>"}

    statements = evolve_table(wide, "lake.d.orders", columns, properties=table_properties(wide))

    assert statements[1:] == ["ALTER TABLE `lake`.`d`.`orders` ADD COLUMN `s`.`b c` int"]


def test_an_old_name_may_be_given_to_another_column() -> None:
    contract = load_contract(
        "contract: o\nsource: s\nendpoint: {path: /o}\nschema:\n  - {name: id, type: int}\n"
        "  - {name: city, type: int}\n  - {name: town, type: string, renamed_from: City}\n"
        "history: {keys: [id]}\n"
    )

    statements = evolve_columns(contract, "lake.d.o", {"id": "int", "CITY": "string"})

    assert statements == [
        "ALTER TABLE `lake`.`d`.`o` RENAME COLUMN `CITY` TO `town`",
        "ALTER TABLE `lake`.`d`.`o` ADD COLUMN `city` int",
    ]
    assert (
        evolve_columns(contract, "lake.d.o", {"id": "int", "city": "int", "town": "string"}) == []
    )


def test_a_new_column_is_recorded_by_its_name_even_after_a_crash_before_it_is_free() -> None:
    contract = load_contract(
        "contract: o\nsource: s\nendpoint: {path: /o}\nschema:\n  - {name: id, type: int}\n"
        "  - {name: city, type: int}\n  - {name: town, type: string, renamed_from: city}\n"
        "history: {keys: [id]}\n"
    )
    columns, known = {"id": "int", "city": "string"}, table_properties(contract)
    known |= with_added({}, ["city"], {}, datetime.min) | RENAMES.write([{"city": "town"}])

    statements = evolve_table(contract, "lake.d.o", columns, properties=known)

    assert not [each for each in statements if ADDED_COLUMNS.name in each]
