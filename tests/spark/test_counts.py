"""What a merge counts where late changes cut versions, renew them, or begin them earlier.

A record is named by its day of January, the day it holds from; a run by the day of its extract.
"""

from tests.spark.late import at, gone, told


def counts(done):
    return done.opened, done.closed, done.unchanged, done.restored


def test_what_had_ended_does_not_close_behind_a_full_extract(load, rows):
    told(load, "changes", 11, at(2, "a"), gone(10), at(1, "z", id=2))
    told(load, "changes", 12, gone(30) | {"id": 2})

    done = told(load, "full", 20, at(12, "c"), at(1, "z", id=2))

    assert counts(done) == (1, 0, 1, 0)
    assert rows("id, name")[:2] == [(1, "a", 2, 10, False), (1, "c", 12, None, True)]


def test_a_version_that_is_written_anew_with_an_end_closes(load, rows):
    told(load, "changes", 6, at(5, "a", seen=1))
    told(load, "changes", 9, at(8, "a", seen=2))

    done = told(load, "changes", 10, at(7, "b"))

    # One ends at seven, and so does the new one at eight.
    assert counts(done) == (1, 2, 0, 2)
    assert rows("id, name, seen") == [
        (1, "a", 1, 5, 7, False),
        (1, "b", None, 7, 8, False),
        (1, "a", 2, 8, None, True),
    ]


def test_a_record_that_begins_a_known_version_earlier_opens_it(load, rows):
    told(load, "changes", 10, at(4, "b"), at(6, "a", seen=1), at(9, "a", seen=2))

    done = told(load, "changes", 11, at(5, "a"))

    assert counts(done) == (1, 0, 0, 0)
    assert rows("id, name, seen")[1:] == [(1, "a", 2, 5, None, True)]


def test_a_record_that_renews_a_version_opens_none_beside_a_late_one(load, rows):
    told(load, "changes", 6, at(5, "a", seen=1))

    done = told(load, "changes", 10, at(3, "c"), at(9, "a", seen=2))

    assert counts(done) == (1, 1, 1, 0)
    assert rows("id, name, seen")[1:] == [(1, "a", 2, 5, None, True)]
