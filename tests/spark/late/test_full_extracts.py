"""Full extracts and late changes: which keys each held or lacked; each once came out wrong.

Days are of January: the day from which a record holds, and the day of a run's extract.
"""

import pytest

from tests.spark.support.late import at, cdc, deletion, load_as


@pytest.mark.long
def test_a_key_whose_only_record_is_ahead_of_its_full_extract_was_present_in_it(load, assert_rows):
    load_as(load, "full", 3, at(4, "b"))
    load_as(load, "changes", 5, at(2, "a"))

    assert_rows((1, "a", 2, 4, False), (1, "b", 4, None, True), columns="id, name")


@pytest.mark.long
def test_two_full_extracts_that_hold_a_key_leave_no_gap_before_a_record_ahead_of_them(
    load, assert_rows
):
    load_as(load, "full", 3, at(20, "b"))
    load_as(load, "full", 5, at(2, "a"))

    assert_rows((1, "a", 2, 20, False), (1, "b", 20, None, True), columns="id, name")


@pytest.mark.long
def test_a_full_extract_brings_back_what_it_held_though_another_record_won(load, assert_rows):
    load_as(load, "incremental", 4, at(1, "later said"))
    load_as(load, "full", 3, at(1, "held"))
    load_as(load, "changes", 2, deletion(2))

    assert_rows(
        (1, "later said", 1, 2, False),
        (1, "held", 3, None, True),
        columns="id, name",
    )


def test_a_full_extract_brings_back_what_it_held_though_a_change_came_before(load, assert_rows):
    load_as(load, "full", 10, at(1, "held"))
    load_as(load, "changes", 11, at(5, "in between"))
    load_as(load, "changes", 12, deletion(7))

    assert_rows(
        (1, "held", 1, 5, False),
        (1, "in between", 5, 7, False),
        (1, "held", 10, None, True),
        columns="id, name",
    )


@pytest.mark.long
def test_what_a_full_extract_held_is_known_after_two_late_changes(load, rows):
    load_as(load, "full", 10, at(1, "held"))
    load_as(load, "changes", 11, at(5, "in between"))
    load_as(load, "changes", 12, at(6, "once more"))
    load_as(load, "changes", 13, deletion(7))

    assert rows("id, name")[2:] == [(1, "once more", 6, 7, False), (1, "held", 10, None, True)]


@pytest.mark.long
def test_a_key_that_is_deleted_ahead_of_a_full_extract_is_missing_from_that_one_on(
    load, assert_rows
):
    load_as(load, "changes", 4, at(2, "a"), deletion(9))
    load_as(load, "full", 3)

    assert_rows((1, "a", 2, 3, False), columns="id, name")


@pytest.mark.long
def test_a_record_ahead_of_its_full_extract_that_lost_shows_its_key_was_there(load, assert_rows):
    load_as(load, "incremental", 4, at(9, "won"))
    load_as(load, "full", 3, at(9, "lost"))
    load_as(load, "incremental", 5, at(2, "before"))

    assert_rows((1, "before", 2, 9, False), (1, "won", 9, None, True), columns="id, name")


@pytest.mark.long
def test_an_older_full_extract_that_repeats_a_record_ahead_of_both_held_its_key(load, assert_rows):
    load_as(load, "full", 5, at(9, "b"))
    load_as(load, "full", 3, at(9, "b"))
    load_as(load, "changes", 6, at(2, "a"))

    assert_rows((1, "a", 2, 9, False), (1, "b", 9, None, True), columns="id, name")


@pytest.mark.long
def test_a_full_extract_held_a_key_whose_record_was_rejected(load, assert_rows):
    """Even if the wrong value is in a column that nothing else reads."""
    load_as(load, "full", 4, at(1, "x", seen="many"), at(1, "z") | {"id": 2})
    load_as(load, "changes", 3, at(1, "a"))

    assert_rows((1, "a", 1, None, True), (2, "z", 1, None, True), columns="id, name")


@pytest.mark.long
def test_a_key_that_comes_back_shows_what_the_full_extract_held_in_untracked_columns(load, rows):
    first = cdc(untracked="ignore")
    load_as(load, "changes", 4, at(1, "a", seen=1), contract=first)
    load_as(load, "full", 5, at(2, "a", seen=2), contract=first)
    load_as(load, "full", 3, at(9, "z") | {"id": 2}, contract=first)

    assert rows("id, name, seen")[:2] == [(1, "a", 1, 1, 3, False), (1, "a", 2, 5, None, True)]


@pytest.mark.long
def test_an_overwritten_version_comes_back_as_the_full_extract_held_it(load, assert_rows):
    load_as(load, "changes", 4, at(5, "a", seen=1))
    load_as(load, "full", 10, at(5, "a", seen=1))
    load_as(load, "changes", 20, at(20, "a", seen=2))
    load_as(load, "changes", 21, deletion(7), at(15, "b", seen=3))

    assert_rows(
        (1, "a", 1, 5, 7, False),
        (1, "a", 1, 10, 15, False),
        (1, "b", 3, 15, 20, False),
        (1, "a", 2, 20, None, True),
        columns="id, name, seen",
    )


@pytest.mark.long
def test_an_older_full_extract_held_a_key_that_a_newer_one_brought_back(load, assert_rows):
    load_as(load, "changes", 6, at(5, "a"))
    load_as(load, "changes", 8, deletion(7))
    load_as(load, "full", 12, at(5, "a"))
    load_as(load, "full", 10, at(5, "a"))

    assert_rows((1, "a", 5, 7, False), (1, "a", 10, None, True), columns="id, name")


@pytest.mark.long
def test_a_key_that_a_full_extract_lacks_is_back_where_a_record_ahead_says_so_again(load, rows):
    load_as(load, "changes", 20, at(5, "a"), at(15, "a"), at(1, "z") | {"id": 2})
    load_as(load, "full", 10, at(1, "z") | {"id": 2})

    assert rows("id, name")[:2] == [(1, "a", 5, 10, False), (1, "a", 15, None, True)]


@pytest.mark.long
def test_a_key_that_an_extract_lacks_goes_on_if_a_record_of_that_time_says_the_same(load, rows):
    load_as(load, "full", 4, at(4, "z", id=2))
    load_as(load, "full", 2, at(1, "a"))
    load_as(load, "incremental", 5, at(4, "a"))

    assert rows("id, name")[0] == (1, "a", 1, None, True)


@pytest.mark.long
def test_a_full_extract_did_not_hold_a_record_that_lost(load, assert_rows):
    load_as(load, "changes", 5, at(1, "a"), at(5, "a"))
    load_as(load, "changes", 6, at(5, "b"))
    load_as(load, "full", 10, at(5, "b"))
    load_as(load, "changes", 11, deletion(7))

    assert_rows(
        (1, "a", 1, 5, False),
        (1, "b", 5, 7, False),
        (1, "b", 10, None, True),
        columns="id, name",
    )


def test_the_entry_of_a_full_extract_holds_nothing_of_a_record(load, spark, table):
    """Once it was made of a list of values, whose column Spark calls col1."""
    contract = cdc(columns={"city": None, "col1": "string"})
    load_as(load, "full", 1, at(1, "Ann", col1="007"), contract=contract)
    load_as(load, "full", 2, at(1, "Ann", col1="007"), contract=contract)

    entries = spark.table(f"{table}_journal").select("_op", "id", "col1").distinct().collect()

    assert [tuple(row) for row in entries] == [("full_extract", None, None)]
