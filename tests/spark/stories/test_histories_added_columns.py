"""Columns that a contract gets between two runs, over random histories, against the model.

A run moves forward: the first value of a column is backfilled into the version that holds it,
wherever that begins, and opens none. For late records see `backfill/test_late_changes.py`.
"""

import random
from dataclasses import replace
from typing import Any

import pytest

from lakekit.spark.schema.create_tables import create_or_evolve
from tests.conftest import HISTORIES
from tests.model.terms import UNKNOWN, Record, Run
from tests.spark.support.combinations import CHANGES, MOVED, PARTIAL, SCOPED, Combination
from tests.spark.support.random_histories import NAMES, PLACES, random_runs
from tests.spark.support.replay import Replay

pytestmark = pytest.mark.usefixtures("every_full_extract_skips_lines")
LATER = ("name", "place")
# The first run whose contract may have them.
SINCE = 3
SOME: dict[str, list[Any]] = {
    name: [value for value in pool if value is not None]
    for name, pool in (("name", NAMES), ("place", PLACES))
}
SOME_TRACKED = {"track_history_except": ["n", "score", "tags", "seen"]}
CASES = (
    Combination("by_extraction_time", {}, ("full", "incremental"), late=False),
    Combination("in_order", {**CHANGES}, late=False, ties=False),
)
# For `make test-long` alone.
LONG = (
    Combination("latest", {**CHANGES, "mode": "scd1"}, MOVED, late=False),
    Combination(
        "partial_mark", {**CHANGES, **PARTIAL, "deletes": "mark"}, MOVED, late=False, ties=False
    ),
    Combination("some_tracked", {**CHANGES, **SOME_TRACKED}, late=False, ties=False),
    Combination("scope", {**CHANGES, **SCOPED}, late=False, ties=False),
    Combination("no_deletes", {**CHANGES, "deletes": "ignore"}, MOVED, late=False, ties=False),
    Combination(
        "keep_first", {**CHANGES, **SOME_TRACKED, "untracked": "ignore"}, late=False, ties=False
    ),
    Combination(
        "keep_first_by_extraction_time",
        {**SOME_TRACKED, "untracked": "ignore"},
        ("full", "incremental"),
        late=False,
    ),
)


def pytest_generate_tests(metafunc):
    long = metafunc.config.getoption("histories") > HISTORIES
    first = metafunc.config.getoption("seed")
    chosen = (*CASES, *LONG) if long else CASES
    cases = [(c, s) for c in chosen for s in range(first, first + (12 if long else 1))]
    metafunc.parametrize(("combination", "seed"), cases, ids=[f"{c.name}-{s}" for c, s in cases])


def test_added_columns_open_no_versions(spark, table, tmp_path, combination, seed):
    chance = random.Random(f"{combination.name}-{seed}")
    runs = _full_last(random_runs(combination, seed, keys=60, runs=8))
    turns = {name: chance.choice([SINCE, SINCE + 1]) for name in LATER}
    story = Replay(spark, combination, table, tmp_path)

    for number, run in enumerate(runs):
        missing = tuple(name for name in LATER if number < turns[name])
        story.combination = replace(combination, without=missing)
        create_or_evolve(spark, story.combination.contract, table)
        records = [
            _with_columns(chance, record, missing, story.combination) for record in run.records
        ]
        story.check(Run(run.kind, run.time, records))


def _full_last(runs: list[Run]) -> list[Run]:
    """Leave out full extracts with the columns but for the last run: they end the backfill."""
    before, since, last = runs[:SINCE], runs[SINCE:-1], runs[-1]
    return [*before, *(run for run in since if run.kind != "full"), last]


def _with_columns(
    chance: random.Random, record: Record, missing: tuple[str, ...], combination: Combination
) -> Record:
    """Return a record as the source sends it: without some columns, or with a value in each.

    A value may be null, too, unless records of one event time differ, or no journal keeps nulls.
    """
    nulls = combination.contract.history.exact and not combination.ties
    said = dict(record)
    for name in LATER:
        if name in missing:
            said[name] = UNKNOWN
        elif said[name] is None and not nulls:
            said[name] = chance.choice(SOME[name])
    return said
