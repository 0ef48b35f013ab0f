from typing import Any

import pytest

from lakekit.contract.contract import Column, Contract, Table
from lakekit.runs.table_metadata import main_ancestry, must_evolve
from lakekit.sql.tables import table_properties
from tests.unit.runs.kit import contract, snapshot, table

TYPES = {
    "int": "smallint", "long": "bigint", "timestamptz": "timestamp", "timestamp": "timestamp_ntz",
    "decimal(9, 2)": "decimal(9,2)", "date": "date", "binary": "binary",
}  # fmt: skip
LIST = {"type": "list", "element-id": 9, "element": "long", "element-required": False}
MAP = {"type": "map", "key-id": 9, "key": "string", "value-id": 8, "value": LIST}
STRUCT = {"type": "struct", "fields": [{"id": 9, "name": "a", "required": False, "type": MAP}]}
QUOTED = {"type": "struct", "fields": [{"id": 9, "name": "a `b", "required": False, "type": "int"}]}


def with_type(kind: Any) -> dict[str, Any]:
    found = table()
    found["schemas"][0]["fields"][1]["type"] = kind
    return found


def with_column(kind: str) -> Contract:
    return contract(columns=(Column(name="id", type="bigint"), Column(name="price", type=kind)))


@pytest.mark.parametrize(("iceberg", "ddl"), TYPES.items())
def test_knows_the_types_of_iceberg_under_their_names_in_spark(iceberg: str, ddl: str) -> None:
    found = with_type(iceberg)
    found["properties"] |= table_properties(with_column(ddl))

    assert not must_evolve(with_column(ddl), found)


@pytest.mark.parametrize(
    ("iceberg", "ddl"),
    [
        (LIST, "array<bigint>"),
        (MAP, "map<string,array<bigint>>"),
        (STRUCT, "struct<a:map<string,array<bigint>>>"),
        (QUOTED, "struct<`a ``b`:int>"),
    ],
)
def test_knows_nested_types(iceberg: Any, ddl: str) -> None:
    found = with_type(iceberg)
    found["properties"] |= table_properties(with_column(ddl))

    assert not must_evolve(with_column(ddl), found)


def test_a_wider_type_is_to_be_evolved() -> None:
    assert must_evolve(with_column("double"), with_type("float"))


@pytest.mark.parametrize(
    ("field", "transform"),
    [
        ("price", "identity"),
        ("bucket(16, price)", "bucket[16]"),
        ("truncate(4, price)", "truncate[4]"),
        ("days(price)", "day"),
        ("day(price)", "day"),
    ],
)
def test_knows_the_partition_fields_that_a_contract_writes(field: str, transform: str) -> None:
    partitioned = contract(table=Table(partition_by=(field,)))
    found = table()
    found["properties"] = found["properties"]

    assert must_evolve(partitioned, found)

    found["partition-specs"][0]["fields"].append(
        {"name": "p", "transform": transform, "source-id": 2, "field-id": 1001}
    )
    assert not must_evolve(partitioned, found)


def test_main_is_walked_from_its_newest_snapshot_to_the_last_that_is_known() -> None:
    found = table(snapshot(2, parent=1), snapshot(3, parent=2), snapshot(4, parent=2), main=4)

    assert [each["snapshot-id"] for each in main_ancestry(found)] == [4, 2]


@pytest.mark.parametrize("metadata", [{}, table(), {"current-snapshot-id": -1, "snapshots": []}])
def test_a_table_without_snapshots_has_no_ancestry(metadata: Any) -> None:
    assert main_ancestry(metadata) == []


def test_a_column_that_was_renamed_is_known_by_its_new_name_alone() -> None:
    """iceberg #6340, #7584, #16877: Glue's own list of columns keeps the old name."""
    found = table()
    fields = found["schemas"][0]["fields"]
    former = [f | {"name": "cost"} if f["name"] == "price" else f for f in fields]
    found["schemas"].insert(0, {"schema-id": 7, "type": "struct", "fields": former})

    assert not must_evolve(contract(), found)
    assert must_evolve(contract(), found | {"current-schema-id": 7})
