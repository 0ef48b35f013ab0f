"""Full extracts beside late changes: what each held of a key, and lacked; each once came out wrong.

A record is named by its day of January, the day it holds from; a run by the day of its extract.
"""

import pytest

from lakekit.contract.contract import load_contract
from tests.spark.late import TEXT, at, gone, told, with_history


@pytest.mark.long
def test_a_key_whose_only_record_is_ahead_of_its_full_extract_was_present_in_it(load, rows):
    told(load, "full", 3, at(4, "b"))
    told(load, "changes", 5, at(2, "a"))

    assert rows("id, name") == [(1, "a", 2, 4, False), (1, "b", 4, None, True)]


@pytest.mark.long
def test_two_full_extracts_that_hold_a_key_leave_no_gap_before_a_record_ahead_of_them(load, rows):
    told(load, "full", 3, at(20, "b"))
    told(load, "full", 5, at(2, "a"))

    assert rows("id, name") == [(1, "a", 2, 20, False), (1, "b", 20, None, True)]


@pytest.mark.long
def test_a_full_extract_brings_back_what_it_held_though_another_record_won(load, rows):
    told(load, "incremental", 4, at(1, "later said"))
    told(load, "full", 3, at(1, "held"))
    told(load, "changes", 2, gone(2))

    assert rows("id, name") == [
        (1, "later said", 1, 2, False),
        (1, "held", 3, None, True),
    ]


def test_a_full_extract_brings_back_what_it_held_though_a_change_came_before(load, rows):
    told(load, "full", 10, at(1, "held"))
    told(load, "changes", 11, at(5, "in between"))
    told(load, "changes", 12, gone(7))

    assert rows("id, name") == [
        (1, "held", 1, 5, False),
        (1, "in between", 5, 7, False),
        (1, "held", 10, None, True),
    ]


@pytest.mark.long
def test_what_a_full_extract_held_is_known_after_two_late_changes(load, rows):
    told(load, "full", 10, at(1, "held"))
    told(load, "changes", 11, at(5, "in between"))
    told(load, "changes", 12, at(6, "once more"))
    told(load, "changes", 13, gone(7))

    assert rows("id, name")[2:] == [(1, "once more", 6, 7, False), (1, "held", 10, None, True)]


def test_a_key_that_is_deleted_ahead_of_a_full_extract_is_gone_from_that_one_on(load, rows):
    told(load, "changes", 4, at(2, "a"), gone(9))
    told(load, "full", 3)

    assert rows("id, name") == [(1, "a", 2, 3, False)]


@pytest.mark.long
def test_a_record_ahead_of_its_full_extract_that_lost_shows_its_key_was_there(load, rows):
    told(load, "incremental", 4, at(9, "won"))
    told(load, "full", 3, at(9, "lost"))
    told(load, "incremental", 5, at(2, "before"))

    assert rows("id, name") == [(1, "before", 2, 9, False), (1, "won", 9, None, True)]


@pytest.mark.long
def test_an_older_full_extract_that_repeats_a_record_ahead_of_both_held_its_key(load, rows):
    told(load, "full", 5, at(9, "b"))
    told(load, "full", 3, at(9, "b"))
    told(load, "changes", 6, at(2, "a"))

    assert rows("id, name") == [(1, "a", 2, 9, False), (1, "b", 9, None, True)]


def test_a_full_extract_held_a_key_whose_record_was_rejected(load, rows):
    """Even if what is wrong stands in a column that nothing else looks at."""
    told(load, "full", 4, at(1, "x", seen="many"), at(1, "z") | {"id": 2})
    told(load, "changes", 3, at(1, "a"))

    assert rows("id, name") == [(1, "a", 1, None, True), (2, "z", 1, None, True)]


