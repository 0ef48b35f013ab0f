"""Columns that a table gets later, and partial records: what a null of theirs says of them.

A record is named by its day of January, the day it holds from; a run by the day of its extract.
"""

import pytest

from lakekit.spark.schema.create_tables import create_or_evolve
from tests.spark.late import at, told
from tests.spark.later_columns import contracts
from tests.tiers import long


@pytest.mark.parametrize("late", [long(False), True])
def test_what_begins_with_a_partial_record_after_a_column_came_knows_it(
    load, rows, spark, table, late
):
    before, after = contracts("ignore_null_updates: true")
    told(load, "changes", 1, at(1, "a", id=2), promise=before)
    create_or_evolve(spark, after, table)
    told(load, "changes", 3, at(3, "b"), at(3, None, id=2, zip="y"), promise=after)

    told(load, "changes", 4, at(5, None, zip="x"), promise=after)
    if late:
        told(load, "changes", 6, at(4, None, seen=1), at(2, None, id=2, seen=1), promise=after)

    assert rows("id, name, zip") == [
        (1, "b", None, 3, 5, False),
        (1, "b", "x", 5, None, True),
        (2, "a", "y", 1, None, True),
    ]


# Of each key: what was said of it before the column came, and the versions that it begins with.
SINCE = (
    ([], [("a", None, 2, 3, False)]),
    ([at(1, "a")], [("a", None, 1, 3, False)]),
    ([at(1, "b")], [("b", None, 1, 2, False), ("a", None, 2, 3, False)]),
)


@pytest.mark.parametrize("order", [(1, 4, 6), *map(long, [(1, 6, 4), (6, 1, 4), (6, 4, 1)])])
def test_a_partial_record_knows_of_a_later_column_what_its_key_holds_before_it(
    load, rows, spark, table, order
):
    """Though it was extracted before the column came: that it is null was said by another."""
    before, after = contracts("ignore_null_updates: true")
    first = [{**record, "id": n} for n, (said, _) in enumerate(SINCE) for record in said]
    told(load, "changes", 3, at(9, "c", id=len(SINCE)), *first, promise=before)
    create_or_evolve(spark, after, table)
    runs = {
        1: ("changes", at(3, "b")),
        4: ("changes", at(5, None, zip="x")),
        6: ("incremental", at(2, "a")),
    }

    for day in order:
        kind, record = runs[day]
        of_each = [{**record, "id": n} for n in range(len(SINCE))]
        told(load, kind, day, *of_each, promise=after)

    found = rows("id, name, zip")
    for n, (_, begins) in enumerate(SINCE):
        then = [("b", None, 3, 5, False), ("b", "x", 5, None, True)]
        assert [row[1:] for row in found if row[0] == n] == begins + then, n


def test_a_whole_record_from_before_a_column_does_not_say_that_it_is_null(load, rows, spark, table):
    """Though nulls of partial records say nothing: those of an incremental extract are whole."""
    before, after = contracts("ignore_null_updates: true")
    told(load, "changes", 3, at(9, "c", id=2), promise=before)
    create_or_evolve(spark, after, table)
    told(load, "changes", 5, at(2, "a", zip="x"), promise=after)

    done = told(load, "incremental", 1, at(3, "a"), at(4, "a"), promise=after)

    assert rows("id, name, zip")[0] == (1, "a", "x", 2, None, True)
    assert (done.opened, done.unchanged) == (0, 2)
