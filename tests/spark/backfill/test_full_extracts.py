"""Added columns and full extracts, which backfill them and end the backfill.

Days are of January: the day from which a record holds, and the day of a run's extract.
"""

import pytest

from lakekit.layout import journal_table
from lakekit.spark.schema.create_tables import create_or_evolve
from tests.spark.support.added_columns import WITH_ZIP, contracts
from tests.spark.support.late import at, load_as
from tests.spark.support.seams import around, without_new_properties
from tests.tiers import long


@pytest.fixture
def nothing_is_rederived(monkeypatch):
    around(monkeypatch, "re-derive", lambda *_: pytest.fail("keys are re-derived"))


@pytest.mark.usefixtures("nothing_is_rederived")
def test_the_first_full_extract_with_a_column_backfills_it_and_rederives_no_key(
    load, assert_rows, spark, table
):
    load_as(load, "full", 1, at(1, "a"), at(1, "b", id=2))
    # The second repeats a record, which shows in no version.
    load_as(load, "full", 3, at(1, "a"), at(2, "b", id=2))
    create_or_evolve(spark, WITH_ZIP, table)
    known = spark.table(journal_table(table)).where("_op = 'upsert' AND id = 1")

    done = load_as(
        load, "full", 5, at(1, "a", zip="x"), at(2, "b", id=2, zip="y"), contract=WITH_ZIP
    )

    assert (done.opened, done.closed, done.restored, done.unchanged) == (0, 0, 0, 2)
    assert_rows((1, "a", "x", 1, None, True), (2, "b", "y", 1, None, True), columns="id, name, zip")
    assert known.count() == 0


@pytest.mark.long
@pytest.mark.parametrize("day", [1, 2])
def test_what_is_said_only_after_a_full_extract_is_a_change(load, assert_rows, spark, table, day):
    load_as(load, "full", 1, at(1, "a"), at(1, "b", id=2))
    load_as(load, "full", 3, at(day, "a"), at(1, "b", id=2))
    create_or_evolve(spark, WITH_ZIP, table)
    load_as(load, "full", 5, at(day, "a"), at(1, "b", id=2, zip="y"), contract=WITH_ZIP)

    load_as(load, "changes", 7, at(6, "a", zip="x"), at(4, "c", id=2, zip="y"), contract=WITH_ZIP)
    load_as(load, "changes", 8, at(7, "a", zip="x"), at(4, "a", zip="x"), contract=WITH_ZIP)

    assert_rows(
        (1, "a", None, 1, 4, False),
        (1, "a", "x", 4, None, True),
        (2, "b", "y", 1, 4, False),
        (2, "c", "y", 4, None, True),
        columns="id, name, zip",
    )


@pytest.mark.long
def test_a_late_change_brings_a_backfilled_value_back_to_its_record_though_it_is_repeated(
    load, assert_rows, spark, table
):
    load_as(load, "changes", 1, at(1, "a"), at(9, "b"))
    create_or_evolve(spark, WITH_ZIP, table)
    load_as(load, "changes", 3, at(3, "a", zip="x"), contract=WITH_ZIP)
    load_as(load, "full", 5, at(3, "a", zip="x"), at(9, "b"), contract=WITH_ZIP)

    load_as(load, "changes", 7, at(3, "a", zip="x"), at(6, "c"), contract=WITH_ZIP)

    assert_rows(
        (1, "a", None, 1, 3, False),
        (1, "a", "x", 3, 6, False),
        (1, "c", None, 6, 9, False),
        (1, "b", None, 9, None, True),
        columns="id, name, zip",
    )


@pytest.mark.long
def test_a_late_record_opens_a_version_of_a_key_that_a_full_extract_brought_back(
    load, rows, spark, table
):
    before, after = contracts()
    other = at(1, "z", id=2)
    load_as(load, "full", 1, at(1, "a"), other, contract=before)
    load_as(load, "full", 2, other, contract=before)
    load_as(load, "full", 3, at(1, "a"), other, contract=before)
    create_or_evolve(spark, after, table)
    load_as(load, "changes", 5, at(5, "a", zip="x"), contract=after)

    load_as(load, "changes", 6, at(4, "a", zip="y"), contract=after)

    assert rows("id, name, zip")[:-1] == [
        (1, "a", None, 1, 2, False),
        (1, "a", None, 3, 4, False),
        (1, "a", "y", 4, 5, False),
        (1, "a", "x", 5, None, True),
    ]


