"""The options of a contract, one by one, against hand-computed tables."""

from dataclasses import replace

import pytest

from tests.model.admission import accepted, admit, history
from tests.model.stories import CDC, PLAIN, SEQ, changes, dele, full, incremental, rec, spans
from tests.model.terms import BAD, Options, comparable

MARK = replace(CDC, deletes="mark")
PARTIAL = replace(CDC, ignore_null_updates=True)
UPSERT = replace(CDC, mode="scd1")


def marked(rows):
    return [(r["v"], r["_valid_from"], r["_valid_to"], r["_is_deleted"]) for r in rows]


def test_mark_opens_a_version_that_says_deleted_until_the_key_is_back():
    runs = [changes(30, rec(5, "A"), dele(8)), changes(31, rec(12, "A"))]
    expected = [("A", 5, 8, False), ("A", 8, None, True)]
    assert marked(history(runs[:1], MARK)) == expected
    assert history(runs[:1], MARK)[1]["k"] == 1
    back = [("A", 5, 8, False), ("A", 8, 12, True), ("A", 12, None, False)]
    assert marked(history(runs, MARK)) == back


def test_mark_opens_nothing_for_a_key_that_is_not_current():
    assert history([changes(30, dele(8))], MARK) == []
    twice = [changes(30, rec(5, "A"), dele(8), dele(9))]
    assert marked(history(twice, MARK)) == [("A", 5, 8, False), ("A", 8, None, True)]


def test_a_mark_keeps_what_its_version_held_when_it_ended():
    untracked = replace(MARK, tracked=("v",))
    runs = [changes(30, rec(5, "A", w=1), rec(7, "A", w=2), dele(9)), changes(31, rec(6, "B", w=3))]
    shown = [(r["v"], r["w"], r["_is_deleted"]) for r in history(runs[:1], untracked)]
    assert shown == [("A", 2, False), ("A", 2, True)]
    late = [*runs, changes(32, rec(8, "C", w=4))]
    shown = [(r["v"], r["w"], r["_is_deleted"]) for r in history(late, untracked)][-2:]
    assert shown == [("C", 4, False), ("C", 4, True)]


def test_a_version_of_nulls_is_not_a_deleted_one():
    runs = [changes(30, rec(5, None), dele(8), rec(9, None))]
    assert marked(history(runs, MARK)) == [
        (None, 5, 8, False),
        (None, 8, 9, True),
        (None, 9, None, False),
    ]


def test_absence_counts_only_within_the_scopes_of_the_extract():
    scoped = replace(PLAIN, delete_scope=("r",))
    start = full(10, *({"k": k, "v": "A", "r": r} for k, r in enumerate("xxyy")))
    rows = history([start, full(20, {"k": 0, "v": "A", "r": "x"})], scoped)
    assert [(row["k"], row["_valid_to"]) for row in rows] == [
        (0, None),
        (1, 20),
        (2, None),
        (3, None),
    ]
    assert all(row["_is_current"] for row in history([start, full(20)], scoped))


def test_the_scope_of_a_key_is_that_of_its_last_record():
    scoped = replace(PLAIN, delete_scope=("r",))
    runs = [full(10, {"k": 1, "r": "x"}), incremental(20, {"k": 1, "r": "y"})]
    assert history([*runs, full(30, {"k": 2, "r": "x"})], scoped)[1]["_valid_to"] is None
    assert history([*runs, full(30, {"k": 2, "r": "y"})], scoped)[1]["_valid_to"] == 30


def test_a_null_in_a_partial_record_means_as_before():
    runs = [changes(30, rec(5, "A", w=1)), changes(31, rec(9, None, w=2), rec(10, None, w=None))]
    rows = history(runs, PARTIAL)
    assert [(r["v"], r["w"], r["_valid_from"]) for r in rows] == [("A", 1, 5), ("A", 2, 9)]
    late = history([*runs, changes(32, rec(7, "B", w=None))], PARTIAL)
    assert [(r["v"], r["w"], r["_valid_from"]) for r in late] == [
        ("A", 1, 5),
        ("B", 1, 7),
        ("B", 2, 9),
    ]


def test_nothing_is_carried_over_a_delete():
    runs = [changes(30, rec(5, "A"), dele(8), rec(9, None))]
    assert spans(history(runs, PARTIAL)) == [("A", 5, 8), (None, 9, None)]


@pytest.mark.parametrize("by", ["s", None])
def test_records_of_incremental_extracts_are_partial_too_and_a_full_one_is_refused(by):
    partial = replace(PARTIAL, sequence_by=by)
    runs = [incremental(30, rec(30, "A", w=1)), incremental(31, rec(31, None, w=2))]
    shown = [(r["v"], r["w"]) for r in history([*runs, full(32, rec(32, None))], partial)]
    assert shown == [("A", 1), ("A", 2)]


def test_tie_break_columns_decide_before_the_position_and_null_is_smallest():
    by_number = replace(SEQ, tie_break=("n", "file_position"))
    records = [rec(5, "B", n=2), rec(5, "A", n=1), rec(5, "C", n=None)]
    assert spans(history([incremental(30, *records)], by_number)) == [("B", 5, None)]
    runs = [incremental(30 + i, r) for i, r in enumerate(records)]
    assert comparable(history(runs, by_number)) == comparable(history(runs[::-1], by_number))
    last = [incremental(30, rec(5, "A", n=1), rec(5, "B", n=1))]
    assert spans(history(last, by_number)) == [("B", 5, None)]


