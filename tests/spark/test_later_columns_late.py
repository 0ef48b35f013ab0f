"""Columns that a table gets later where late changes are exact: what is first said of them.

A record is named by its day of January, the day it holds from; a run by the day of its extract.
"""

import pytest

from lakekit.spark.schema.create_tables import create_or_evolve
from tests.spark.late import at, gone, told
from tests.spark.later_columns import ZIP, contracts
from tests.tiers import long

# Of each key: what the runs of some days say, and the versions of then. All held "a" since 2, and
# said so again at 3, when the column came.
STORIES = (
    ({5: at(5, "a", zip="x"), 6: at(4, "a", zip="x")}, [("a", "x", 2, None)]),
    ({5: at(5, "a", zip="x"), 6: at(4, "a", zip="y")}, [("a", "y", 2, 5), ("a", "x", 5, None)]),
    ({5: at(4, "a"), 6: at(5, "a", zip="x")}, [("a", "x", 2, None)]),
    (
        {5: at(5, "a", zip="x"), 6: at(4, "b", zip="y")},
        [("a", None, 2, 4), ("b", "y", 4, 5), ("a", "x", 5, None)],
    ),
    ({5: at(5, "a", zip="x"), 6: gone(4)}, [("a", None, 2, 4), ("a", "x", 5, None)]),
    ({5: at(5, "a", zip="x"), 6: at(1, "a", zip="y")}, [("a", "y", 1, 5), ("a", "x", 5, None)]),
    ({5: at(5, "a", zip="x"), 6: at(7, "a")}, [("a", "x", 2, 7), ("a", None, 7, None)]),
    (
        {5: at(4, "b"), 6: at(5, "b", zip="x")},
        [("a", None, 2, 4), ("b", None, 4, 5), ("b", "x", 5, None)],
    ),
    # It was extracted before the column came, and is merged afterwards.
    ({5: at(5, "a", zip="x"), 1: at(5, "a")}, [("a", "x", 2, None)]),
    ({5: at(5, "a", zip="x"), 1: at(7, "a")}, [("a", "x", 2, None)]),
    ({5: at(5, "a", zip="x"), 1: at(7, "b")}, [("a", "x", 2, 7), ("b", None, 7, None)]),
)


@pytest.mark.parametrize(
    ("untracked", "order"),
    [
        long("overwrite", (5, 6, 1)),
        ("ignore", (6, 1, 5)),
        long("overwrite", (1, 5, 6)),
        long("ignore", (5, 6, 1)),
    ],
)
def test_what_a_later_column_says_depends_on_no_order(load, rows, spark, table, untracked, order):
    before, after = contracts(f"untracked: {untracked}")
    for day in (2, 3):
        told(load, "changes", day, *[at(day, "a", id=n) for n in range(20)], promise=before)
    create_or_evolve(spark, after, table)

    for day in order:
        said = [runs[day] | {"id": n} for n, (runs, _) in enumerate(STORIES) if day in runs]
        load(day, *said, extract="changes", run_id=f"then-{day}", promise=after)

    found = rows("id, name, zip")
    for n, (_, versions) in enumerate(STORIES):
        assert [row[1:5] for row in found if row[0] == n] == versions, n


# Of each key: what was said before the column came, what after it, and the versions of then.
ACROSS = (
    (
        {2: [at(7, "a")]},
        {6: [at(5, "a")], 8: [at(8, "a", zip="y")]},
        [("a", None, 5, 8), ("a", "y", 8, None)],
    ),
    (
        {3: [at(5, "a")]},
        {7: [at(4, "a")], 8: [at(5, "a", zip="y")]},
        [("a", None, 4, 5), ("a", "y", 5, None)],
    ),
    (
        {3: [at(2, "a"), at(5, "b")]},
        {6: [at(2, "a"), at(5, "a")], 7: [at(7, "a", zip="x")]},
        [("a", "x", 2, None)],
    ),
    (
        {3: [at(2, "a"), at(9, "b")]},
        {6: [at(2, "a"), at(5, "a", zip="x")], 7: [at(7, "c")]},
        [("a", "x", 2, 7), ("c", None, 7, 9), ("b", None, 9, None)],
    ),
    (
        {2: [at(4, "a")]},
        {7: [at(7, "a", zip="x")], 8: [at(4, "a", zip="x")], 6: [at(2, "a", zip="y")]},
        [("a", "y", 2, 4), ("a", "x", 4, None)],
    ),
    # Extracted before the column came, and merged afterwards.
    ({2: [at(2, "a")]}, {1: [at(5, "a", zip="x"), at(6, "a")]}, [("a", "x", 2, None)]),
    (
        {},
        {6: [at(4, "a")], 1: [at(7, "a")], 8: [at(9, "a", zip="y")]},
        [("a", None, 4, 9), ("a", "y", 9, None)],
    ),
)


