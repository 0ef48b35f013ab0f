"""Added columns and partial records: what a null of theirs means.

Days are of January: the day from which a record holds, and the day of a run's extract.
"""

import pytest

from lakekit.spark.schema.create_tables import create_or_evolve
from tests.spark.support.added_columns import contracts
from tests.spark.support.late import at, load_as
from tests.tiers import long


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


# For each key: its records before the column came, and the versions of those.
SINCE = (
    ([], [("a", None, 2, 3, False)]),
    ([at(1, "a")], [("a", None, 1, 3, False)]),
    ([at(1, "b")], [("b", None, 1, 2, False), ("a", None, 2, 3, False)]),
)


@pytest.mark.long
@pytest.mark.parametrize("order", [(1, 4, 6), *map(long, [(1, 6, 4), (6, 1, 4), (6, 4, 1)])])
def test_a_partial_record_keeps_the_value_of_an_added_column_that_its_key_held_before(
    load, rows, spark, table, order
):
    """It was extracted before the column came; another record said that it is null."""
    before, after = contracts(ignore_null_updates=True)
    first = [{**record, "id": n} for n, (said, _) in enumerate(SINCE) for record in said]
    load_as(load, "changes", 3, at(9, "c", id=len(SINCE)), *first, contract=before)
    create_or_evolve(spark, after, table)
    runs = {
        1: ("changes", at(3, "b")),
        4: ("changes", at(5, None, zip="x")),
        6: ("incremental", at(2, "a")),
    }

    for day in order:
        kind, record = runs[day]
        of_each = [{**record, "id": n} for n in range(len(SINCE))]
        load_as(load, kind, day, *of_each, contract=after)

    found = rows("id, name, zip")
    for n, (_, begins) in enumerate(SINCE):
        then = [("b", None, 3, 5, False), ("b", "x", 5, None, True)]
        assert [row[1:] for row in found if row[0] == n] == begins + then, n


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


def test_a_late_null_from_before_a_column_ends_a_value(load, rows, spark, table):
    """An incremental extract has whole records: their nulls are values."""
    before, after = contracts(ignore_null_updates=True)
    load_as(load, "changes", 3, at(9, "c", id=2), contract=before)
    create_or_evolve(spark, after, table)
    load_as(load, "changes", 5, at(2, "a", zip="x"), contract=after)

    load_as(load, "incremental", 1, at(3, "a"), at(4, "a"), contract=after)

    assert rows("id, name, zip")[:2] == [(1, "a", "x", 2, 3, False), (1, "a", None, 3, None, True)]
