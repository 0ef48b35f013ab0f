import pytest

from lakekit import layout
from lakekit.errors import SchemaMismatchError
from lakekit.spark.iceberg.table import table_property
from lakekit.spark.schema.create_tables import create_or_evolve
from lakekit.spark.schema.describe import describe_table
from tests.spark.support.people import TIMED, people
from tests.tiers import long

MORE = people(
    columns={
        "id": "bigint",
        "city": {"type": "string", "description": "Town"},
        "where": "struct<lat:double,tags:array<string>>",
    },
    table={"partition_by": ["bucket(4, id)"], "properties": {"note": "x"}},
)


def test_creates_a_table_once(spark, table, contract):
    assert create_or_evolve(spark, contract, table).created
    again = create_or_evolve(spark, contract, table)

    assert (again.created, again.changes) == (False, ())


def test_adds_and_widens_columns_and_leaves_the_rows_readable(
    spark, table, contract, load, assert_rows
):
    load(1, {"id": 1, "name": "a"})

    create_or_evolve(spark, MORE, table)

    columns, properties, partition = describe_table(spark, table)
    assert columns["id"] == "bigint"
    assert columns["where"] == "struct<lat:double,tags:array<string>>"
    assert properties["note"] == "x"
    assert partition == ["_is_current", "bucket(4, id)"]
    assert create_or_evolve(spark, MORE, table).changes == ()
    assert_rows((1, "a", None, 1, None, True), columns="id, name, where")


def test_adds_a_field_inside_a_struct(spark, table):
    create_or_evolve(spark, MORE, table)
    deeper = "struct<lat:double,tags:array<string>,lon:double>"

    create_or_evolve(spark, people(columns={"id": "bigint", "where": deeper}), table)

    columns, _, _ = describe_table(spark, table)
    assert columns["where"] == deeper


def test_a_field_whose_name_needs_quotes_evolves_to_itself(spark, table):
    odd = people(columns={"odd": "struct<`a b`:int>"})
    create_or_evolve(spark, odd, table)

    assert create_or_evolve(spark, odd, table).changes == ()


@pytest.mark.parametrize("name_of", [layout.journal_table, long(layout.quarantine_table)])
def test_brings_the_tables_next_to_it_to_the_properties_of_new_ones(spark, table, load, name_of):
    load(1, {"id": 1, "name": "a", "at": "2026-01-01T00:00:00Z"}, {"id": None}, contract=TIMED)
    name = f"{name_of(table)}"
    spark.sql(f"ALTER TABLE {name} UNSET TBLPROPERTIES ('commit.manifest.min-count-to-merge')")

    changes = create_or_evolve(spark, TIMED, table).changes

    assert table_property(spark, name, "commit.manifest.min-count-to-merge") == "8"
    assert len(changes) == 1
    assert create_or_evolve(spark, TIMED, table).changes == ()


def test_names_every_column_that_cannot_be_widened_and_changes_nothing(spark, table):
    create_or_evolve(spark, MORE, table)
    narrower = people(columns={"name": "int"})

    with pytest.raises(SchemaMismatchError, match=r"id: bigint cannot.*name: string cannot"):
        create_or_evolve(spark, narrower, table)

    assert describe_table(spark, table)[0]["id"] == "bigint"


def test_keeps_a_column_that_the_contract_dropped(spark, table):
    create_or_evolve(spark, MORE, table)

    create_or_evolve(spark, people(columns={"id": "bigint"}), table)

    assert "where" in describe_table(spark, table)[0]
