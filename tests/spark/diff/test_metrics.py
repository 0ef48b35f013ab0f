"""The counts of a merge whose late changes cut versions, renew them, or begin them earlier.

Days are of January: the day from which a record holds, and the day of a run's extract.
"""

import pytest

from tests.spark.support.late import at, deletion, load_as


def counts(done):
    return done.opened, done.closed, done.unchanged, done.restored


@pytest.mark.long
def test_what_had_ended_does_not_close_behind_a_full_extract(load, rows):
    load_as(load, "changes", 11, at(2, "a"), deletion(10), at(1, "z", id=2))
    load_as(load, "changes", 12, deletion(30) | {"id": 2})

    done = load_as(load, "full", 20, at(12, "c"), at(1, "z", id=2))

    assert counts(done) == (1, 0, 1, 0)
    assert rows("id, name")[:2] == [(1, "a", 2, 10, False), (1, "c", 12, None, True)]


@pytest.mark.long
def test_a_version_that_is_rewritten_with_an_end_closes(load, assert_rows):
    load_as(load, "changes", 6, at(5, "a", seen=1))
    load_as(load, "changes", 9, at(8, "a", seen=2))

    done = load_as(load, "changes", 10, at(7, "b"))

    # One ends at seven, and so does the new one at eight.
    assert counts(done) == (1, 2, 0, 2)
    assert_rows(
        (1, "a", 1, 5, 7, False),
        (1, "b", None, 7, 8, False),
        (1, "a", 2, 8, None, True),
        columns="id, name, seen",
    )


@pytest.mark.long
def test_a_record_that_begins_a_known_version_earlier_opens_it(load, rows):
    load_as(load, "changes", 10, at(4, "b"), at(6, "a", seen=1), at(9, "a", seen=2))

    done = load_as(load, "changes", 11, at(5, "a"))

    assert counts(done) == (1, 0, 0, 0)
    assert rows("id, name, seen")[1:] == [(1, "a", 2, 5, None, True)]


def test_a_record_that_renews_a_version_opens_none_next_to_a_late_one(load, rows):
    load_as(load, "changes", 6, at(5, "a", seen=1))

    done = load_as(load, "changes", 10, at(3, "c"), at(9, "a", seen=2))

    assert counts(done) == (1, 1, 1, 0)
    assert rows("id, name, seen")[1:] == [(1, "a", 2, 5, None, True)]
