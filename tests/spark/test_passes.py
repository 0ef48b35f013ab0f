"""Several landings merged in one pass: what is judged alone, taken back, and derived again."""

from datetime import UTC, datetime

import pytest

from lakekit.batch import Batch
from lakekit.errors import TooManyRejectedError
from lakekit.replay.merged_runs import MergedRun
from lakekit.spark.iceberg.table import main_snapshot
from lakekit.spark.merge_scd2 import merge_landings
from lakekit.spark.rebuild.rebuild import rebuild_table
from lakekit.sql.line_hash import DIGEST
from tests.spark.support.landed import land
from tests.spark.support.people import people
from tests.spark.support.rebuilt import person

CONTRACT = people(sequence_by="at", quality={"max_rejected_ratio": 0.4})
NOT_A_RECORD = {"id": "no number", "at": "2026-01-05T00:00:00Z"}


class World:
    """One table, and its landings in the order in which they came."""

    def __init__(self, spark, table, folder):
        self.spark, self.table, self.folder = spark, table, folder
        self.staging = (folder / "s").as_uri()
        self.results = []

    def landing(self, day, *records):
        file = land(self.folder / f"run-{day}.ndjson", records)
        at = datetime(2026, 2, day, tzinfo=UTC)
        return Batch(run_id=f"run-{day}", extract="changes", extraction_time=at, files=(file,))

    def merge(self, *landings):
        for found in merge_landings(
            self.spark, CONTRACT, landings, self.table, staging=self.staging
        ):
            self.results += found
        return self.results[-len(landings) :]

    def rows(self):
        return sorted(map(str, self.spark.table(self.table).drop(*DIGEST).collect()))

    def rebuild(self, *landings):
        passes = {each.run_id: each.pass_id for each in self.results}
        runs = [MergedRun(CONTRACT, each, passes[each.run_id]) for each in landings]
        return rebuild_table(self.spark, CONTRACT, runs, self.table, staging=self.staging)


@pytest.fixture
def world(spark, table, tmp_path):
    return World(spark, table, tmp_path)


def test_a_landing_with_a_rejected_record_is_judged_alone(world):
    good = [world.landing(1, person(1, "Ann", 1)), world.landing(2, person(1, "Bea", 2))]
    bad = world.landing(3, NOT_A_RECORD)

    with pytest.raises(TooManyRejectedError, match="run-3"):
        world.merge(*good, bad, world.landing(4, person(1, "Cid", 4)))

    assert [each.run_id for each in world.results] == ["run-1", "run-2"]
    assert [each.pass_id for each in world.results] == [None, None]
    assert world.spark.table(world.table).count() == 2


def test_a_pass_that_a_rollback_took_back_is_merged_again(world):
    world.merge(world.landing(1, person(1, "Ann", 1)))
    before = main_snapshot(world.spark, world.table)
    # One of them only repeats what the table has: the journal has it alone.
    landings = [
        world.landing(2, person(1, "Bea", 2), person(1, "Bea", 3)),
        world.landing(3, person(2, "Cid", 3)),
    ]
    world.merge(*landings)
    rows, name = world.rows(), world.table.removeprefix("lake.")
    world.spark.sql(f"CALL lake.system.rollback_to_snapshot('{name}', {before})")

    done = world.merge(*landings)

    assert all(each.committed for each in done)
    assert world.rows() == rows


def test_a_rebuild_replays_passes_and_finds_nothing_to_change(world):
    landings = [
        world.landing(1, person(1, "Ann", 1)),
        world.landing(2, person(1, "Bea", 4), person(1, "Bea", 5)),
        world.landing(3, person(1, "Cid", 2), person(2, "Dan", 3)),
        world.landing(4, person(1, "Cid", 3)),
    ]
    world.merge(landings[0])
    world.merge(*landings[1:])
    assert len({each.pass_id for each in world.results}) == 2

    done = world.rebuild(*landings)

    assert (done.missing, done.wrong, done.journal_missing, done.journal_wrong) == (0, 0, 0, 0)
    assert not done.committed


def test_a_pass_that_is_merged_again_finds_its_snapshot(world):
    landings = [world.landing(1, person(1, "Ann", 1)), world.landing(2, person(1, "Bea", 2))]
    first = world.merge(*landings)

    again = world.merge(*landings, world.landing(3, person(1, "Bea", 3)))

    assert [each.committed for each in again[:2]] == [False, False]
    assert [each.pass_id for each in again] == [first[0].pass_id, first[0].pass_id, None]
    assert [each.snapshot_id for each in again[:2]] == [each.snapshot_id for each in first]
