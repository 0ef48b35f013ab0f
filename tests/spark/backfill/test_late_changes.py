"""Added columns where late changes are exact: what backfills them, and what opens versions.

Days are of January: the day from which a record holds, and the day of a run's extract.
"""

import pytest

from lakekit.spark.schema.create_tables import create_or_evolve
from tests.spark.support.added_columns import WITH_ZIP, contracts
from tests.spark.support.late import at, deletion, load_as

# Of each key: what the runs of two days hold, and the versions afterwards. Every key held "a" since
# day 2, and was merged again on day 3, before the column was added. The run of day 5 moves forward
# and backfills; that of day 6 is late, or moves forward too.
STORIES = (
    ({5: at(5, "a", zip="x"), 6: at(4, "a", zip="x")}, [("a", None, 2, 4), ("a", "x", 4, None)]),
    (
        {5: at(5, "a", zip="x"), 6: at(4, "a", zip="y")},
        [("a", None, 2, 4), ("a", "y", 4, 5), ("a", "x", 5, None)],
    ),
    (
        {5: at(5, "a", zip="x"), 6: at(4, "b", zip="y")},
        [("a", None, 2, 4), ("b", "y", 4, 5), ("a", "x", 5, None)],
    ),
    ({5: at(5, "a", zip="x"), 6: deletion(4)}, [("a", None, 2, 4), ("a", "x", 5, None)]),
    (
        {5: at(5, "a", zip="x"), 6: at(1, "a", zip="y")},
        [("a", "y", 1, 2), ("a", None, 2, 5), ("a", "x", 5, None)],
    ),
    ({5: at(5, "a", zip="x"), 6: at(7, "a")}, [("a", "x", 2, 7), ("a", None, 7, None)]),
    ({5: at(5, "a", zip="x"), 6: at(7, "a", zip="x")}, [("a", "x", 2, None)]),
    (
        {5: at(4, "b"), 6: at(5, "b", zip="x")},
        [("a", None, 2, 4), ("b", None, 4, 5), ("b", "x", 5, None)],
    ),
)


@pytest.mark.long
def test_a_late_record_does_not_backfill(load, rows, spark, table):
    """Its value opens a version, and a value that was backfilled begins with its own record."""
    before, after = contracts()
    for day in (2, 3):
        load_as(load, "changes", day, *[at(day, "a", id=n) for n in range(20)], contract=before)
    create_or_evolve(spark, after, table)

    for day in (5, 6):
        records = [runs[day] | {"id": n} for n, (runs, _) in enumerate(STORIES)]
        load(day, *records, extract="changes", contract=after)

    found = rows("id, name, zip")
    for n, (_, versions) in enumerate(STORIES):
        assert [row[1:5] for row in found if row[0] == n] == versions, n


def test_a_deletion_at_the_event_time_of_a_version_is_no_first_value(
    load, assert_rows, spark, table
):
    load_as(load, "changes", 1, at(1, "a"), at(1, "b", id=2))
    create_or_evolve(spark, WITH_ZIP, table)

    load_as(load, "changes", 3, at(1, "a", op="D"), at(1, "b", id=2, zip="x"), contract=WITH_ZIP)

    assert_rows((2, "b", "x", 1, None, True), columns="id, name, zip")


@pytest.mark.long
def test_a_value_that_was_recorded_before_the_column_came_does_not_give_way(
    load, assert_rows, spark, table
):
    """Its run is merged afterwards, and the journal has an older record of its event time."""
    load_as(load, "changes", 1, at(1, "a"), at(3, "a"))
    load_as(load, "changes", 4, at(9, "b"))
    create_or_evolve(spark, WITH_ZIP, table)
    load_as(load, "changes", 2, at(2, "c"), at(3, "a", zip="x"), contract=WITH_ZIP)

    load_as(load, "changes", 6, at(4, "d"), contract=WITH_ZIP)

    assert_rows(
        (1, "a", None, 1, 2, False),
        (1, "c", None, 2, 3, False),
        (1, "a", "x", 3, 4, False),
        (1, "d", None, 4, 9, False),
        (1, "b", None, 9, None, True),
        columns="id, name, zip",
    )


@pytest.mark.long
def test_several_records_of_one_run_fill_in_the_same_value(load, assert_rows, spark, table):
    load_as(load, "changes", 1, *[at(1, "a", id=n) for n in (1, 2, 3)])
    create_or_evolve(spark, WITH_ZIP, table)

    done = load_as(
        load, "changes", 5,
        at(3, "a"), at(4, "a", zip="x"),
        at(3, "a", id=2, zip="x"), at(4, "a", id=2, zip="y"),
        at(3, "a", id=3, zip="x"), at(4, "a", id=3), at(5, "a", id=3, zip="x"),
        contract=WITH_ZIP,
    )  # fmt: skip

    assert_rows(
        (1, "a", "x", 1, None, True),
        (2, "a", "x", 1, 4, False),
        (2, "a", "y", 4, None, True),
        (3, "a", "x", 1, 4, False),
        (3, "a", None, 4, 5, False),
        (3, "a", "x", 5, None, True),
        columns="id, name, zip",
    )
    assert (done.opened, done.closed) == (3, 3)


def test_a_late_correction_beats_the_record_that_a_backfilled_version_began_with(
    load, assert_rows, spark, table
):
    """With `untracked: ignore` the version keeps what its first record says, its rank too."""
    before, after = contracts(untracked="ignore")
    load_as(load, "changes", 1, at(1, "a"), contract=before)
    create_or_evolve(spark, after, table)
    load_as(load, "changes", 5, at(4, "a", zip="x"), contract=after)

    load_as(load, "changes", 3, at(1, "z"), contract=after)

    assert_rows(
        (1, "z", None, 1, 4, False),
        (1, "a", "x", 4, None, True),
        columns="id, name, zip",
    )


@pytest.mark.long
def test_a_full_extract_held_no_value_that_was_backfilled_after_it(load, assert_rows, spark, table):
    before, after = contracts()
    load_as(load, "changes", 1, at(1, "a"), contract=before)
    load_as(load, "full", 3, at(1, "a"), contract=before)
    create_or_evolve(spark, after, table)
    load_as(load, "changes", 6, at(6, "a", zip="x"), contract=after)

    load_as(load, "changes", 7, deletion(2), at(5, "b"), contract=after)

    assert_rows(
        (1, "a", None, 1, 2, False),
        (1, "a", None, 3, 5, False),
        (1, "b", None, 5, 6, False),
        (1, "a", "x", 6, None, True),
        columns="id, name, zip",
    )
