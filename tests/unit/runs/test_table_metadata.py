from typing import Any

import pytest

from lakekit.contract.contract import Column, Contract, Maintenance, Snapshots, Table
from lakekit.runs.table_metadata import main_ancestry, must_evolve, wants_maintenance
from lakekit.sql.tables import table_properties
from tests.unit.runs.kit import contract, snapshot, table

DAY = 86_400_000
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
def test_a_table_without_snapshots_has_no_ancestry_and_wants_nothing(metadata: Any) -> None:
    assert main_ancestry(metadata) == []
    assert not wants_maintenance(contract(), metadata)


def healthy(**summary: str) -> dict[str, Any]:
    return table(snapshot(1, **summary))


@pytest.mark.parametrize(
    ("summary", "wanted"),
    [
        ({"total_data_files": "11", "total_files_size": "99"}, False),
        ({"total_data_files": "12", "total_files_size": "99"}, True),
        ({"total_data_files": "12", "total_files_size": str(12 * 128 * 2**20)}, False),
        ({"total_data_files": "2", "total_delete_files": "2"}, False),
        ({"total_data_files": "2", "total_delete_files": "3"}, True),
        ({}, False),
    ],
)
def test_small_files_and_many_deletes_ask_for_maintenance(
    summary: dict[str, str], wanted: bool
) -> None:
    assert wants_maintenance(contract(), healthy(**summary)) is wanted


PARTITIONED = contract(table=Table(partition_by=("price",)))


def commits(*files: int, partitions: int = 1, size: int = 1, **first: str) -> dict[str, Any]:
    """Return a table of commits that add so many data files each; the first says more."""
    known: dict[str, str] = first
    chain = []
    for number, added in enumerate(files, 1):
        summary = {
            "added_data_files": str(added), "added_files_size": str(added * size),
            "changed_partition_count": str(partitions), "total_data_files": str(sum(files)),
        } | known  # fmt: skip
        chain.append(snapshot(number, parent=number - 1, **summary))
        known = {}
    return table(*chain)


@pytest.mark.parametrize(
    ("metadata", "wanted"),
    [
        # One load of many partitions leaves one file in each, twelve leave twelve.
        (commits(50, partitions=50), False),
        (commits(*[50] * 11, partitions=50), False),
        (commits(*[50] * 12, partitions=50), True),
        # Deletes change partitions that get no file.
        (commits(*[1] * 12, partitions=30), True),
        (commits(12), True),
        (commits(12, size=128 * 2**20), False),
        # A large load does not hide the small ones after it.
        (commits(99, *[1] * 12, added_files_size=str(99 * 128 * 2**20)), True),
        # A commit that rewrites files adds only those that it does not remove.
        (commits(12, deleted_data_files="1"), False),
    ],
)
def test_a_partitioned_table_counts_what_a_partition_got(
    metadata: dict[str, Any], wanted: bool
) -> None:
    assert wants_maintenance(PARTITIONED, metadata) is wanted


@pytest.mark.parametrize(
    ("rewrite", "wanted"),
    [({"deleted_data_files": "99"}, False), ({"manifests_replaced": "9"}, True)],
)
def test_a_partitioned_table_counts_from_its_last_compaction(
    rewrite: dict[str, str], wanted: bool
) -> None:
    found = commits(7, 0, 5)
    found["snapshots"][1]["summary"] = snapshot(0, operation="replace", **rewrite)["summary"]

    assert wants_maintenance(PARTITIONED, found) is wanted


@pytest.mark.parametrize(("snapshots", "wanted"), [(4, False), (5, True)])
def test_expiry_waits_until_as_many_can_go_as_are_kept(snapshots: int, wanted: bool) -> None:
    limits = Maintenance(snapshots=Snapshots(max_age_days=1, min_to_keep=2))
    chain = [snapshot(n, parent=n - 1) for n in range(1, snapshots + 1)]
    newest = chain[-1]["timestamp-ms"] + DAY + 1

    found = table(*chain, **{"last-updated-ms": newest})

    assert wants_maintenance(contract(maintenance=limits), found) is wanted


def test_a_column_that_was_renamed_is_known_by_its_new_name_alone() -> None:
    """iceberg #6340, #7584, #16877: Glue's own list of columns keeps the old name."""
    found = table()
    fields = found["schemas"][0]["fields"]
    former = [f | {"name": "cost"} if f["name"] == "price" else f for f in fields]
    found["schemas"].insert(0, {"schema-id": 7, "type": "struct", "fields": former})

    assert not must_evolve(contract(), found)
    assert must_evolve(contract(), found | {"current-schema-id": 7})
