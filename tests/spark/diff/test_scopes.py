"""The absence of a key counts within the scopes that it was in at the time of the extract.

Days are of January: the day from which a record holds, and the day of a run's extract.
"""

import pytest

from lakekit.errors import TooManyDeletedError
from tests.spark.support.late import SCOPE, SCOPED, at, cdc, load_as
from tests.spark.support.people import people
from tests.tiers import long


@pytest.mark.long
@pytest.mark.parametrize("together", [False, long(True)])
def test_an_untracked_scope_is_that_of_the_time_of_the_extract(load, assert_rows, together):
    here, moved = at(5, "a", seen=1), at(12, "a", seen=2)
    for day, *records in [(12, here, moved)] if together else [(5, here), (12, moved)]:
        load_as(load, "changes", day, *records, contract=SCOPED)

    load_as(load, "full", 10, at(9, "z", seen=1) | {"id": 2}, contract=SCOPED)

    assert_rows(
        (1, "a", 1, 5, 10, False),
        (1, "a", 2, 12, None, True),
        (2, "z", 1, 9, None, True),
        columns="id, name, seen",
    )


@pytest.mark.parametrize("deletes", ["close", long("mark")])
def test_most_of_a_scope_cannot_go_at_once_though_it_is_little_of_all(load, deletes):
    contract = people(max_deleted_ratio=0.5, delete_scope=["city"], deletes=deletes)
    here = [{"id": n, "city": "Oslo"} for n in range(4)]
    others = [{"id": 10 + n, "city": "Rome"} for n in range(20)]
    load(1, *here, *others, contract=contract)
    load(2, *here[:3], contract=contract)

    with pytest.raises(TooManyDeletedError, match="2 of 3 current keys of its scopes"):
        load(3, here[0], contract=contract)

    new = {"id": 99, "city": "Bonn"}
    assert load(4, *here[:2], contract=contract).deleted == 1
    assert load(5, new, *others[10:], contract=contract).deleted == 10


def test_two_extracts_of_one_time_count_within_the_scopes_of_both(load, rows):
    for run, scope in (("x", 1), ("y", 2)):
        other = at(4, "z", seen=scope) | {"id": 10 + scope}
        load(10, other, extract="full", contract=SCOPED, run_id=run)

    load_as(
        load, "changes", 11, *[at(3, "a", seen=n) | {"id": n} for n in (1, 2, 3)], contract=SCOPED
    )

    assert rows("id, name, seen")[:3] == [
        (1, "a", 1, 3, 10, False),
        (2, "a", 2, 3, 10, False),
        (3, "a", 3, 3, None, True),
    ]


def test_scopes_need_no_sequence(load, assert_rows):
    contract = people(delete_scope=["city"])
    load(1, {"id": 1, "city": "x"}, {"id": 2, "city": "y"}, contract=contract)
    load(2, {"id": 3, "city": "x"}, contract=contract)

    assert_rows(
        (1, "x", 1, 2, False),
        (2, "y", 1, None, True),
        (3, "x", 2, None, True),
        columns="id, city",
    )


@pytest.mark.long
def test_a_key_that_moved_is_absent_from_the_scope_that_it_was_in_then(load, rows):
    scoped = cdc(**SCOPE)
    load_as(load, "changes", 9, at(1, "a", seen=1), at(8, "a", seen=2), contract=scoped)
    load_as(load, "full", 5, at(1, "z", seen=1) | {"id": 2}, contract=scoped)

    assert rows("id, name, seen")[:2] == [(1, "a", 1, 1, 5, False), (1, "a", 2, 8, None, True)]


@pytest.mark.long
def test_a_late_move_into_the_scope_of_an_extract_that_lacks_the_key_ends_there(load, rows):
    scoped = cdc(**SCOPE)
    load_as(load, "changes", 9, at(1, "a", seen=2), contract=scoped)
    load_as(load, "full", 10, at(1, "z", seen=1) | {"id": 2}, contract=scoped)
    load_as(load, "changes", 11, at(3, "b", seen=1), contract=scoped)

    assert rows("id, name, seen")[:2] == [(1, "a", 2, 1, 3, False), (1, "b", 1, 3, 10, False)]
