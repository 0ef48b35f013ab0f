"""What counts of several records of one key and moment; each once came out wrong.

A record is named by its day of January, the day it holds from; a run by the day of its extract.
"""

import pytest

from tests.spark.late import at, gone, told, with_history
from tests.tiers import long


@pytest.mark.long
def test_a_version_that_a_late_change_cut_keeps_the_rank_of_its_record(load, rows):
    told(load, "changes", 2, at(30, "a", seen=1))
    told(load, "changes", 3, at(2, "a", seen=2))
    told(load, "changes", 5, at(3, "b"), gone(4))
    assert rows("id, name, day(_ingested_at)")[0][:3] == (1, "a", 3)

    told(load, "changes", 4, gone(2))

    assert rows("id, name") == [(1, "b", 3, 4, False), (1, "a", 30, None, True)]


@pytest.mark.long
def test_a_record_beats_what_an_extract_of_its_moment_brought_back(load, rows):
    promise = with_history("untracked: ignore")
    told(load, "changes", 5, gone(3), promise=promise)
    told(load, "full", 4, at(1, "a", seen=1), promise=promise)
    assert rows("id, name, seen") == [(1, "a", 1, 1, 3, False), (1, "a", 1, 4, None, True)]

    told(load, "incremental", 3, at(4, "a", seen=2), promise=promise)

    assert rows("id, name, seen") == [(1, "a", 1, 1, 3, False), (1, "a", 2, 4, None, True)]


@pytest.mark.long
def test_of_records_that_differ_in_ignored_columns_the_later_extract_counts(load, rows):
    promise = with_history("untracked: ignore")
    told(load, "changes", 5, at(1, "a", seen=1), promise=promise)
    told(load, "changes", 6, at(1, "a", seen=2), promise=promise)

    assert rows("id, name, seen") == [(1, "a", 2, 1, None, True)]


def test_the_columns_of_the_tie_break_decide_between_runs_of_scd1_too(load, rows):
    promise = with_history("mode: scd1, tie_break: [seen]")
    told(
        load,
        "changes",
        5,
        at(5, "a", seen=2),
        at(5, None, op="D", seen=2) | {"id": 2},
        promise=promise,
    )
    told(load, "changes", 6, at(5, "b", seen=1), at(5, "b", seen=1) | {"id": 2}, promise=promise)
    assert rows("id, name, seen") == [(1, "a", 2, 5, None, True)]

    told(load, "changes", 4, at(5, "c", seen=3), at(5, "c", seen=3) | {"id": 2}, promise=promise)

    assert rows("id, name, seen") == [(1, "c", 3, 5, None, True), (2, "c", 3, 5, None, True)]


@pytest.mark.parametrize("apart", [long(False), True])
def test_the_columns_of_the_tie_break_decide_between_partial_records_of_scd1_too(load, rows, apart):
    promise = with_history("mode: scd1, ignore_null_updates: true, tie_break: [seen]")
    told(load, "changes", 5, *[at(5, "a", seen=1, id=n) for n in (1, 2, 3)], promise=promise)
    said = [
        [at(6, "b", seen=2, id=1), at(6, "b", seen=3, id=2), gone(6) | {"seen": 3, "id": 3}],
        [at(6, "c", seen=2, id=1), at(6, "c", seen=2, id=2), at(6, "c", seen=2, id=3)],
    ]

    for day, records in enumerate(said if apart else [said[0] + said[1]], 7):
        told(load, "changes", day, *records, promise=promise)

    assert rows("id, name, seen") == [(1, "c", 2, 6, None, True), (2, "b", 3, 6, None, True)]


def test_a_late_deletion_does_not_stand_before_a_record_of_its_moment_in_time(load, rows):
    promise = with_history("late_changes: quarantine")
    told(load, "full", 10, at(1, "a"), promise=promise)

    done = told(load, "changes", 12, at(5, "b"), gone(5), promise=promise)

    assert rows("id, name") == [(1, "a", 1, 5, False), (1, "b", 5, None, True)]
    assert (done.opened, done.superseded, done.deletes, done.quarantined) == (1, 0, 0, 1)


def test_a_late_move_does_not_stand_before_a_record_of_its_moment_in_time(load, rows):
    """Into a scope whose younger full extract does not hold the key."""
    promise = with_history("late_changes: ignore, delete_scope: [seen]")
    told(load, "changes", 2, at(1, "a", seen=1), promise=promise)
    told(load, "full", 10, at(1, "z", id=2, seen=2), promise=promise)

    moves = at(5, "b", seen=2), at(5, "c", seen=2)
    done = told(load, "changes", 12, at(5, "b", seen=1), *moves, promise=promise)

    assert rows("id, name, seen")[:2] == [(1, "a", 1, 1, 5, False), (1, "b", 1, 5, None, True)]
    assert (done.opened, done.duplicates, done.superseded) == (1, 0, 2)


@pytest.mark.parametrize("policy", ["quarantine", long("ignore")])
def test_a_record_in_time_stands_before_one_that_would_bring_its_key_back(load, rows, policy):
    promise = with_history(f"late_changes: {policy}")
    told(load, "full", 7, at(1, "z", id=2), promise=promise)

    done = told(load, "full", 10, at(3, "old"), at(9, "new"), at(1, "z", id=2), promise=promise)

    assert rows("id, name")[0] == (1, "new", 9, None, True)
    assert (done.opened, done.superseded, done.unchanged, done.quarantined) == (1, 1, 1, 0)


def test_append_tells_ties_from_duplicates(load, spark, table):
    def counted(done):
        return done.opened, done.duplicates, done.superseded, done.quarantined

    promise = with_history("mode: append")
    first = told(
        load, "incremental", 1, at(1, "a"), at(1, "b"), at(2, "c"), at(2, "c"), promise=promise
    )
    again = told(load, "incremental", 2, at(1, "b"), at(2, "d"), promise=promise)
    strict = with_history("mode: append, tie_break: quarantine")
    tied = told(
        load, "incremental", 3, at(3, "e"), at(3, "f"), at(4, "g"), at(4, "g"), promise=strict
    )

    assert (counted(first), counted(again)) == ((2, 1, 1, 0), (0, 1, 1, 0))
    assert counted(tied) == (1, 1, 0, 2)
    assert sorted(row["name"] for row in spark.table(table).collect()) == ["b", "c", "g"]
    assert spark.table(f"{table}_quarantine").count() == 2
