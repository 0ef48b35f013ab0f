"""The model against hand-computed tables."""

from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal

import pytest

from tests.model.admission import accepted, history
from tests.model.stories import (
    CDC,
    NAN,
    PLAIN,
    SEQ,
    changes,
    dele,
    full,
    incremental,
    rec,
    spans,
)
from tests.model.terms import Options, comparable

# The examples of the specification and what follows from its sentences, computed by hand.


def test_late_record_splits_its_interval_and_a_reasserted_value_is_remembered():
    known = [incremental(30, rec(5, "A")), incremental(31, rec(15, "A"), rec(20, "C"))]
    assert spans(history(known, SEQ)) == [("A", 5, 20), ("C", 20, None)]
    late = [*known, incremental(32, rec(12, "B"))]
    assert spans(history(late, SEQ)) == [
        ("A", 5, 12),
        ("B", 12, 15),
        ("A", 15, 20),
        ("C", 20, None),
    ]


def test_late_delete_closes_its_interval_until_the_next_assertion():
    runs = [changes(30, rec(5, "A"), rec(15, "A"), rec(20, "C")), changes(31, dele(12))]
    assert spans(history(runs, CDC)) == [("A", 5, 12), ("A", 15, 20), ("C", 20, None)]


def test_late_record_before_the_first_and_after_the_last_delete():
    runs = [
        changes(30, rec(10, "B"), dele(20)),
        changes(31, rec(5, "A")),
        changes(32, rec(25, "C")),
    ]
    assert spans(history(runs, CDC)) == [("A", 5, 10), ("B", 10, 20), ("C", 25, None)]


def test_late_record_equal_to_its_successor_moves_the_start():
    runs = [incremental(30, rec(10, "A")), incremental(31, rec(5, "A"))]
    assert spans(history(runs, SEQ)) == [("A", 5, None)]


@pytest.mark.parametrize("cut", [1, 2])
def test_delete_before_its_insert_holds(cut):
    records = [dele(8), rec(5, "A")]
    runs = (
        [changes(30, *records)] if cut == 1 else [changes(30 + i, r) for i, r in enumerate(records)]
    )
    assert spans(history(runs, CDC)) == [("A", 5, 8)]
    assert history([changes(30, dele(8))], CDC) == []


def test_only_deletes_and_repeated_deletes():
    runs = [changes(30, dele(3), rec(5, "A"), dele(8)), changes(31, dele(9), dele(12))]
    assert spans(history(runs, CDC)) == [("A", 5, 8)]
    assert spans(history([*runs, changes(32, dele(6))], CDC)) == [("A", 5, 6)]


def test_reappearing_key_opens_after_a_gap_and_equal_content_opens_one():
    runs = [changes(30, rec(5, "A")), changes(31, dele(8)), changes(32, rec(10, "A"))]
    assert spans(history(runs, CDC)) == [("A", 5, 8), ("A", 10, None)]


def test_duplicates_and_several_versions_in_one_run_out_of_order():
    run = incremental(30, rec(9, "C"), rec(5, "A"), rec(9, "C"), rec(7, "B"), rec(8, "B"))
    expected = [("A", 5, 7), ("B", 7, 9), ("C", 9, None)]
    assert spans(history([run], SEQ)) == expected
    assert comparable(history([run, run], SEQ)) == comparable(history([run], SEQ))


def test_same_sequence_the_last_in_the_file_and_the_later_run_decide():
    assert spans(history([incremental(30, rec(5, "A"), rec(5, "B"))], SEQ)) == [("B", 5, None)]
    later, earlier = incremental(31, rec(5, "B")), incremental(30, rec(5, "A"))
    assert spans(history([later, earlier], SEQ)) == [("B", 5, None)]
    at_once = [changes(30, rec(5, "A"), rec(9, "A"), dele(9))]
    assert spans(history(at_once, CDC)) == [("A", 5, 9)]
    back = [changes(30, rec(5, "A"), dele(9), rec(9, "A"))]
    assert spans(history(back, CDC)) == [("A", 5, None)]


