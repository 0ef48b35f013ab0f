"""Late changes that once came out wrong: each is the shortest story of a random history.

A record is named by its day of January, the day it holds from; a run by the day of its extract.
"""

import pytest

from lakekit.contract.contract import load_contract
from tests.spark.late import at, gone, told, with_history
from tests.spark.people import CONTRACT


@pytest.mark.long
def test_of_one_moment_the_later_extract_counts_however_late_the_other_arrives(load, rows):
    told(load, "changes", 5, at(10, "a"))
    told(load, "changes", 4, gone(10))
    told(load, "changes", 3, at(20, "b"), gone(1))

    assert rows("id, name") == [(1, "a", 10, 20, False), (1, "b", 20, None, True)]


@pytest.mark.long
def test_a_version_keeps_what_its_own_records_say_when_a_late_change_cuts_it(load, rows):
    told(load, "changes", 4, at(20, "b"), at(5, "a", seen=1))
    told(load, "changes", 6, at(20, "a", seen=2))
    assert rows("id, name, seen, day(at)") == [(1, "a", 2, 20, 5, None, True)]

    told(load, "changes", 7, at(10, "c", seen=3))

    assert rows("id, name, seen, day(at)") == [
        (1, "a", 1, 5, 5, 10, False),
        (1, "c", 3, 10, 10, 20, False),
        (1, "a", 2, 20, 20, None, True),
    ]


@pytest.mark.long
def test_a_run_that_overwrites_untracked_columns_keeps_what_they_were(load, rows):
    told(load, "changes", 4, at(5, "a", seen=1))
    told(load, "changes", 6, at(20, "a", seen=2))

    told(load, "changes", 7, at(10, "c", seen=3))

    assert rows("id, name, seen, day(at)") == [
        (1, "a", 1, 5, 5, 10, False),
        (1, "c", 3, 10, 10, 20, False),
        (1, "a", 2, 20, 20, None, True),
    ]


@pytest.mark.long
def test_the_latest_of_one_moment_is_that_of_the_later_extract_in_any_order(load, rows):
    latest = load_contract(
        CONTRACT.replace(
            "  - {name: city, type: string}",
            "  - {name: city, type: string}\n  - {name: at, type: timestamp}",
        ).replace("keys: [id]", "keys: [id], mode: scd1, sequence_by: at")
    )
    load(5, at(2, "a"), extract="changes", promise=latest)
    load(4, at(2, "b"), extract="changes", promise=latest)

    assert rows("id, name") == [(1, "a", 2, None, True)]


def test_the_first_year_is_merged_and_met_again_by_late_records(load, spark, table):
    ancient = {"at": "0001-01-01T00:00:00Z"}
    told(load, "full", 2, at(1, "b") | ancient, at(1, "x") | {"id": 2})
    told(load, "full", 3, at(1, "b") | ancient, at(2, "c") | {"id": 2} | ancient)

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
def test_a_deletion_that_comes_again_after_its_key_came_back_is_late(load, rows):
    strict = with_history("late_changes: quarantine")
    told(load, "changes", 4, gone(1), promise=strict)
    told(load, "changes", 6, at(3, "a"), promise=strict)
    done = told(load, "changes", 5, gone(1), promise=strict)

    assert done.quarantined == 1
    assert rows("id, name") == [(1, "a", 3, None, True)]


@pytest.mark.long
def test_two_deletions_of_one_moment_are_no_tie(load, rows):
    strict = with_history("tie_break: quarantine")
    done = told(load, "changes", 4, at(1, "a"), gone(3), gone(3) | {"seen": 1}, promise=strict)

    assert done.quarantined == 0
    assert rows("id, name") == [(1, "a", 1, 3, False)]


def test_a_tie_fills_no_partial_record(load, rows):
    strict = with_history("tie_break: quarantine, ignore_null_updates: true")
    tie = (at(3, "b"), at(3, "c"))
    done = told(load, "changes", 9, at(1, "a", city="Oslo"), *tie, at(5, None, city="Rome"),
                promise=strict)  # fmt: skip

    assert done.quarantined == 2
    assert rows("id, name, city") == [(1, "a", "Rome", 1, None, True)]
