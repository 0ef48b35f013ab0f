import pytest

from lakekit import layout
from lakekit.contract.contract import load_contract
from lakekit.errors import SchemaMismatchError
from lakekit.spark.iceberg.table import table_property
from lakekit.spark.schema.create_tables import create_or_evolve
from lakekit.spark.schema.describe import describe_table
from tests.spark.people import CONTRACT, TIMED

MORE = load_contract(
    CONTRACT.replace("id, type: int", "id, type: bigint")
    .replace("{name: city, type: string}", "{name: city, type: string, description: Town}")
    .replace(
        "history:",
        "  - {name: where, type: 'struct<lat:double,tags:array<string>>'}\n"
        "table: {partition_by: ['bucket(4, id)'], properties: {note: x}}\nhistory:",
    )
)


def test_creates_a_table_once(spark, table, contract):
    assert create_or_evolve(spark, contract, table).created
    again = create_or_evolve(spark, contract, table)

    assert (again.created, again.changes) == (False, ())


def test_adds_and_widens_columns_and_leaves_the_rows_readable(spark, table, contract, load, rows):
    load(1, {"id": 1, "name": "a"})

    create_or_evolve(spark, MORE, table)

    columns, properties, partition = describe_table(spark, table)
    assert columns["id"] == "bigint"
    assert columns["where"] == "struct<lat:double,tags:array<string>>"
    assert properties["note"] == "x"
    assert partition == ["_is_current", "bucket(4, id)"]
    assert create_or_evolve(spark, MORE, table).changes == ()
    assert rows("id, name, where") == [(1, "a", None, 1, None, True)]


def test_adds_a_field_inside_a_struct(spark, table):
    create_or_evolve(spark, MORE, table)
    deeper = load_contract(
        CONTRACT.replace("id, type: int", "id, type: bigint").replace(
            "history:",
            "  - {name: where, type: 'struct<lat:double,tags:array<string>,lon:double>'}\nhistory:",
        )
    )

    create_or_evolve(spark, deeper, table)

    columns, _, _ = describe_table(spark, table)
    assert columns["where"] == "struct<lat:double,tags:array<string>,lon:double>"


def test_a_field_whose_name_needs_quotes_evolves_to_itself(spark, table):
    odd = load_contract(
        CONTRACT.replace("history:", "  - {name: odd, type: 'struct<`a b`:int>'}\nhistory:", 1)
    )
    create_or_evolve(spark, odd, table)

    assert create_or_evolve(spark, odd, table).changes == ()


@pytest.mark.parametrize("beside", [layout.facts_table, layout.quarantine_table])
def test_brings_the_tables_beside_it_to_the_properties_of_new_ones(spark, table, load, beside):
    load(1, {"id": 1, "name": "a", "at": "2026-01-01T00:00:00Z"}, {"id": None}, promise=TIMED)
    name = f"{beside(table)}"
    spark.sql(f"ALTER TABLE {name} UNSET TBLPROPERTIES ('commit.manifest.min-count-to-merge')")

    changes = create_or_evolve(spark, TIMED, table).changes

    assert table_property(spark, name, "commit.manifest.min-count-to-merge") == "8"
    assert len(changes) == 1
    assert create_or_evolve(spark, TIMED, table).changes == ()


def test_names_every_column_that_cannot_be_widened_and_changes_nothing(spark, table):
    create_or_evolve(spark, MORE, table)
    narrower = load_contract(CONTRACT.replace("name, type: string", "name, type: int"))

    with pytest.raises(SchemaMismatchError, match=r"id: bigint cannot.*name: string cannot"):
        create_or_evolve(spark, narrower, table)

    assert describe_table(spark, table)[0]["id"] == "bigint"


def test_keeps_a_column_that_the_contract_dropped(spark, table):
    create_or_evolve(spark, MORE, table)

    fewer = load_contract(CONTRACT.replace("id, type: int", "id, type: bigint"))
    create_or_evolve(spark, fewer, table)

    assert "where" in describe_table(spark, table)[0]
