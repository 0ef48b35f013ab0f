"""The counts of a merge whose late changes cut versions, renew them, or begin them earlier.

Days are of January: the day from which a record holds, and the day of a run's extract.
"""

import pytest

from tests.spark.support.late import at, cdc, deletion, load_as
from tests.spark.support.people import people
from tests.tiers import long

OPTIONS = [
    {},
    {"deletes": "mark"},
    {"late_changes": "quarantine"},
    {"mode": "scd1"},
    {"mode": "scd1", "late_changes": "quarantine"},
    {"ignore_null_updates": True},
]


@pytest.mark.parametrize("options", [OPTIONS[0], *map(long, OPTIONS[1:])])
def test_what_is_delivered_again_opens_and_closes_nothing(load, options):
    contract = cdc(**options)
    first = [at(1, "z", id=3), at(2, "a"), at(2, "b", id=2), deletion(8)]

    done = load_as(load, "changes", 9, *first, contract=contract)
    again = load_as(load, "changes", 10, *first, deletion(8), contract=contract)

    latest = options.get("mode") == "scd1"
    assert (done.closed, done.deleted) == ((0, 0) if latest else (1, 1))
    assert (again.opened, again.closed, again.deleted, again.restored) == (0, 0, 0, 0)
    assert (again.deletes, again.committed) == (1, False)


@pytest.mark.long
@pytest.mark.parametrize("options", [{}, {"deletes": "mark"}])
def test_a_late_record_before_a_deletion_is_a_version_that_it_ends(load, options):
    contract = cdc(**options)
    load_as(load, "changes", 9, at(2, "a"), deletion(8), contract=contract)

    done = load_as(load, "changes", 10, at(5, "b"), deletion(8), contract=contract)

    assert (done.opened, done.closed, done.deleted, done.deletes) == (1, 1, 1, 1)


@pytest.mark.long
def test_a_key_that_an_extract_lacks_is_counted_where_its_version_ends(load):
    load_as(load, "full", 2, at(1, "a"), at(1, "z", id=2))

    ended = load_as(load, "full", 4, at(1, "z", id=2))
    again = load_as(load, "full", 5, at(1, "z", id=2))
    earlier = load_as(load, "full", 3, at(1, "z", id=2))

    assert (ended.closed, ended.deleted) == (1, 1)
    assert (again.closed, again.deleted) == (earlier.closed, earlier.deleted) == (0, 0)


@pytest.mark.long
def test_scd1_counts_a_deletion_only_of_a_row_that_it_had(load):
    contract = people(mode="scd1", sequence_by="at", apply_as_deletes="name = 'x'")
    load_as(load, "changes", 2, at(1, "a"), at(1, "b", id=2), contract=contract)

    done = load_as(load, "changes", 5, at(3, "x"), at(3, "x", id=9), contract=contract)

    assert (done.closed, done.deleted, done.deletes) == (1, 1, 2)


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