def test_without_sequence_the_extraction_time_counts_and_the_last_in_the_file_wins():
    r = {"k": 1, "v": "A"}
    runs = [full(10, {"k": 1, "v": "Z"}, r), full(20, r), full(30, {"k": 1, "v": "B"})]
    assert spans(history(runs, PLAIN)) == [("A", 10, 30), ("B", 30, None)]


def test_without_sequence_a_run_older_than_a_merged_one_changes_nothing():
    a, b = {"k": 1, "v": "A"}, {"k": 1, "v": "B"}
    assert spans(history([full(20, a), full(10, b)], PLAIN)) == [("A", 20, None)]
    assert spans(history([full(20, a), full(10, b), full(30, b)], PLAIN))[1:] == [("B", 30, None)]


def test_absence_deletes_only_in_full_extracts():
    a, b = {"k": 1, "v": "A"}, {"k": 2, "v": "B"}
    start = full(10, a, b)
    assert spans(history([start, full(20, b)], PLAIN)) == [("A", 10, 20)]
    assert spans(history([start, full(20, b)], PLAIN), 2) == [("B", 10, None)]
    assert spans(history([start, incremental(20, b)], PLAIN)) == [("A", 10, None)]
    assert spans(history([start, changes(20, b)], PLAIN)) == [("A", 10, None)]
    again = [start, full(20, b), full(30, a, b)]
    assert spans(history(again, PLAIN)) == [("A", 10, 20), ("A", 30, None)]


def test_full_extracts_with_a_sequence_close_and_reopen_at_their_extraction_time():
    runs = [full(10, rec(3, "A")), full(20), full(30, rec(3, "A"))]
    assert spans(history(runs[:1], SEQ)) == [("A", 3, None)]
    assert spans(history(runs[:2], SEQ)) == [("A", 3, 20)]
    assert spans(history(runs, SEQ)) == [("A", 3, 20), ("A", 30, None)]
    assert comparable(history([runs[2], runs[0], runs[1]], SEQ)) == comparable(history(runs, SEQ))
    newer = [*runs[:2], full(30, rec(25, "B"))]
    assert spans(history(newer, SEQ)) == [("A", 3, 20), ("B", 25, None)]
    late = [*runs, incremental(40, rec(15, "B"))]
    assert spans(history(late, SEQ)) == [("A", 3, 15), ("B", 15, 20), ("A", 30, None)]


def test_a_record_ahead_of_the_extraction_time_outlives_an_absence():
    runs = [incremental(10, rec(50, "A")), full(20)]
    assert spans(history(runs, SEQ)) == [("A", 50, None)]
    assert spans(history([incremental(10, rec(20, "A")), full(20)], SEQ)) == [("A", 20, None)]


def test_presence_in_a_full_extract():
    ahead = [full(20, rec(50, "A"))]
    assert spans(history(ahead, SEQ)) == [("A", 50, None)]
    alive = [incremental(9, rec(8, "B")), full(10, rec(5, "A"))]
    assert spans(history(alive, SEQ)) == [("A", 5, 8), ("B", 8, None)]
    latest = [full(10, rec(5, "A")), full(20), full(30, rec(6, "B"), rec(5, "A"))]
    assert spans(history(latest, SEQ)) == [("A", 5, 6), ("B", 6, 20), ("B", 30, None)]
    at_once = [full(20, rec(3, "A")), full(20)]
    assert spans(history(at_once, SEQ)) == [("A", 3, None)]


def test_deletes_ignore_drops_absence_and_delete_records():
    ignoring = Options(
        keys=("k",), sequence_by="s", deletes="ignore", apply_as_deletes=CDC.apply_as_deletes
    )
    runs = [changes(10, rec(5, "A")), changes(11, dele(7)), full(20)]
    assert spans(history(runs, ignoring)) == [("A", 5, None)]
    assert spans(history(runs, CDC)) == [("A", 5, 7)]


def test_the_delete_predicate_counts_only_in_change_extracts_and_null_is_false():
    null = Options(keys=("k",), sequence_by="s", apply_as_deletes=lambda r: None)
    assert spans(history([changes(10, rec(5, "A"))], null)) == [("A", 5, None)]
    runs = [incremental(10, rec(5, "A", op="D"))]
    assert spans(history(runs, CDC)) == [("A", 5, None)]
    assert "op" not in history(runs, CDC)[0]


