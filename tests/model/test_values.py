"""The model against hand-computed tables: which values are equal, and any keys and times."""

from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal

import pytest

from tests.model.admission import history
from tests.model.stories import NAN, SEQ, full, incremental, rec, spans
from tests.model.terms import Options


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
