"""Late changes after a contract has changed: they do not change what was known before.

Days are of January: the day from which a record holds, and the day of a run's extract.
"""

import pytest

from lakekit.errors import SchemaMismatchError
from lakekit.spark.schema.create_tables import create_or_evolve
from tests.spark.support.late import at, cdc, deletion, load_as
from tests.tiers import long

WHOLE = cdc()
LATEST = cdc(mode="scd1")
PARTIAL = cdc(ignore_null_updates=True)
EXCEPT = {"track_history_columns": None, "track_history_except": ["seen", "at"]}


@pytest.mark.long
def test_a_deletion_that_a_record_of_its_event_time_beat_in_scd1_stays_beaten(
    load, assert_rows, spark, table
):
    load_as(load, "changes", 4, deletion(5), contract=LATEST)
    load_as(load, "changes", 6, at(5, "a"), contract=LATEST)
    create_or_evolve(spark, WHOLE, table)

    load_as(load, "changes", 7, at(3, "c"))

    assert_rows((1, "c", 3, 5, False), (1, "a", 5, None, True), columns="id, name")


@pytest.mark.parametrize("first", [WHOLE, long(PARTIAL)], ids=["whole", "partial"])
def test_a_table_whose_journal_holds_other_records_stays_as_it_is(
    load, assert_rows, spark, table, first
):
    then = WHOLE if first is PARTIAL else PARTIAL
    load_as(load, "changes", 4, deletion(5), contract=first)
    load_as(load, "changes", 6, at(5, "a"), contract=first)

    with pytest.raises(SchemaMismatchError, match="ignore_null_updates: "):
        create_or_evolve(spark, then, table)
    with pytest.raises(SchemaMismatchError, match="ignore_null_updates: "):
        load_as(load, "changes", 7, at(3, "c"), contract=then)

    assert_rows((1, "a", 5, None, True), columns="id, name")


@pytest.mark.long
@pytest.mark.parametrize("late", [at(3, "b"), long(at(9, "a", city="y"))], ids=["first", "last"])
def test_versions_that_differ_in_a_column_that_is_no_longer_tracked_stay(
    load, rows, spark, table, late
):
    both = cdc(track_history_columns=["name", "city"])
    load_as(load, "changes", 10, at(5, "a", city="x"), at(7, "a", city="y"), contract=both)
    create_or_evolve(spark, WHOLE, table)

    load_as(load, "changes", 11, at(12, "a", city="z"))
    load_as(load, "changes", 13, late)

    assert rows("id, name, city")[-2:] == [
        (1, "a", "x", 5, 7, False),
        (1, "a", "z", 7, None, True),
    ]


@pytest.mark.long
def test_full_extracts_of_scd1_do_not_show_when_a_key_began(load, rows, spark, table):
    other = at(1, "z", id=2)
    load_as(load, "full", 10, at(5, "a"), other, contract=LATEST)
    load_as(load, "full", 20, at(15, "b"), other, contract=LATEST)
    create_or_evolve(spark, WHOLE, table)

    load_as(load, "changes", 21, at(3, "c"))

    assert rows("id, name")[:2] == [(1, "c", 3, 15, False), (1, "b", 15, None, True)]


@pytest.mark.long
@pytest.mark.parametrize("order", [(3, 22), long((22, 3))])
def test_a_key_that_came_after_scd1_is_deleted_where_an_extract_lacked_it(
    load, rows, spark, table, order
):
    for day in (10, 20):
        load_as(load, "full", day, at(1, "z", id=2), contract=LATEST)
    create_or_evolve(spark, WHOLE, table)

    for day, event_day in zip((21, 23), order, strict=True):
        load_as(load, "changes", day, at(event_day, "c"))

    assert rows("id, name")[:2] == [(1, "c", 3, 10, False), (1, "c", 22, None, True)]


@pytest.mark.long
def test_a_key_that_full_extracts_of_scd1_lacked_is_deleted(load, rows, spark, table):
    load_as(load, "full", 10, at(1, "z", id=2), contract=LATEST)
    create_or_evolve(spark, WHOLE, table)

    load_as(load, "changes", 21, at(3, "c"))

    assert rows("id, name")[0] == (1, "c", 3, 10, False)


@pytest.mark.long
def test_a_late_change_keeps_versions_that_differ_in_a_dropped_column(
    load, assert_rows, spark, table
):
    whole, fewer = cdc(**EXCEPT), cdc(columns={"city": None}, **EXCEPT)
    load_as(load, "changes", 20, at(1, "a", city="x"), at(5, "a", city="y"), contract=whole)
    load_as(load, "changes", 21, at(10, "b", city="y"), at(12, "b", city="y"), contract=whole)
    create_or_evolve(spark, fewer, table)

    load_as(load, "changes", 22, at(7, "c"), contract=fewer)
    assert_rows(
        (1, "a", "x", 1, 5, False),
        (1, "a", "y", 5, 7, False),
        (1, "c", None, 7, 10, False),
        (1, "b", "y", 10, None, True),
        columns="id, name, city",
    )

    load_as(load, "changes", 23, at(11, "b"), at(7, None, op="D"), contract=fewer)
    assert_rows(
        (1, "a", "x", 1, 5, False),
        (1, "a", "y", 5, 7, False),
        (1, "b", "y", 10, None, True),
        columns="id, name, city",
    )


@pytest.mark.long
@pytest.mark.parametrize("kind", ["timestamp", long("timestamp_ntz")])
def test_dropped_times_differ_by_their_microseconds(load, assert_rows, spark, table, kind):
    before, fewer = (cdc(columns={"city": city}, **EXCEPT) for city in (kind, None))
    apart = [at(day, "a", city=f"2026-01-01T00:00:00.00000{day}") for day in (1, 5)]
    load_as(load, "changes", 20, *apart, at(10, "b"), contract=before)
    create_or_evolve(spark, fewer, table)

    load_as(load, "changes", 21, at(7, "c"), contract=fewer)

    assert_rows(
        (1, "a", 1, 5, False),
        (1, "a", 5, 7, False),
        (1, "c", 7, 10, False),
        (1, "b", 10, None, True),
        columns="id, name",
    )
