"""Columns that a contract gets between two runs, over random histories, against the model.

What was said before says nothing of them: the first value of a column fills in the version that
holds it, wherever that begins, and opens none.
"""

import random
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from lakekit.spark.schema.create_tables import create_or_evolve
from tests.conftest import HISTORIES
from tests.model.terms import UNKNOWN, Record, Run
from tests.spark.combinations import CHANGES, MOVED, PARTIAL, SCOPED, Combination
from tests.spark.random_histories import NAMES, PLACES, random_runs
from tests.spark.replay import Replay

pytestmark = pytest.mark.usefixtures("every_full_extract_is_sifted")
LATER = ("name", "place")
# The first run of which the contract may have them.
SINCE = 3
SOME: dict[str, list[Any]] = {
    name: [value for value in pool if value is not None]
    for name, pool in (("name", NAMES), ("place", PLACES))
}
SOME_TRACKED = {"track_history_except": ["n", "score", "tags", "seen"]}
CASES = (
    Combination("by_extraction_time", {}, ("full", "incremental"), late=False),
    Combination("latest", {**CHANGES, "mode": "scd1"}, MOVED),
    Combination("all_kinds", {**CHANGES}),
    Combination("keep_first", {**CHANGES, **SOME_TRACKED, "untracked": "ignore"}),
    Combination("partial_mark", {**CHANGES, **PARTIAL, "deletes": "mark"}, ties=False),
)
# For `make test-long` alone.
LONG = (
    Combination("some_tracked_scope", {**CHANGES, **SOME_TRACKED, **SCOPED}, ties=False),
    Combination("mark", {**CHANGES, "deletes": "mark"}),
    Combination("in_order", {**CHANGES}, late=False, ties=False),
    Combination("some_tracked", {**CHANGES, **SOME_TRACKED}),
    Combination("scope", {**CHANGES, **SCOPED}),
    Combination("no_deletes", {**CHANGES, "deletes": "ignore"}, MOVED, ties=False),
    Combination("partial", {**CHANGES, **PARTIAL}),
    Combination(
        "keep_first_mark",
        {**CHANGES, **SOME_TRACKED, "untracked": "ignore", "deletes": "mark"},
        ties=False,
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
    told = [(c, s) for c in chosen for s in range(first, first + (12 if long else 1))]
    metafunc.parametrize(("combination", "seed"), told, ids=[f"{c.name}-{s}" for c, s in told])


def test_columns_that_come_later_open_no_versions(spark, table, tmp_path, combination, seed):
    chance = random.Random(f"{combination.name}-{seed}")
    runs = _told_by_full_last(random_runs(combination, seed, keys=60, runs=8))
    # By their times the later runs are the younger ones; what they say may be of any time.
    times = sorted(run.time for run in runs)
    turns = {name: chance.choice([SINCE, SINCE + 1]) for name in LATER}
    early = _extracted_early(chance, combination, runs)
    story = Replay(spark, combination, table, tmp_path)

    for number, run in enumerate(runs):
        missing = tuple(name for name in LATER if number < turns[name])
        story.combination = replace(combination, without=missing)
        create_or_evolve(spark, story.combination.contract, table)
        time, lacks = times[number], missing
        if number in early:
            time, lacks = times[0] - timedelta(hours=len(runs) - number), LATER
        records = [_told(chance, record, lacks, story.combination) for record in run.records]
        story.check(Run(run.kind, time, records))


def _told_by_full_last(runs: list[Run]) -> list[Run]:
    """Let a full extract, if it knows the columns, be the last: what is said first then changes."""
    before, since = runs[:SINCE], runs[SINCE:]
    full = [run for run in since if run.kind == "full"]
    return [*before, *(run for run in since if run.kind != "full"), *full[:1]]


def _extracted_early(chance: random.Random, combination: Combination, runs: list[Run]) -> list[int]:
    """Choose runs that are extracted before the columns come, and merged afterwards.

    Before all others: one that is told again would not rise above those of a run between (ADR 6).
    Where records differ that are of one moment, what is unknown depends on their order. Of complete
    records among partial ones see contracts.md.
    """
    if not combination.late or combination.ties:
        return []
    partial = combination.options.ignore_null_updates
    since = range(SINCE + 2, len(runs) - 1)
    may = [number for number in since if not partial or runs[number].kind == "changes"]
    return chance.sample(may, min(2, len(may)))


def _told(
    chance: random.Random, record: Record, missing: tuple[str, ...], combination: Combination
) -> Record:
    """Return a record as the source tells it: without some columns, or with a value in each.

    Unless records differ that are of one moment, or nothing remembers who said null, it may be
    null, too.
    """
    nulls = combination.contract.history.exact and not combination.ties
    said = dict(record)
    for name in LATER:
        if name in missing:
            said[name] = UNKNOWN
        elif said[name] is None and not nulls:
            said[name] = chance.choice(SOME[name])
    return said
