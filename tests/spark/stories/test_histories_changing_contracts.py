"""A contract changes between two runs in all ways that are allowed: intervals stay sound."""

import random
from collections.abc import Iterator
from itertools import count
from typing import Any

import pytest

from lakekit.spark.schema.create_tables import create_or_evolve
from tests.conftest import HISTORIES
from tests.spark.support.combinations import ALL_KINDS, CHANGES, SCOPED, Combination
from tests.spark.support.random_histories import random_runs
from tests.spark.support.replay import Replay

pytestmark = pytest.mark.usefixtures("every_full_extract_skips_lines")
HISTORY: dict[str, tuple[dict[str, Any], tuple[str, ...]]] = {
    "by_sequence": (CHANGES, ALL_KINDS),
    "by_sequence_and_scope": (CHANGES | SCOPED, ALL_KINDS),
    "by_extraction_time": ({}, ("full", "incremental")),
    "by_extraction_time_and_scope": (SCOPED, ("full", "incremental")),
}
TRACKED = (None, ["region", "name", "score", "props"], ["region", "name", "n"])
TIES = (["file_position"], ["n", "file_position"])


def pytest_generate_tests(metafunc):
    long = metafunc.config.getoption("histories") > HISTORIES
    first = metafunc.config.getoption("seed")
    named = HISTORY if long else ("by_sequence",)
    seeds = range(first, first + (12 if long else 1))
    # By default `test_histories_added_columns.py` changes contracts.
    marks = pytest.mark.long
    cases = [
        pytest.param(name, seed, 5 if long else 3, marks=marks) for name in named for seed in seeds
    ]
    metafunc.parametrize(("named", "seed", "number"), cases)


def test_no_two_versions_hold_at_once_whatever_changes(spark, tmp_path, table, named, seed, number):
    chance = random.Random(f"{named}-{seed}")
    contracts = _changing(named, chance)
    first = next(contracts)
    runs = random_runs(first, seed, keys=80, runs=number)
    story = Replay(spark, first, table, tmp_path)

    for run in runs:
        # Without a sequence, a repeated run finds its own versions, and is refused.
        for _ in range(1 + first.late):
            create_or_evolve(spark, story.combination.contract, table)
            story.merge(run)
            story.assert_conserved()
            story.intervals(story.rows())
        story.combination = next(contracts)


def _changing(named: str, chance: random.Random) -> Iterator[Combination]:
    """Yield contracts that a table takes one after the other: `scd1` first, if at all."""
    history, kinds = HISTORY[named]
    late, scoped = "sequence_by" in history, "delete_scope" in history
    # Partial records are never in a full extract, and go neither with scopes nor with scd1.
    partial = not scoped and chance.random() < 0.3
    kinds = tuple(kind for kind in kinds if kind != "full") if partial else kinds
    turn = 0 if scoped or partial else chance.choice([0, 0, 2])
    for number in count():
        chosen = history | {
            "mode": "scd1" if number < turn else "scd2",
            "deletes": chance.choice(["close", "ignore"]),
            # With a sequence it stays.
            "ignore_null_updates": partial and (late or chance.random() < 0.5),
            "tie_break": chance.choice(TIES),
        }
        if late and not scoped:
            chosen["late_changes"] = chance.choice(["exact", "quarantine", "ignore"])
        if tracked := chance.choice(TRACKED):
            chosen["track_history_columns"] = tracked
        if not scoped:
            chosen["untracked"] = chance.choice(["overwrite", "ignore"])
        if chosen["ignore_null_updates"]:
            chosen["untracked"] = "overwrite"
        yield Combination(f"{named}-{number}", chosen, kinds, late=late, faults=True)
