"""The model against properties that need no second model."""

import random
from dataclasses import replace
from decimal import Decimal
from itertools import pairwise
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.model.admission import history
from tests.model.stories import CDC, NAN, changes
from tests.model.terms import Options, Record, Row, Run, canon, comparable

VALUES = st.one_of(
    st.sampled_from([None, "", "A", "B", NAN, 0.0, -0.0, "\u00e9", "e\u0301"]),
    st.sampled_from([Decimal("1.0"), Decimal("1.00"), True, (1, None), {"a": NAN}]),
)
RECORDS = st.builds(
    lambda k, s, v, w, op: {"k": k, "s": s, "v": v, "w": w, "op": op},
    st.integers(0, 2),
    st.integers(0, 9),
    VALUES,
    st.sampled_from([None, 1]),
    st.sampled_from(["U", "U", "U", "D", None]),
)
CUTS = st.randoms(use_true_random=False)
LONG = settings(max_examples=300, deadline=None, database=None)
MODES = st.sampled_from(
    [
        CDC,
        Options(("k",), "s", tracked=("v",), apply_as_deletes=CDC.apply_as_deletes),
        Options(("k",), "s", "ignore", CDC.apply_as_deletes, ("v",), untracked="ignore"),
        replace(CDC, deletes="mark"),
        replace(CDC, ignore_null_updates=True),
        replace(CDC, ignore_null_updates=True, deletes="mark", tracked_except=("w",)),
        replace(CDC, mode="scd1"),
        replace(CDC, delete_scope=("w",)),
    ]
)
EXACT = st.sampled_from([CDC, replace(CDC, deletes="mark", delete_scope=("w",))])


def cut(records: list[Record], rng: random.Random, kind: Any, time: int = 100) -> list[Run]:
    """Cut into runs in this order, empty runs too."""
    bounds = sorted(rng.randint(0, len(records)) for _ in range(rng.randint(0, 4)))
    edges = [0, *bounds, len(records)]
    return [Run(kind, time + i, tuple(records[a:b])) for i, (a, b) in enumerate(pairwise(edges))]


def untied(records: list[Record]) -> list[Record]:
    """Keep one content for each key and sequence, yet as many duplicates of it."""
    first: dict[Any, Record] = {}
    return [first.setdefault((r["k"], r["s"]), r) for r in records]


def assert_sound(rows: list[Row], options: Options) -> None:
    tracked = (*(options.tracked or ("v", "w")), "_is_deleted")
    for k in {row["k"] for row in rows}:
        mine = sorted((r for r in rows if r["k"] == k), key=lambda r: r["_valid_from"])
        assert sum(r["_is_current"] for r in mine) <= 1
        for row in mine:
            assert row["_is_current"] == (row["_valid_to"] is None)
            assert row["_is_current"] or row["_valid_from"] < row["_valid_to"]
        for one, other in pairwise(mine):
            assert one["_valid_to"] is not None
            assert one["_valid_to"] <= other["_valid_from"]
            if one["_valid_to"] == other["_valid_from"]:
                contents = [[canon(r.get(c)) for c in tracked] for r in (one, other)]
                assert contents[0] != contents[1]


@LONG
@given(st.lists(RECORDS, max_size=30), CUTS, st.sampled_from(["incremental", "changes"]), MODES)
def test_order_and_cutting_into_runs_do_not_matter(records, rng, kind, options):
    records = untied(records)
    expected = comparable(history([Run(kind, 100, tuple(records))], options))
    shuffled = rng.sample(records + records[:3], len(records + records[:3]))
    runs = cut(shuffled, rng, kind)
    assert comparable(history(runs, options)) == expected
    assert comparable(history(rng.sample(runs, len(runs)), options)) == expected


@LONG
@given(st.lists(RECORDS, max_size=30), CUTS, MODES)
def test_cutting_keeps_ties_too_and_replay_changes_nothing(records, rng, options):
    expected = comparable(history([changes(100, *records)], options))
    runs = cut(records, rng, "changes")
    assert comparable(history(runs, options)) == expected
    again = rng.sample(runs + runs, 2 * len(runs))
    assert comparable(history(again, options)) == expected


@st.composite
def mixed_runs(draw: st.DrawFn) -> list[Run]:
    times = draw(st.permutations(range(7)))
    kinds = st.sampled_from(["full", "incremental", "changes"])
    count = draw(st.integers(0, 6))
    return [
        Run(draw(kinds), times[i], tuple(draw(st.lists(RECORDS, max_size=6)))) for i in range(count)
    ]


@LONG
@given(mixed_runs(), MODES, st.sampled_from([None, 0.5]), st.sampled_from(["s", None]))
def test_every_state_of_the_table_is_sound(runs, mode, ratio, sequence_by):
    tracked = tuple(name for name in mode.tracked or ("v", "w") if name not in mode.tracked_except)
    options = replace(mode, tracked=tracked, sequence_by=sequence_by, max_deleted_ratio=ratio)
    for end in range(len(runs) + 1):
        assert_sound(history(runs[:end], options), options)
        one_row = replace(options, mode="scd1", max_deleted_ratio=None)
        keys = [row["k"] for row in history(runs[:end], one_row)]
        assert len(keys) == len(set(keys))


@LONG
@given(mixed_runs(), CUTS, EXACT)
def test_full_extracts_too_depend_on_the_events_only(runs, rng, options):
    expected = comparable(history(runs, options))
    assert comparable(history(rng.sample(runs, len(runs)), options)) == expected
    again = rng.sample(runs + runs, 2 * len(runs))
    assert comparable(history(again, options)) == expected


@LONG
@given(mixed_runs(), MODES, st.sampled_from(["s", None]))
def test_the_row_of_the_latest_is_the_current_version(runs, mode, sequence_by):
    versions = replace(mode, mode="scd2", sequence_by=sequence_by, tracked=None, tracked_except=())
    versions = replace(versions, deletes="close", untracked="overwrite")
    latest = history(runs, replace(versions, mode="scd1"))
    current = [row for row in history(runs, versions) if row["_is_current"]]
    assert [[canon(row[c]) for c in "kvw"] for row in latest] == [
        [canon(row[c]) for c in "kvw"] for row in current
    ]


@LONG
@given(st.lists(RECORDS, max_size=30), CUTS)
def test_without_late_records_all_policies_for_them_agree(records, rng):
    records = sorted(untied(records), key=lambda r: r["s"])
    runs = cut(records, rng, "changes")
    exact = history(runs, CDC)
    for policy in ("quarantine", "ignore"):
        assert history(runs, replace(CDC, late_changes=policy)) == exact


@LONG
@given(st.lists(RECORDS, max_size=30), CUTS)
def test_the_row_as_of_any_time_is_the_last_record_until_then(records, rng):
    rows = history(cut(records, rng, "changes"), CDC)
    for k in range(3):
        for at in range(-1, 11):
            until = [r for r in records if r["k"] == k and r["s"] <= at]
            last = max(enumerate(until), key=lambda p: (p[1]["s"], p[0]), default=(0, None))[1]
            valid = [
                (canon(r["v"]), canon(r["w"]))
                for r in rows
                if r["k"] == k
                and r["_valid_from"] <= at
                and (r["_is_current"] or at < r["_valid_to"])
            ]
            current = last is not None and last["op"] != "D"
            assert valid == ([(canon(last["v"]), canon(last["w"]))] if current else [])
