"""Late changes that once came out wrong: each is the shortest part of a random history.

Days are of January: the day from which a record holds, and the day of a run's extract.
"""

import pytest

from tests.spark.support.late import at, cdc, deletion, load_as
from tests.spark.support.people import people


@pytest.mark.long
def test_the_later_extract_of_one_time_counts_however_late_the_other_arrives(load, assert_rows):
    load_as(load, "changes", 5, at(10, "a"))
    load_as(load, "changes", 4, deletion(10))
    load_as(load, "changes", 3, at(20, "b"), deletion(1))

    assert_rows((1, "a", 10, 20, False), (1, "b", 20, None, True), columns="id, name")


@pytest.mark.long
def test_a_version_keeps_what_its_own_records_say_when_a_late_change_cuts_it(load, assert_rows):
    load_as(load, "changes", 4, at(20, "b"), at(5, "a", seen=1))
    load_as(load, "changes", 6, at(20, "a", seen=2))
    assert_rows((1, "a", 2, 20, 5, None, True), columns="id, name, seen, day(at)")

    load_as(load, "changes", 7, at(10, "c", seen=3))

    assert_rows(
        (1, "a", 1, 5, 5, 10, False),
        (1, "c", 3, 10, 10, 20, False),
        (1, "a", 2, 20, 20, None, True),
        columns="id, name, seen, day(at)",
    )


@pytest.mark.long
def test_a_run_that_overwrites_untracked_columns_keeps_what_they_were(load, assert_rows):
    load_as(load, "changes", 4, at(5, "a", seen=1))
    load_as(load, "changes", 6, at(20, "a", seen=2))

    load_as(load, "changes", 7, at(10, "c", seen=3))

    assert_rows(
        (1, "a", 1, 5, 5, 10, False),
        (1, "c", 3, 10, 10, 20, False),
        (1, "a", 2, 20, 20, None, True),
        columns="id, name, seen, day(at)",
    )


@pytest.mark.long
def test_the_latest_of_one_event_time_is_that_of_the_later_extract_in_any_order(load, assert_rows):
    latest = people(mode="scd1", sequence_by="at")
    load(5, at(2, "a"), extract="changes", contract=latest)
    load(4, at(2, "b"), extract="changes", contract=latest)

    assert_rows((1, "a", 2, None, True), columns="id, name")


def test_the_first_year_is_merged_and_met_again_by_late_records(load, spark, table):
    ancient = {"at": "0001-01-01T00:00:00Z"}
    load_as(load, "full", 2, at(1, "b") | ancient, at(1, "x") | {"id": 2})
    load_as(load, "full", 3, at(1, "b") | ancient, at(2, "c") | {"id": 2} | ancient)

    found = spark.sql(
        "SELECT id, name, CAST(_valid_from AS string), CAST(at AS string) "
        f"FROM {table} ORDER BY 1, 3"
    ).collect()

    assert [tuple(row) for row in found] == [
        (1, "b", "0001-01-01 00:00:00", "0001-01-01 00:00:00"),
        (2, "c", "0001-01-01 00:00:00", "0001-01-01 00:00:00"),
        (2, "x", "2026-01-01 00:00:00", "2026-01-01 00:00:00"),
    ]


@pytest.mark.long
def test_a_deletion_that_comes_again_after_its_key_came_back_is_late(load, assert_rows):
    strict = cdc(late_changes="quarantine")
    load_as(load, "changes", 4, deletion(1), contract=strict)
    load_as(load, "changes", 6, at(3, "a"), contract=strict)
    done = load_as(load, "changes", 5, deletion(1), contract=strict)

    assert done.quarantined == 1
    assert_rows((1, "a", 3, None, True), columns="id, name")