@pytest.mark.parametrize(
    ("untracked", "order"),
    [
        long("overwrite", (6, 7, 8, 1)),
        long("ignore", (7, 8, 6, 1)),
        ("overwrite", (1, 8, 7, 6)),
        long("ignore", (1, 6, 8, 7)),
    ],
)
def test_what_was_told_on_both_sides_of_the_column_depends_on_no_order(
    load, rows, spark, table, untracked, order
):
    promises = contracts(f"untracked: {untracked}")

    def run(day, promise, side):
        said = [{**r, "id": n} for n, story in enumerate(ACROSS) for r in story[side].get(day, [])]
        load(day, *said, extract="changes", run_id=f"{side}-{day}", promise=promise)

    for day in (2, 3):
        run(day, promises[0], 0)
    create_or_evolve(spark, promises[1], table)
    for day in order:
        run(day, promises[1], 1)

    found = rows("id, name, zip")
    for n, (*_, versions) in enumerate(ACROSS):
        assert [row[1:5] for row in found if row[0] == n] == versions, n


def test_a_deletion_of_the_very_moment_of_a_version_is_no_first_value(load, rows, spark, table):
    told(load, "changes", 1, at(1, "a"), at(1, "b", id=2))
    create_or_evolve(spark, ZIP, table)

    told(load, "changes", 3, at(1, "a", op="D"), at(1, "b", id=2, zip="x"), promise=ZIP)

    assert rows("id, name, zip") == [(2, "b", "x", 1, None, True)]


def test_a_value_that_was_told_before_the_column_came_does_not_give_way(load, rows, spark, table):
    """Its run is merged afterwards, and the companion knows an older record of its moment."""
    told(load, "changes", 1, at(1, "a"), at(3, "a"))
    told(load, "changes", 4, at(9, "b"))
    create_or_evolve(spark, ZIP, table)
    told(load, "changes", 2, at(2, "c"), at(3, "a", zip="x"), promise=ZIP)

    told(load, "changes", 6, at(4, "d"), promise=ZIP)

    assert rows("id, name, zip") == [
        (1, "a", None, 1, 2, False),
        (1, "c", None, 2, 3, False),
        (1, "a", "x", 3, 4, False),
        (1, "d", None, 4, 9, False),
        (1, "b", None, 9, None, True),
    ]


def test_several_records_of_one_run_fill_in_the_same_value(load, rows, spark, table):
    told(load, "changes", 1, *[at(1, "a", id=n) for n in (1, 2, 3)])
    create_or_evolve(spark, ZIP, table)

    done = told(
        load, "changes", 5,
        at(3, "a"), at(4, "a", zip="x"),
        at(3, "a", id=2, zip="x"), at(4, "a", id=2, zip="y"),
        at(3, "a", id=3, zip="x"), at(4, "a", id=3), at(5, "a", id=3, zip="x"),
        promise=ZIP,
    )  # fmt: skip

    assert rows("id, name, zip") == [
        (1, "a", "x", 1, None, True),
        (2, "a", "x", 1, 4, False),
        (2, "a", "y", 4, None, True),
        (3, "a", "x", 1, 4, False),
        (3, "a", None, 4, 5, False),
        (3, "a", "x", 5, None, True),
    ]
    assert (done.opened, done.closed) == (3, 3)
