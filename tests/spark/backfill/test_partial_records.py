"""Added columns and partial records: what a null of theirs means.

Days are of January: the day from which a record holds, and the day of a run's extract.
"""

from lakekit.spark.schema.create_tables import create_or_evolve
from tests.spark.support.added_columns import contracts
from tests.spark.support.late import at, load_as


def test_a_partial_record_backfills_an_added_column(load, assert_rows, spark, table):
    before, after = contracts(ignore_null_updates=True)
    load_as(load, "changes", 1, at(1, "a", id=2), contract=before)
    create_or_evolve(spark, after, table)
    load_as(load, "changes", 3, at(3, "b"), at(3, None, id=2, zip="y"), contract=after)

    load_as(load, "changes", 4, at(5, None, zip="x"), contract=after)

    assert_rows(
        (1, "b", None, 3, 5, False),
        (1, "b", "x", 5, None, True),
        (2, "a", "y", 1, None, True),
        columns="id, name, zip",
    )


def test_a_late_record_brings_a_backfilled_value_back_to_its_record(
    load, assert_rows, spark, table
):
    before, after = contracts(ignore_null_updates=True)
    load_as(load, "changes", 1, at(1, "a"), contract=before)
    create_or_evolve(spark, after, table)
    load_as(load, "changes", 3, at(3, None, zip="y"), contract=after)
    assert_rows((1, "a", "y", 1, None, True), columns="id, name, zip")

    load_as(load, "changes", 6, at(2, None, seen=1), contract=after)

    assert_rows((1, "a", None, 1, 3, False), (1, "a", "y", 3, None, True), columns="id, name, zip")