def test_the_ratio_guard_stops_the_run_and_nothing_of_it_counts():
    guarded = Options(keys=("k",), max_deleted_ratio=0.2)
    five = [{"k": k, "v": "A"} for k in range(5)]
    start = full(10, *five)

    def times(*runs):
        return [run.time for run in accepted(runs, guarded)]

    assert times(start, full(20, *five[1:])) == [10, 20]
    too_many = full(20, {"k": 4, "v": "B"}, *five[2:4])
    assert history([start, too_many], guarded) == history([start], guarded)
    assert times(start, full(20)) == [10]
    assert times(full(5), start) == [5, 10]
    assert all(not row["_is_current"] for row in history([start, full(20)], PLAIN))
    stopped_then_fine = [start, full(20), full(30, *five)]
    assert [r["_valid_from"] for r in history(stopped_then_fine, guarded)] == [10] * 5


def test_untracked_changes_overwrite_in_place_or_are_ignored():
    records = [rec(5, "A", seen=1), rec(9, "A", seen=2)]
    over = Options(keys=("k",), sequence_by="s", tracked=("v",))
    ignore = Options(keys=("k",), sequence_by="s", tracked=("v",), untracked="ignore")
    for options, seen in ((over, 2), (ignore, 1)):
        (row,) = history([incremental(30, *records[::-1])], options)
        assert (row["seen"], row["_valid_from"], row["_valid_to"]) == (seen, 5, None)
    assert len(history([incremental(30, *records)], SEQ)) == 2


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (None, None),
        (NAN, float("nan")),
        (-0.0, 0.0),
        (Decimal("1.0"), Decimal("1.00")),
        ({"a": 1, "b": [NAN, None]}, {"b": [float("nan"), None], "a": 1}),
        (
            datetime(2024, 1, 1, tzinfo=UTC),
            datetime(2024, 1, 1, 2, tzinfo=timezone(timedelta(hours=2))),
        ),
    ],
)
def test_equal_values_open_no_version(one, other):
    assert [s[1:] for s in spans(history([incremental(9, rec(1, one), rec(2, other))], SEQ))] == [
        (1, None)
    ]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (None, ""),
        (None, 0),
        (None, NAN),
        (NAN, 0.0),
        (True, 1),
        ("a", "A"),
        ("a", "a "),
        ("\u00e9", "e\u0301"),
        ([1, 2], [2, 1]),
        ([], None),
        ({"a": None}, {}),
        ("1", 1),
        (b"a", "a"),
    ],
)
def test_different_values_open_one_both_ways(one, other):
    for a, b in ((one, other), (other, one)):
        rows = history([incremental(9, rec(1, a), rec(2, b))], SEQ)
        assert [s[1:] for s in spans(rows)] == [(1, 2), (2, None)]


def test_composite_keys_null_keys_null_sequences_and_missing_columns():
    two = Options(keys=("r", "k"), sequence_by="s")
    rows = history(
        [
            incremental(9, rec(1, "A", r="x"), rec(2, "B", r="y"), rec(3, "C", r=None)),
            incremental(10, rec(None, "D", r="x"), {"r": "x", "k": 1, "s": 4}),
        ],
        two,
    )
    found = [(r["r"], r["v"], r["_valid_from"], r["_valid_to"]) for r in rows]
    assert found == [("x", "A", 1, 4), ("x", None, 4, None), ("y", "B", 2, None)]
    assert len(history([incremental(9, rec(1, "A", k=-0.0), rec(2, "A", k=0.0))], SEQ)) == 1
    kept = [full(9, rec(1, "A")), full(10, rec(None, "A"))]
    assert spans(history(kept, SEQ)) == [("A", 1, None)]


def test_microseconds_and_the_first_and_last_year():
    first, last = datetime(1, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, 23, 59, 59, 999999, UTC)
    step = timedelta(microseconds=1)
    run = incremental(9, rec(last, "C"), rec(first + step, "B"), rec(first, "A"))
    expected = [("A", first, first + step), ("B", first + step, last), ("C", last, None)]
    assert spans(history([run], SEQ)) == expected
