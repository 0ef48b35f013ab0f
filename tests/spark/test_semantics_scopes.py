"""Within which scopes the absence of a key counts: those that it was in at the time of the extract.

A record is named by its day of January, the day it holds from; a run by the day of its extract.
"""

import pytest

from lakekit.contracts import load_contract
from lakekit.errors import SchemaMismatchError, TooManyDeletedError
from lakekit.spark.tables import create_or_evolve
from tests.spark.people import CONTRACT
from tests.spark.test_semantics_late import TEXT, at, told, with_history

SCOPED = load_contract(TEXT.replace("keys: [id]", "keys: [id], delete_scope: [seen]"))


@pytest.mark.parametrize("together", [False, True])
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


def test_a_scope_is_known_by_its_new_name(load, rows, spark, table):
    text = TEXT.replace("name: seen,", "name: team, renamed_from: seen,")
    renamed = load_contract(text.replace("keys: [id]", "keys: [id], delete_scope: [team]"))
    other = at(4, "z", seen=1) | {"id": 2}
    told(load, "full", 10, other, promise=SCOPED)
    create_or_evolve(spark, renamed, table)

    told(load, "changes", 11, at(3, "a", team=1), promise=renamed)

    assert rows("id, name, team")[0] == (1, "a", 1, 3, 10, False)


def test_a_scope_that_is_renamed_twice_is_known_and_needs_no_word_of_it(load, rows, spark, table):
    told(load, "full", 10, at(4, "z", seen=1) | {"id": 2}, promise=SCOPED)
    for now, was in (("team", "seen"), ("zone", "team")):
        columns = TEXT.replace("name: seen,", f"name: {now}, renamed_from: {was},")
        history = columns.replace("keys: [id]", f"keys: [id], delete_scope: [{now}]")
        create_or_evolve(spark, load_contract(history), table)
    plain = load_contract(history.replace("renamed_from: team, ", ""))
    create_or_evolve(spark, plain, table)

    told(load, "changes", 11, at(3, "a", zone=1), promise=plain)
    told(load, "full", 12, at(5, "y", zone=2) | {"id": 3}, promise=plain)

    assert rows("id, name, zone") == [
        (1, "a", 1, 3, 10, False),
        (2, "z", 1, 4, None, True),
        (3, "y", 2, 5, None, True),
    ]


def test_a_name_of_a_scope_may_be_used_again_and_leave_its_column_again(load, rows, spark, table):
    told(load, "full", 10, at(4, "z", seen=1) | {"id": 2}, promise=SCOPED)
    scoped = TEXT.replace("keys: [id]", "keys: [id], delete_scope: [team]")
    scoped = scoped.replace("name: seen,", "name: team, renamed_from: seen,")
    for more in ("seen, type: int", "views, type: int, renamed_from: seen"):
        text = scoped.replace("  - {name: op,", f"  - {{name: {more}}}\n  - {{name: op,")
        create_or_evolve(spark, promise := load_contract(text), table)
        scoped = scoped.replace(", renamed_from: seen", "")

    told(load, "changes", 11, at(3, "a", team=1), promise=promise)

    assert rows("id, name, team")[0] == (1, "a", 1, 3, 10, False)


@pytest.mark.parametrize("deletes", ["close", "mark"])
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


def test_extracts_without_scopes_go_on_counting_everywhere(load, rows, spark, table):
    other = at(4, "z", seen=1) | {"id": 2}
    told(load, "full", 10, other)
    create_or_evolve(spark, SCOPED, table)

    told(load, "changes", 11, at(3, "a", seen=2), promise=SCOPED)

    assert rows("id, name, seen")[0] == (1, "a", 2, 3, 10, False)


def test_scopes_of_other_columns_are_refused(load, rows, spark, table):
    told(load, "full", 10, at(4, "z", seen=1), promise=SCOPED)
    changed = load_contract(TEXT.replace("keys: [id]", "keys: [id], delete_scope: [city]"))
    create_or_evolve(spark, changed, table)

    with pytest.raises(
        SchemaMismatchError, match=r"delete_scope is \['city'\], but was \['seen'\]"
    ):
        told(load, "changes", 11, at(3, "a", seen=1), promise=changed)

    assert rows("id, name") == [(1, "z", 4, None, True)]


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


