"""Within which scopes the absence of a key counts: those that it was in at the time of the extract.

A record is named by its day of January, the day it holds from; a run by the day of its extract.
"""

import pytest

from lakekit.contract.contract import load_contract
from lakekit.errors import TooManyDeletedError
from tests.spark.late import SCOPED, at, told, with_history
from tests.spark.people import CONTRACT
from tests.tiers import long


@pytest.mark.parametrize("together", [False, long(True)])
def test_an_untracked_scope_is_that_of_the_time_of_the_extract(load, rows, together):
    here, moved = at(5, "a", seen=1), at(12, "a", seen=2)
    for day, *records in [(12, here, moved)] if together else [(5, here), (12, moved)]:
        told(load, "changes", day, *records, promise=SCOPED)

    told(load, "full", 10, at(9, "z", seen=1) | {"id": 2}, promise=SCOPED)

    assert rows("id, name, seen") == [
        (1, "a", 1, 5, 10, False),
        (1, "a", 2, 12, None, True),
        (2, "z", 1, 9, None, True),
    ]


@pytest.mark.parametrize("deletes", ["close", long("mark")])
def test_most_of_a_scope_cannot_go_at_once_though_it_is_little_of_all(load, deletes):
    options = f"max_deleted_ratio: 0.5, delete_scope: [city], deletes: {deletes}"
    promise = load_contract(CONTRACT.replace("max_deleted_ratio: 1", options))
    here = [{"id": n, "city": "Oslo"} for n in range(4)]
    others = [{"id": 10 + n, "city": "Rome"} for n in range(20)]
    load(1, *here, *others, promise=promise)
    load(2, *here[:3], promise=promise)

    with pytest.raises(TooManyDeletedError, match="2 of 3 current keys of its scopes"):
        load(3, here[0], promise=promise)

    new = {"id": 99, "city": "Bonn"}
    assert load(4, *here[:2], promise=promise).deleted == 1
    assert load(5, new, *others[10:], promise=promise).deleted == 10


def test_two_extracts_of_one_moment_count_within_the_scopes_of_both(load, rows):
    for run, scope in (("x", 1), ("y", 2)):
        other = at(4, "z", seen=scope) | {"id": 10 + scope}
        load(10, other, extract="full", promise=SCOPED, run_id=run)

    told(load, "changes", 11, *[at(3, "a", seen=n) | {"id": n} for n in (1, 2, 3)], promise=SCOPED)

    assert rows("id, name, seen")[:3] == [
        (1, "a", 1, 3, 10, False),
        (2, "a", 2, 3, 10, False),
        (3, "a", 3, 3, None, True),
    ]


@pytest.mark.parametrize("policy", ["mode: scd1", long("late_changes: ignore")])
def test_a_key_of_a_scope_that_no_extract_held_is_not_late(load, rows, policy):
    promise = with_history(f"{policy}, delete_scope: [seen]")
    told(load, "full", 10, at(1, "a", seen=1), promise=promise)

    done = told(load, "incremental", 11, at(5, "b", id=2, seen=2), promise=promise)

    assert (done.opened, done.superseded) == (1, 0)
    assert rows("id, name") == [(1, "a", 1, None, True), (2, "b", 5, None, True)]


@pytest.mark.parametrize("deletes", ["close", long("mark")])
def test_a_key_of_one_scope_ends_once_though_late_records_say_another(load, rows, deletes):
    promise = with_history(f"late_changes: ignore, delete_scope: [seen], deletes: {deletes}")
    told(load, "changes", 6, at(5, "a", seen=1), promise=promise)
    told(load, "full", 10, at(1, "other", id=2, seen=1), promise=promise)

    done = told(load, "changes", 11, at(8, "b", seen=2), promise=promise)
    assert (done.opened, done.superseded) == (0, 1)

    told(load, "full", 20, at(8, "b", seen=2), promise=promise)
    of_one = [row[1:] for row in rows("id, name") if row[0] == 1 and row[1]]
    assert of_one == [("a", 5, 10, False), ("b", 20, None, True)]


def test_the_latest_of_a_key_that_its_scope_lost_is_not_a_record_from_before(load, rows):
    promise = with_history("mode: scd1, delete_scope: [seen]")
    told(load, "full", 6, at(2, "other", id=3, seen=1), promise=promise)
    told(load, "changes", 9, at(8, "b", seen=2), promise=promise)
    told(load, "full", 20, at(2, "other", id=2, seen=2), promise=promise)

    told(load, "changes", 21, at(7, "a", seen=1), promise=promise)
    assert [row[0] for row in rows("id, name")] == [2, 3]

    told(load, "changes", 22, at(9, "c", seen=1), promise=promise)
    assert rows("id, name")[0] == (1, "c", 9, None, True)


@pytest.mark.parametrize("policy", [long("mode: scd1"), "late_changes: quarantine"])
def test_a_key_that_an_extract_of_both_scopes_held_may_have_moved_before_it(load, rows, policy):
    promise = with_history(f"{policy}, delete_scope: [seen]")
    told(load, "full", 10, at(5, "a", seen=1), at(1, "other", id=2, seen=2), promise=promise)

    done = told(load, "changes", 11, at(8, "b", seen=2), promise=promise)

    assert (done.opened, done.superseded, done.quarantined) == (1, 0, 0)
    assert (1, "b", 8, None, True) in rows("id, name")


