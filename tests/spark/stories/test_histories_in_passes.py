"""Random histories merged in passes: the table is that of the same landings, merged alone."""

import random
from dataclasses import replace

import pytest

from lakekit.passes import passes
from lakekit.spark.iceberg.published_runs import published_runs
from lakekit.spark.merge_scd2 import merge_landings
from lakekit.sql.line_hash import DIGEST
from tests.conftest import HISTORIES
from tests.spark.support.combinations import DEFAULT, LONG
from tests.spark.support.random_histories import random_runs
from tests.spark.support.replay import Replay
from tests.spark.support.seams import NEXT, Crash, killed_at_the_end_of
from tests.tiers import long

RUNS = 7
KINDS = ("changes", "incremental")


def _may_pass(combination):
    contract = combination.contract
    return contract.history.exact


def pytest_generate_tests(metafunc):
    every = metafunc.config.getoption("histories") > HISTORIES
    seed = metafunc.config.getoption("seed")
    chosen = [
        replace(each, kinds=tuple(kind for kind in KINDS if kind in each.kinds), faults=False)
        for each in (*DEFAULT, *LONG)
        if _may_pass(each) and {*KINDS} & {*each.kinds}
    ]
    cases = [(each, n) for n in range(seed, seed + (4 if every else 1)) for each in chosen]
    # By default `test_passes.py` merges passes.
    tiers = [long(*each) for each in cases]
    names = [f"{each.name}-{number}" for each, number in cases]
    metafunc.parametrize(("combination", "seed"), tiers, ids=names)


def _texts(frame):
    whole = "to_json(struct(*), map('ignoreNullFields', 'false'))"
    return [text for (text,) in frame.selectExpr(whole).collect()]


class Story:
    """The same landings twice: alone in one table, in passes in the other."""

    def __init__(self, spark, combination, table, tmp_path, seed):
        self.alone = Replay(spark, combination, table, tmp_path)
        self.together = Replay(spark, combination, f"{table}_together", tmp_path)
        kind = random.Random(seed).choice(combination.kinds)
        runs = random_runs(replace(combination, kinds=(kind,)), seed + 51, keys=60, runs=RUNS)
        for run in sorted(runs, key=lambda run: run.time):
            batch = self.alone.land(run)
            self.alone.merge_landed(run, batch)
            self.together.runs.append(run)
            self.together.batches.append(batch)

    def merge(self, batches):
        """Merge landings in as few passes as possible."""
        story = self.together
        contract = story.combination.contract
        for landings in passes(contract, batches):
            for results in merge_landings(
                story.spark, contract, landings, story.table, staging=story.staging
            ):
                story.results += results

    def whole(self, story):
        """Return all columns of a table but the digests of lines, by which later extracts skip."""
        return sorted(_texts(story.spark.table(story.table).drop(*DIGEST)))

    def assert_same(self):
        together, alone = self.whole(self.together), self.whole(self.alone)
        assert {*together} - {*alone} == {*alone} - {*together} == set()
        assert len(together) == len(alone)
        shown = published_runs(self.together.spark, self.together.table)
        assert {*shown} == {batch.run_id for batch in self.together.batches}


def test_a_pass_is_as_if_each_landing_had_been_merged_alone(
    spark, table, tmp_path, combination, seed
):
    story = Story(spark, combination, table, tmp_path, seed)
    batches, chance = story.together.batches, random.Random(f"{combination.name}-{seed}")
    first, last = sorted(chance.sample(range(1, RUNS), 2))

    # What is late meets the journal of a pass.
    story.merge(batches[:first])
    story.merge(batches[first:last])
    story.merge(batches[last:])

    story.assert_same()
    passes_of = [each.pass_id for each in story.together.results]
    assert len({*passes_of[:first]}) == 1
    assert len({*passes_of[first:last]}) == 1


@pytest.mark.long
def test_a_pass_that_is_killed_comes_again_with_other_landings(
    spark, table, tmp_path, monkeypatch, combination, seed
):
    chance = random.Random(f"{combination.name}-{seed}")
    story = Story(spark, combination, table, tmp_path, seed)
    batches = story.together.batches
    first, last = 1, chance.randint(3, RUNS - 1)
    phase = chance.choice([phase for phase in NEXT if phase != "journal alone"])

    story.merge(batches[:first])
    with killed_at_the_end_of(monkeypatch, phase), pytest.raises(Crash):
        story.merge(batches[first:last])
    others = chance.choice([batches[first:], batches[first : first + 1], batches[first:last]])
    story.merge(others)
    story.merge(batches)

    story.assert_same()
    refs = story.together.spark.table(f"{story.together.table}.refs").collect()
    assert [row["name"] for row in refs] == ["main"]
