"""Columns that a table gets later: what is told before them says nothing of them."""

import pytest

from lakekit.contract.contract import load_contract
from lakekit.spark.schema.create_tables import create_or_evolve
from lakekit.sql.added_columns import LATER_COLUMNS, LATER_UNTIL
from tests.spark.later_columns import grown
from tests.spark.people import CONTRACT
from tests.tiers import long


def test_until_when_a_column_was_not_known_is_told_of_each(load, rows, spark, table):
    both, one = (load_contract(grown(CONTRACT, *names)) for names in (("zip", "fax"), ("zip",)))
    load(1, {"id": 1, "name": "a"}, extract="incremental")
    create_or_evolve(spark, one, table)
    load(3, {"id": 1, "name": "b"}, {"id": 2, "name": "c"}, extract="incremental", promise=one)
    create_or_evolve(spark, both, table)

    told = {"id": 1, "name": "b", "zip": "2", "fax": "1"}, {"id": 2, "name": "c", "fax": "1"}
    done = load(4, *told, extract="incremental", promise=both)

    assert (done.opened, done.unchanged) == (1, 1)
    assert rows("id, name, zip, fax") == [
        (1, "a", None, None, 1, 3, False),
        (1, "b", None, None, 3, 4, False),
        (1, "b", "2", "1", 4, None, True),
        (2, "c", None, "1", 3, None, True),
    ]


@pytest.mark.parametrize("again", [long(False), True])
def test_a_table_with_one_time_for_all_later_columns_is_filled_still(
    load, rows, spark, table, again
):
    both, one = (load_contract(grown(CONTRACT, *names)) for names in (("zip", "fax"), ("zip",)))
    load(1, {"id": 1, "name": "a"}, {"id": 2, "name": "b"}, extract="incremental")
    create_or_evolve(spark, one, table)
    known = f"'{LATER_COLUMNS}' = 'zip', '{LATER_UNTIL}' = '2026-01-01 00:00:00'"
    spark.sql(f"ALTER TABLE {table} SET TBLPROPERTIES ({known})")
    if again:
        create_or_evolve(spark, both, table)

    load(3, {"id": 1, "name": "a", "zip": "1"}, promise=both if again else one)
    assert rows("id, zip") == [(1, "1", 1, None, True), (2, None, 1, 3, False)]

    load(4, {"id": 1, "name": "a"}, promise=both if again else one)
    assert [row[:2] for row in rows("id, zip")] == [(1, "1"), (1, None), (2, None)]