@pytest.mark.long
def test_a_run_that_is_stopped_after_it_wrote_the_journal_has_recorded_the_column(
    load, assert_rows, spark, table, monkeypatch
):
    """The full extract repeats all content: only the journal and a property record it."""
    load_as(load, "full", 1, at(1, "a"))
    create_or_evolve(spark, WITH_ZIP, table)
    with without_new_properties(monkeypatch):
        load_as(load, "full", 3, at(1, "a"), contract=WITH_ZIP)
    load_as(load, "full", 3, at(1, "a"), contract=WITH_ZIP)

    load_as(load, "changes", 5, at(4, "a", zip="x"), contract=WITH_ZIP)

    assert_rows((1, "a", None, 1, 4, False), (1, "a", "x", 4, None, True), columns="id, name, zip")


@pytest.mark.long
def test_a_key_that_was_brought_back_keeps_the_content_that_it_came_back_with(
    load, rows, spark, table
):
    other = at(1, "z", id=2)
    load_as(load, "full", 1, at(1, "a"), other)
    load_as(load, "full", 2, other)
    load_as(load, "full", 3, at(1, "a"), other)
    create_or_evolve(spark, WITH_ZIP, table)

    load_as(load, "full", 5, at(1, "a", zip="x"), other, contract=WITH_ZIP)

    assert rows("id, name, zip")[:-1] == [
        (1, "a", "x", 1, 2, False),
        (1, "a", None, 3, None, True),
    ]


@pytest.mark.long
@pytest.mark.parametrize("order", [long((6, 8)), (8, 6)])
def test_a_full_extract_of_the_event_time_of_a_record_has_not_recorded_it(
    load, assert_rows, spark, table, order
):
    load_as(load, "full", 3, at(4, "a"))
    load_as(load, "full", 5, at(4, "a"))
    create_or_evolve(spark, WITH_ZIP, table)
    said = {6: at(3, "a", zip="y"), 8: at(5, "a")}

    for day in order:
        load_as(load, "changes", day, said[day], contract=WITH_ZIP)

    assert_rows((1, "a", "y", 3, 4, False), (1, "a", None, 4, None, True), columns="id, name, zip")


@pytest.mark.parametrize(
    "options",
    [
        {},
        long({"sequence_by": None}),
        long({"sequence_by": None, "deletes": "mark"}),
    ],
)
def test_full_extracts_of_scopes_backfill_a_column_until_all_have_recorded_it(
    load, assert_rows, spark, table, monkeypatch, options
):
    before, after = contracts(delete_scope=["seen"], **options)
    load_as(load, "full", 1, at(1, "a", seen=1), at(1, "b", id=2, seen=1), contract=before)
    load_as(load, "full", 2, at(2, "c", id=3, seen=2), at(2, "d", id=4, seen=2), contract=before)
    create_or_evolve(spark, after, table)
    north = at(5, "a", seen=1, zip="x"), at(1, "b", id=2, seen=1)
    # A crash comes before the property is set.
    with without_new_properties(monkeypatch):
        first = load_as(load, "full", 5, *north, contract=after)
    load_as(load, "full", 5, *north, contract=after)

    second = load_as(load, "full", 6, at(6, "c", id=3, seen=2, zip="y"), at(2, "d", id=4, seen=2),
                  contract=after)  # fmt: skip
    third = load_as(load, "full", 7, at(7, "a", seen=1, zip="x"), at(7, "b", id=2, seen=1, zip="z"),
                 contract=after)  # fmt: skip

    assert [each.opened for each in (first, second, third)] == [0, 0, 1]
    assert_rows(
        (1, "a", "x", 1, None, True),
        (2, "b", None, 1, 7, False),
        (2, "b", "z", 7, None, True),
        (3, "c", "y", 2, None, True),
        (4, "d", None, 2, None, True),
        columns="id, name, zip",
    )