def test_a_quarantined_record_spares_its_key_from_absence():
    for record in (rec(None, "A"), rec(6, BAD)):
        run = full(20, record)
        assert spans(history([incremental(10, rec(5, "A")), run], SEQ)) == [("A", 5, None)]
        assert admit(run, [], SEQ)[1] == 1
    runs = [full(10, rec(5, "A")), full(20), full(30, rec(None, "A"))]
    assert spans(history(runs, SEQ)) == [("A", 5, 20)]


def test_late_records_are_quarantined_or_dropped():
    runs = [changes(30, rec(5, "A"), rec(10, "B")), changes(31, rec(7, "C"), rec(10, "B"), dele(9))]
    for policy, rejected in (("quarantine", 2), ("ignore", 0)):
        options = replace(CDC, late_changes=policy)
        assert spans(history(runs, options)) == [("A", 5, 10), ("B", 10, None)]
        assert admit(runs[1], runs[:1], options)[1] == rejected
        conflict = [*runs[:1], changes(31, rec(10, "Z"), rec(11, "D"))]
        assert spans(history(conflict, options))[1:] == [("B", 10, 11), ("D", 11, None)]


def test_what_is_not_after_a_known_deletion_is_late():
    strict = replace(CDC, late_changes="quarantine")
    deleted = [changes(30, rec(5, "A"), dele(8))]
    assert spans(history([*deleted, changes(31, rec(8, "B"))], strict)) == [("A", 5, 8)]
    assert spans(history([*deleted, changes(31, rec(9, "B"))], strict))[1:] == [("B", 9, None)]
    tombstone = [changes(30, dele(8)), changes(31, rec(5, "A"))]
    assert history(tombstone, strict) == []


def test_an_unchanged_full_extract_is_not_late():
    strict = replace(SEQ, late_changes="quarantine")
    runs = [full(10, rec(5, "A")), full(20, rec(5, "A"))]
    assert admit(runs[1], runs[:1], strict)[1] == 0
    assert spans(history(runs, strict)) == [("A", 5, None)]


def test_a_full_extract_brings_back_at_its_time_what_is_not_there():
    strict = replace(CDC, late_changes="quarantine")
    runs = [full(10, rec(1, "Z", k=2)), full(20, rec(5, "A"), rec(3, "B")), full(30, rec(5, "A"))]
    assert spans(history(runs, strict)) == [("A", 20, None)]
    assert [admit(run, accepted(runs[:1], strict), strict)[1] for run in runs] == [0, 0, 0]
    assert spans(history([*runs, changes(31, rec(20, "C"))], strict)) == [("A", 20, None)]


def test_what_a_full_extract_shows_makes_older_changes_late():
    strict = replace(CDC, late_changes="quarantine")
    known = accepted([full(10, rec(1, "Z", k=2))], strict)
    records = [rec(9, "A"), rec(10, "A"), dele(10), dele(9, k=2), rec(11, "A"), dele(10, k=2)]
    late = [admit(changes(11, record), known, strict)[1] for record in records]
    assert late == [1, 1, 0, 1, 0, 0]


def test_null_keys_may_stop_a_run():
    runs = [incremental(10, rec(5, "A")), incremental(20, rec(6, "B"), rec(7, "C", k=None))]
    assert spans(history(runs, SEQ)) == [("A", 5, 6), ("B", 6, None)]
    assert spans(history(runs, replace(SEQ, null_keys="fail"))) == [("A", 5, None)]


def test_columns_may_be_left_out_of_the_tracked():
    records = [rec(5, "A", seen=1), rec(9, "A", seen=2)]
    (row,) = history([incremental(30, *records)], replace(SEQ, tracked_except=("seen",)))
    assert (row["seen"], row["_valid_from"]) == (2, 5)


@pytest.mark.parametrize("turn", [1, -1])
def test_scd1_holds_the_latest_record_of_each_key_that_is_current(turn):
    runs = [changes(30, rec(5, "A"), rec(9, "B", k=2)), changes(31, rec(8, "A"), dele(10, 2))][
        ::turn
    ]
    assert spans(history(runs, UPSERT)) == [("A", 8, None)]
    assert history(runs, UPSERT)[0]["_is_current"]


def test_scd1_without_a_sequence_keeps_the_time_of_the_last_change():
    upsert = replace(PLAIN, mode="scd1")
    a, b = {"k": 1, "v": "A"}, {"k": 1, "v": "B"}
    runs = [full(10, a), full(20, a), full(30, b), full(40), full(50, b)]
    found = [spans(history(runs[:end], upsert)) for end in range(1, 6)]
    assert found == [[("A", 10, None)]] * 2 + [[("B", 30, None)], [], [("B", 50, None)]]


def test_append_inserts_what_is_new_by_key_and_sequence():
    add = replace(SEQ, mode="append")
    runs = [incremental(30, rec(5, "A"), rec(5, "B")), incremental(31, rec(5, "C"), rec(6, "D"))]
    assert [(r["v"], r["s"]) for r in history(runs, add)] == [("B", 5), ("D", 6)]
    assert comparable(history([*runs, *runs], add)) == comparable(history(runs, add))


def test_append_without_a_sequence_keeps_the_first_and_without_keys_all():
    a, b = incremental(30, {"v": "A", "k": 1}), incremental(31, {"v": "B", "k": 1})
    assert history([a, b], replace(PLAIN, mode="append")) == [{"k": 1, "v": "A"}]
    every = history([a, b, a], Options(keys=(), mode="append"))
    assert [row["v"] for row in every] == ["A", "B"]
    assert len(accepted([a, b, a], Options(keys=(), mode="append"))) == 2