@pytest.mark.long
def test_a_key_that_comes_back_shows_what_the_full_extract_held_in_untracked_columns(load, rows):
    first = with_history("untracked: ignore")
    told(load, "changes", 4, at(1, "a", seen=1), promise=first)
    told(load, "full", 5, at(2, "a", seen=2), promise=first)
    told(load, "full", 3, at(9, "z") | {"id": 2}, promise=first)

    assert rows("id, name, seen")[:2] == [(1, "a", 1, 1, 3, False), (1, "a", 2, 5, None, True)]


def test_an_overwritten_version_comes_back_as_the_full_extract_held_it(load, rows):
    told(load, "changes", 4, at(5, "a", seen=1))
    told(load, "full", 10, at(5, "a", seen=1))
    told(load, "changes", 20, at(20, "a", seen=2))
    told(load, "changes", 21, gone(7), at(15, "b", seen=3))

    assert rows("id, name, seen") == [
        (1, "a", 1, 5, 7, False),
        (1, "a", 1, 10, 15, False),
        (1, "b", 3, 15, 20, False),
        (1, "a", 2, 20, None, True),
    ]


@pytest.mark.long
def test_a_partial_history_comes_back_as_the_full_extract_held_it(load, rows):
    promise = with_history("ignore_null_updates: true")
    told(load, "full", 10, at(5, "a", seen=1), at(15, "a", seen=2), promise=promise)
    told(load, "changes", 11, gone(7), at(12, "b", seen=3), promise=promise)

    assert rows("id, name, seen") == [
        (1, "a", 1, 5, 7, False),
        (1, "a", 1, 10, 12, False),
        (1, "b", 3, 12, 15, False),
        (1, "a", 2, 15, None, True),
    ]


@pytest.mark.long
def test_an_older_full_extract_held_a_key_that_a_newer_one_brought_back(load, rows):
    told(load, "changes", 6, at(5, "a"))
    told(load, "changes", 8, gone(7))
    told(load, "full", 12, at(5, "a"))
    told(load, "full", 10, at(5, "a"))

    assert rows("id, name") == [(1, "a", 5, 7, False), (1, "a", 10, None, True)]


@pytest.mark.long
def test_a_key_that_a_full_extract_lacks_is_back_where_a_record_ahead_says_so_again(load, rows):
    told(load, "changes", 20, at(5, "a"), at(15, "a"), at(1, "z") | {"id": 2})
    told(load, "full", 10, at(1, "z") | {"id": 2})

    assert rows("id, name")[:2] == [(1, "a", 5, 10, False), (1, "a", 15, None, True)]


@pytest.mark.long
def test_a_key_that_an_extract_lacks_goes_on_if_a_record_of_that_moment_says_the_same(load, rows):
    told(load, "full", 4, at(4, "z", id=2))
    told(load, "full", 2, at(1, "a"))
    told(load, "incremental", 5, at(4, "a"))

    assert rows("id, name")[0] == (1, "a", 1, None, True)


@pytest.mark.long
def test_a_full_extract_did_not_hold_a_record_that_lost(load, rows):
    told(load, "changes", 5, at(1, "a"), at(5, "a"))
    told(load, "changes", 6, at(5, "b"))
    told(load, "full", 10, at(5, "b"))
    told(load, "changes", 11, gone(7))

    assert rows("id, name") == [
        (1, "a", 1, 5, False),
        (1, "b", 5, 7, False),
        (1, "b", 10, None, True),
    ]


def test_the_fact_that_an_extract_was_full_holds_nothing_of_a_record(load, spark, table):
    """It came once of a list of values, whose column Spark calls col1."""
    promise = load_contract(TEXT.replace("name: city", "name: col1"))
    told(load, "full", 1, at(1, "Ann", col1="007"), promise=promise)
    told(load, "full", 2, at(1, "Ann", col1="007"), promise=promise)

    facts = spark.table(f"{table}_facts").select("_op", "id", "col1").distinct().collect()

    assert [tuple(row) for row in facts] == [("X", None, None)]