@pytest.mark.parametrize("policy", ["mode: scd1", long("late_changes: quarantine")])
def test_a_key_that_an_extract_of_its_new_scope_lacked_is_not_brought_there(load, rows, policy):
    promise = with_history(f"{policy}, delete_scope: [seen]")
    told(load, "changes", 6, at(5, "a", seen=1), promise=promise)
    told(load, "full", 10, at(1, "other", id=2, seen=2), promise=promise)

    done = told(load, "changes", 11, at(8, "b", seen=2), promise=promise)

    assert (done.opened, done.superseded + done.quarantined) == (0, 1)
    assert rows("id, name")[0] == (1, "a", 5, None, True)


def test_a_partial_record_that_says_no_scope_does_not_bring_its_key_back(load, rows):
    promise = with_history("mode: scd1, delete_scope: [seen], ignore_null_updates: true")
    told(load, "changes", 9, at(8, "b", seen=2), promise=promise)
    told(load, "full", 20, at(1, "other", id=2, seen=2), promise=promise)

    done = told(load, "changes", 21, at(9, "c"), promise=promise)

    assert (done.opened, done.superseded) == (0, 1)
    assert [row[0] for row in rows("id, name")] == [2]


@pytest.mark.parametrize("policy", ["late_changes: quarantine", long("mode: scd1")])
def test_a_partial_record_brings_no_key_into_a_scope_that_a_younger_extract_lacks(
    load, rows, policy
):
    promise = with_history(f"{policy}, delete_scope: [seen], ignore_null_updates: true")
    told(load, "changes", 6, at(5, "a", seen=1), promise=promise)
    told(load, "full", 10, at(1, "other", id=2, seen=2), promise=promise)

    done = told(load, "changes", 11, at(8, "b", seen=2), promise=promise)
    assert (done.opened, done.superseded + done.quarantined) == (0, 1)

    # One that says no scope stays in that of its key, of which no extract tells.
    told(load, "changes", 12, at(9, "c"), promise=promise)
    assert rows("id, name, seen")[-2:-1] == [(1, "c", 1, 9, None, True)]


def test_scopes_need_no_sequence(load, rows):
    promise = load_contract(CONTRACT.replace("keys: [id]", "keys: [id], delete_scope: [city]"))
    load(1, {"id": 1, "city": "x"}, {"id": 2, "city": "y"}, promise=promise)
    load(2, {"id": 3, "city": "x"}, promise=promise)

    assert rows("id, city") == [
        (1, "x", 1, 2, False),
        (2, "y", 1, None, True),
        (3, "x", 2, None, True),
    ]


@pytest.mark.long
def test_a_key_that_moved_is_absent_from_the_scope_that_it_was_in_then(load, rows):
    scoped = with_history("delete_scope: [seen]")
    told(load, "changes", 9, at(1, "a", seen=1), at(8, "a", seen=2), promise=scoped)
    told(load, "full", 5, at(1, "z", seen=1) | {"id": 2}, promise=scoped)

    assert rows("id, name, seen")[:2] == [(1, "a", 1, 1, 5, False), (1, "a", 2, 8, None, True)]


@pytest.mark.long
def test_a_late_move_into_the_scope_of_an_extract_that_lacks_the_key_ends_there(load, rows):
    scoped = with_history("delete_scope: [seen]")
    told(load, "changes", 9, at(1, "a", seen=2), promise=scoped)
    told(load, "full", 10, at(1, "z", seen=1) | {"id": 2}, promise=scoped)
    told(load, "changes", 11, at(3, "b", seen=1), promise=scoped)

    assert rows("id, name, seen")[:2] == [(1, "a", 2, 1, 3, False), (1, "b", 1, 3, 10, False)]


@pytest.mark.long
def test_a_partial_history_knows_the_scope_of_an_absent_key(load, rows):
    partial = with_history("delete_scope: [seen], ignore_null_updates: true")
    told(load, "changes", 4, at(1, "a", seen=1), at(2, "b"), promise=partial)
    told(load, "full", 6, at(1, "z", seen=1) | {"id": 2}, promise=partial)

    assert rows("id, name")[:2] == [(1, "a", 1, 2, False), (1, "b", 2, 6, False)]


def test_of_what_a_full_extract_brings_back_one_record_opens_though_another_is_set_aside(
    load, rows
):
    promise = with_history("late_changes: ignore, delete_scope: [seen]")
    for day, scope in [(10, 1), (15, 2)]:
        told(load, "full", day, at(1, "other", id=10 + scope, seen=scope), promise=promise)

    here = at(1, "other", id=11, seen=1), at(1, "other", id=12, seen=2)
    of_one = at(7, "a", seen=1), at(7, "b", seen=2), at(12, "c", seen=1)
    told(load, "full", 12, *here, *of_one, promise=promise)

    assert [row[1:] for row in rows("id, name") if row[0] == 1] == [("c", 12, None, True)]
