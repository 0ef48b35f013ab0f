"""Random histories whose full extracts repeat lines: sifted and parsed whole they are the same."""

import random
from dataclasses import replace
from datetime import date, datetime, time

import pytest
from pyspark.sql import functions as F

from lakekit import layout
from lakekit.spark.plan import stage
from lakekit.spark.skip import lines as sift
from lakekit.spark.skip.lines import read_whole
from tests.conftest import HISTORIES
from tests.model.terms import Run
from tests.spark.combinations import DEFAULT, LONG
from tests.spark.random_histories import BAD, extraction_time, random_runs
from tests.spark.replay import Replay
from tests.tiers import long

pytestmark = pytest.mark.usefixtures("every_full_extract_is_sifted")
KEYS = 80
BY_DEFAULT = "latest_of_all_kinds"
QUICK = {BY_DEFAULT, "scope_tie_columns"}


def pytest_generate_tests(metafunc):
    every = metafunc.config.getoption("histories") > HISTORIES
    sifted = [
        each
        for each in (*DEFAULT, *LONG)
        if "full" in each.kinds and not each.options.ignore_null_updates
    ]
    chosen = [each for each in sifted if every or each.name in QUICK]
    tiers = [each if each.name == BY_DEFAULT else long(each) for each in chosen]
    metafunc.parametrize("combination", tiers, ids=lambda each: each.name)


def test_a_sifted_extract_is_merged_and_counted_as_one_that_is_parsed(
    spark, table, tmp_path, combination, monkeypatch
):
    # A record that comes again does not rise among those of its moment (ADR 6). Late records lie
    # ahead of others: full extracts behind them are parsed.
    combination = replace(combination, ties=False, late=False)
    runs = random_runs(combination, 11, keys=KEYS, runs=5)
    sifted, parsed = (
        Replay(spark, combination, f"{table}_{way}", tmp_path) for way in ("sifted", "parsed")
    )

    known_lines, nothing_left = [], []

    def read_sifted(*asked):
        sides = sift.read_sides(*asked)
        known_lines.append(sides.known)
        nothing_left.append(sides.counted is not None)
        return sides

    def read_parsed(merge, _, base):
        return read_whole(merge, base, many=merge.full)

    for run in with_repeats(runs, combination):
        monkeypatch.setattr(stage, "read_sides", read_sifted)
        sifted.check(run)
        monkeypatch.setattr(stage, "read_sides", read_parsed)
        parsed.merge(run)
        assert counted(sifted) == counted(parsed)
        both = told(spark, sifted), told(spark, parsed)
        # Only what differs: whole companions are long.
        assert sorted({*both[0]} ^ {*both[1]})[:4] == []

    sifted.assert_sound()
    assert sum(known_lines) > KEYS // 4
    # Of others a version may be left that says deleted, or has no line of its own.
    assert nothing_left[-1] or combination.name not in QUICK


def with_repeats(runs, combination):
    """Let full extracts say of most keys again what was said last, with the same bytes.

    The last two say one thing of all keys.
    """
    chance, last, repeated = random.Random(combination.name), {}, []
    keys, sequence_by = combination.options.keys, combination.options.sequence_by
    for run in runs:
        records = run.records
        if run.kind == "full":
            again = {
                key: record
                for key, record in last.items()
                if chance.random() < 0.7 and is_past(record.get(sequence_by), run.time)
            }
            others = [r for r in records if tuple(r[k] for k in keys) not in again]
            records = [*again.values(), *others[: len(others) // 3]]
            chance.shuffle(records)
        for record in records:
            if run.kind == "full" or record["op"] != "D":
                last[tuple(record[key] for key in keys)] = record
        repeated.append(Run(run.kind, run.time, records))
    said = [*sound(last, combination)]
    return [*repeated, *(Run("full", extraction_time(day), said) for day in (20, 21))]


def sound(last, combination):
    """Yield a record for each key that keeps the contract, of the twentieth day."""
    day = extraction_time(20)
    at = day.date() if combination.columns["at"] == "date" else day
    for record in last.values():
        if record["id"] is not None and record["n"] != BAD:
            yield {**record, "at": at}


def is_past(moment, extracted):
    if isinstance(moment, date) and not isinstance(moment, datetime):
        moment = datetime.combine(moment, time())
    return not isinstance(moment, datetime) or moment <= extracted


def counted(story):
    return story.results[-1].model_dump(exclude={"table", "snapshot_id"})


def told(spark, story):
    """Return what the companion knows; of the same runs, in other files."""
    name = layout.facts_table(story.table)
    if not spark.catalog.tableExists(name):
        return []
    facts = spark.table(name).drop("_source_file")
    # As text: Python has no year 0, where the first moment is in some time zones.
    return sorted(row[0] for row in facts.select(F.to_json(F.struct("*"))).collect())
