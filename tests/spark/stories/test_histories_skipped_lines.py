"""Random histories whose full extracts repeat lines: skipping them changes no result."""

import random
from dataclasses import replace
from datetime import date, datetime, time

import pytest
from pyspark.sql import functions as F

from lakekit import layout
from tests.conftest import HISTORIES
from tests.model.terms import Run
from tests.spark.support.combinations import DEFAULT, LONG
from tests.spark.support.random_histories import BAD, extraction_time, random_runs
from tests.spark.support.replay import Replay
from tests.spark.support.seams import around, parse_every_line
from tests.tiers import long

pytestmark = pytest.mark.usefixtures("every_full_extract_skips_lines")
KEYS = 80
QUICK = {"latest_of_all_kinds", "scope_tie_columns"}


def pytest_generate_tests(metafunc):
    every = metafunc.config.getoption("histories") > HISTORIES
    skipping = [each for each in (*DEFAULT, *LONG) if "full" in each.kinds]
    chosen = [each for each in skipping if every or each.name in QUICK]
    # By default the tests in `spark/skip` have the rules.
    tiers = [long(each) for each in chosen]
    metafunc.parametrize("combination", tiers, ids=lambda each: each.name)


def test_an_extract_with_skipped_lines_is_merged_and_counted_as_one_that_is_parsed(
    spark, table, tmp_path, combination, monkeypatch
):
    # A record that comes again does not rise among those of its event time (ADR 6). Late records
    # lie ahead of others: full extracts behind them are parsed.
    combination = replace(combination, ties=False, late=False)
    runs = random_runs(combination, 11, keys=KEYS, runs=5)
    skipped, parsed = (
        Replay(spark, combination, f"{table}_{way}", tmp_path) for way in ("skipped", "parsed")
    )

    skipped_lines, nothing_left = [], []

    def read_changed(real, *asked):
        inputs = real(*asked)
        skipped_lines.append(inputs.lines)
        nothing_left.append(inputs.counted is not None)
        return inputs

    for run in with_repeats(runs, combination):
        with monkeypatch.context() as patch:
            around(patch, "skip lines", read_changed)
            skipped.check(run)
        with monkeypatch.context() as patch:
            parse_every_line(patch)
            parsed.merge(run)
        assert counted(skipped) == counted(parsed)
        both = journal_of(spark, skipped), journal_of(spark, parsed)
        # Only what differs: whole journals are long.
        assert sorted({*both[0]} ^ {*both[1]})[:4] == []

    skipped.assert_sound()
    assert sum(skipped_lines) > KEYS // 4
    # In others a version may be left that is marked deleted, or has no line of its own.
    assert nothing_left[-1] or combination.name not in QUICK


def with_repeats(runs, combination):
    """Let full extracts repeat the last record of most keys, with the same bytes.

    The last two have the same record of all keys.
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


def is_past(event_time, extracted):
    if isinstance(event_time, date) and not isinstance(event_time, datetime):
        event_time = datetime.combine(event_time, time())
    return not isinstance(event_time, datetime) or event_time <= extracted


def counted(story):
    return story.results[-1].model_dump(exclude={"table", "snapshot_id"})


def journal_of(spark, story):
    """Return the journal, without what differs between runs of the same records."""
    name = layout.journal_table(story.table)
    if not spark.catalog.tableExists(name):
        return []
    entries = spark.table(name).drop("_source_file")
    # As text: Python has no year 0, in which the first time of all is in some time zones.
    return sorted(row[0] for row in entries.select(F.to_json(F.struct("*"))).collect())