@pytest.mark.parametrize("policy", ["mode: scd1", "late_changes: ignore"])
def test_a_key_of_a_scope_that_no_extract_held_is_not_late(load, rows, policy):
    promise = with_history(f"{policy}, delete_scope: [seen]")
    told(load, "full", 10, at(1, "a", seen=1), promise=promise)

    done = told(load, "incremental", 11, at(5, "b", id=2, seen=2), promise=promise)

    assert (done.opened, done.superseded) == (1, 0)
    assert rows("id, name") == [(1, "a", 1, None, True), (2, "b", 5, None, True)]


@pytest.mark.parametrize("deletes", ["close", "mark"])
def test_a_key_of_one_scope_ends_once_though_late_records_say_another(load, rows, deletes):
    promise = with_history(f"late_changes: ignore, delete_scope: [seen], deletes: {deletes}")
    told(load, "changes", 6, at(5, "a", seen=1), promise=promise)
    told(load, "full", 10, at(1, "other", id=2, seen=1), promise=promise)

    done = told(load, "changes", 11, at(8, "b", seen=2), promise=promise)
    assert (done.opened, done.superseded) == (0, 1)

    told(load, "full", 20, at(8, "b", seen=2), promise=promise)
    of_one = [row[1:] for row in rows("id, name") if row[0] == 1 and row[1]]
    assert of_one == [("a", 5, 10, False), ("b", 20, None, True)]


def test_an_extract_from_before_there_were_scopes_tells_of_all(load, rows):
    everywhere, scoped = with_history("mode: scd1"), "mode: scd1, delete_scope: [seen]"
    told(load, "full", 10, at(2, "other", id=2, seen=1), promise=everywhere)

    done = told(load, "changes", 11, at(5, "a", seen=1), promise=with_history(scoped))

    assert (done.opened, done.superseded) == (0, 1)
    assert rows("id, name") == [(2, "other", 2, None, True)]


def test_the_latest_of_a_key_that_its_scope_lost_is_not_a_record_from_before(load, rows):
    promise = with_history("mode: scd1, delete_scope: [seen]")
    told(load, "full", 6, at(2, "other", id=3, seen=1), promise=promise)
    told(load, "changes", 9, at(8, "b", seen=2), promise=promise)
    told(load, "full", 20, at(2, "other", id=2, seen=2), promise=promise)

    told(load, "changes", 21, at(7, "a", seen=1), promise=promise)
    assert [row[0] for row in rows("id, name")] == [2, 3]

    told(load, "changes", 22, at(9, "c", seen=1), promise=promise)
    assert rows("id, name")[0] == (1, "c", 9, None, True)


@pytest.mark.parametrize("policy", ["mode: scd1", "late_changes: quarantine"])
def test_a_key_that_an_extract_of_both_scopes_held_may_have_moved_before_it(load, rows, policy):
    promise = with_history(f"{policy}, delete_scope: [seen]")
    told(load, "full", 10, at(5, "a", seen=1), at(1, "other", id=2, seen=2), promise=promise)

    done = told(load, "changes", 11, at(8, "b", seen=2), promise=promise)

    assert (done.opened, done.superseded, done.quarantined) == (1, 0, 0)
    assert (1, "b", 8, None, True) in rows("id, name")


@pytest.mark.parametrize("policy", ["mode: scd1", "late_changes: quarantine"])
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


def test_scopes_need_no_sequence(load, rows):
    promise = load_contract(CONTRACT.replace("keys: [id]", "keys: [id], delete_scope: [city]"))
    load(1, {"id": 1, "city": "x"}, {"id": 2, "city": "y"}, promise=promise)
    load(2, {"id": 3, "city": "x"}, promise=promise)

    assert rows("id, city") == [
        (1, "x", 1, 2, False),
        (2, "y", 1, None, True),
        (3, "x", 2, None, True),
    ]
