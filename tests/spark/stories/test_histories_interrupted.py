"""Random histories whose runs crash, or meet other runs and maintenance: the table is the model's.

One thing happens within a run, at the end of any phase of the commit protocol: its process is
killed, and the run comes again, at once or after the next one; the next run is merged meanwhile; or
the table or its journal is compacted, or its snapshots expire.
"""

import random
from contextlib import suppress

import pytest

from lakekit import layout
from tests.conftest import HISTORIES
from tests.model.admission import accepted, admit
from tests.spark.support.combinations import DEFAULT, LONG
from tests.spark.support.phases import compaction, expiry
from tests.spark.support.random_histories import random_runs
from tests.spark.support.replay import Replay
from tests.spark.support.seams import NEXT, Crash, at_the_end_of, killed_at_the_end_of, tune
from tests.tiers import long

pytestmark = pytest.mark.usefixtures("every_full_extract_skips_lines")
KEYS = 60
RUNS = 6
BY_DEFAULT = {"all_kinds"}
QUICK = {*BY_DEFAULT, "append", "late_quarantine", "latest"}
# A run that only writes the journal ends with that phase.
PHASES = [*(phase for phase in NEXT if phase != "journal alone"), "fast-forward"]
MAINTENANCE = ["compact", "compact the journal", "expire"]
# These take two runs, which change places; without a sequence the second would be refused.
WITH_ANOTHER = ["crash, then another", "another within"]


def pytest_generate_tests(metafunc):
    every = metafunc.config.getoption("histories") > HISTORIES
    seed = metafunc.config.getoption("seed")
    chosen = [each for each in (*DEFAULT, *LONG) if every or each.name in QUICK]
    cases = [
        (each, number) for number in range(seed, seed + (2 if every else 1)) for each in chosen
    ]
    names = [f"{each.name}-{number}" for each, number in cases]
    tiers = [each if each[0].name in BY_DEFAULT else long(*each) for each in cases]
    metafunc.parametrize(("combination", "seed"), tiers, ids=names)


def test_whatever_happens_within_a_run_the_table_is_that_of_the_model(
    spark, table, tmp_path, monkeypatch, combination, seed
):
    chance = random.Random(f"{combination.name}-{seed}")
    story = Story(Replay(spark, combination, table, tmp_path), monkeypatch)
    left = random_runs(combination, seed + 31, keys=KEYS, runs=RUNS)

    for event in story.events(chance):
        few, rewritten = (chance.choice([-1, 1 << 62]) for _ in range(2))
        tune(monkeypatch, few_bytes=few, rewrite_bytes=rewritten)
        run = left.pop(0)
        phase = chance.choice(PHASES)
        other = left.pop(0) if event in WITH_ANOTHER else None
        print(f"{event} at the end of {phase}")  # noqa: T201  shown if it fails
        if event.startswith("crash"):
            story.crash(run, other, phase)
        else:
            story.meet(run, other, event, phase)
        story.replay.assert_as_expected()

    # Some phases are not reached: a run changes nothing, or rewrites the table.
    assert story.met
    story.replay.assert_states_sound()
    story.assert_rejected()
    story.assert_tidy()
    if combination in LONG:
        story.replay.assert_rebuilds(story.again)


class Story:
    """A table, and what happens as runs are merged into it."""

    def __init__(self, replay, monkeypatch):
        self.replay, self.monkeypatch = replay, monkeypatch
        self.spark, self.options = replay.spark, replay.combination.options
        self.met = []
        # Runs that were planned twice, with another one between.
        self.again = []

    def events(self, chance):
        """Return what happens within the runs, in order."""
        sequenced = bool(self.options.sequence_by)
        # Without a sequence, or versions, the table has no journal.
        journal = sequenced and self.options.mode != "append"
        maintenance = [each for each in MAINTENANCE if journal or "journal" not in each]
        # With scd1, some contracts are for runs in order.
        latest_in_order = self.options.mode == "scd1" and not self.replay.combination.late
        in_order = latest_in_order or not sequenced
        others = ["crash", *maintenance] if in_order else WITH_ANOTHER
        chosen = ["crash", chance.choice(maintenance), *others]
        return chance.sample(chosen, len(chosen))

    def crash(self, run, other, phase):
        """Merge a run that is killed at the end of a phase, then again; another one in between."""
        batch = self.replay.land(run)
        published = not self._is_killed(batch, phase) or phase == "fast-forward"
        if other and not published:
            self.again.append(batch.run_id)
        if published:
            self.replay.merge_landed(run, batch)
        if other:
            self.replay.merge(other)
            # The journal entries of the crashed run do not count yet.
            self.replay.assert_as_expected()
        if not published:
            self.replay.merge_landed(run, batch)

    def meet(self, run, other, event, phase):
        """Merge a run, and at the end of a phase another one, or maintain the table."""
        batch, before = self.replay.land(run), len(self.met)
        if other and phase == "fast-forward":
            # A published run is not planned again.
            phase = "append"
        with self.monkeypatch.context() as patch:
            happens = (lambda: self.replay.merge(other)) if other else lambda: self._maintain(event)
            at_the_end_of(patch, phase, lambda: self.met.append((event, happens())))
            self.replay.merge_landed(run, batch)
        if other and len(self.met) == before:
            self.replay.merge(other)
        elif other:
            self.again.append(batch.run_id)

    def _is_killed(self, batch, phase):
        """Merge a run until its process is killed; False if it ended before."""
        with suppress(Crash), killed_at_the_end_of(self.monkeypatch, phase):
            self.replay.attempt(batch)
            return False
        self.met.append(("crash", phase))
        return True

    def _maintain(self, event):
        table = self.replay.table
        journal = layout.journal_table(table)
        if event == "compact":
            self.spark.sql(compaction(table))
        elif event == "expire":
            self.spark.sql(expiry(table))
        elif self.spark.catalog.tableExists(journal):
            self.spark.sql(compaction(journal))

    def assert_rejected(self):
        """Hold the quarantine against the model: each run's rejected records once."""
        name = layout.quarantine_table(self.replay.table)
        rows = []
        if self.spark.catalog.tableExists(name):
            rows = self.spark.sql(f"SELECT _run_id, count(*) FROM {name} GROUP BY 1").collect()
        runs, expected = self.replay.runs, {}
        for number, run in enumerate(runs):
            known = accepted(runs[:number], self.options)
            if count := admit(run, known, self.options)[1]:
                expected[self.replay.batches[number].run_id] = count
        assert dict(map(tuple, rows)) == expected

    def assert_tidy(self):
        """No branch is left of the runs that crashed or were planned again."""
        refs = self.spark.sql(f"SELECT name FROM {self.replay.table}.refs").collect()
        assert [row[0] for row in refs] == ["main"]
