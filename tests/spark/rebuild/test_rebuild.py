"""A table is derived again from its landed runs."""

from datetime import UTC, datetime
from itertools import pairwise

import pytest

from lakekit.errors import InvalidStepInputError, InvariantViolatedError
from lakekit.spark.iceberg.published_runs import journal_runs, main_runs, published_runs
from lakekit.spark.merge_scd2 import merge_scd2
from lakekit.spark.rebuild.job import read_keys
from lakekit.spark.schema.create_tables import create_or_evolve
from tests.spark.support.people import PEOPLE, people
from tests.spark.support.rebuilt import NEW, World, person, shadows
from tests.tiers import long


def test_a_table_without_fault_equals_its_rebuild_and_gets_no_commit(world):
    before, snapshots = world.rows(), world.snapshots()

    result = world.rebuild()

    assert (result.runs, result.missing, result.wrong, result.committed) == (3, 0, 0, False)
    assert (world.rows(), world.snapshots()) == (before, snapshots)
    assert shadows(world) == []


def test_repairs_what_was_deleted_changed_and_doubled_and_old_runs_stay_no_ops(world):
    before, entries = world.rows(), world.rows(f"{world.table}_journal")
    world.damage(
        "DELETE FROM {t} WHERE id = 3",
        "UPDATE {t} SET name = 'wrong' WHERE id = 1 AND _is_current",
        "INSERT INTO {t} SELECT * FROM {t} WHERE id = 2",
        "DELETE FROM {t}_journal WHERE _op = 'full_extract'",
    )

    result = world.rebuild()

    assert world.rows() == before
    assert world.rows(f"{world.table}_journal") == entries
    assert result.committed
    assert (result.journal_missing, result.journal_wrong) == (2, 0)
    # Ben has one version: his first tags are backfilled, as the column was added later.
    assert (result.missing, result.wrong) == (2, 2)
    published = published_runs(world.spark, world.table).values()
    assert {each.run_id for each in published} == {"run-2", "run-9", "run-12"}
    for run in world.runs:
        assert not merge_scd2(
            world.spark, run.contract, run.batch, world.table, staging=world.staging
        ).committed
    assert world.rows() == before


def test_a_table_that_was_dropped_comes_back_with_its_published_runs(spark, table, tmp_path):
    world = World(spark, table, tmp_path)
    world.merge(2, person(1, "ann", 1))
    world.merge(3, person(1, "anna", 3, tags={"a": 1}), contract=NEW)
    before = world.rows()
    world.damage("DROP TABLE {t} PURGE", "DROP TABLE {t}_journal PURGE")

    world.rebuild()

    assert world.rows() == before
    assert published_runs(spark, table).keys() == {"run-2", "run-3"}
    assert [each.run_id for each in main_runs(spark, table)] == ["run-2", "run-3"]


@pytest.mark.long
@pytest.mark.parametrize("made_again", [long(False), True])
def test_a_table_that_came_back_still_backfills_its_added_columns(
    spark, table, tmp_path, made_again
):
    world, grown = World(spark, table, tmp_path), people(columns={"zip": "string"})
    ann, ben = ({"id": n, "name": name, "city": "x"} for n, name in enumerate(("ann", "ben"), 1))
    world.merge(1, ann, ben, contract=PEOPLE, extract="incremental")
    world.merge(2, ben | {"zip": "7"}, contract=grown, extract="incremental")
    world.damage("DROP TABLE {t} PURGE")
    if made_again:
        create_or_evolve(spark, world.runs[-1].contract, table)

    world.rebuild()
    world.merge(3, ann | {"zip": "9"}, contract=grown, extract="incremental")

    # Ann is unchanged: one version, with the value of the added column.
    ann_now = spark.table(table).where("id = 1").select("zip", "_is_current").collect()
    assert [tuple(row) for row in ann_now] == [("9", True)]


@pytest.mark.long
def test_a_table_shows_its_runs_in_the_order_of_their_merges_after_a_rebuild_too(world):
    before = main_runs(world.spark, world.table)
    world.damage("DELETE FROM {t} WHERE id = 3")

    world.rebuild()

    assert [each.run_id for each in before] == ["run-2", "run-9", "run-12"]
    assert all(one.at < other.at for one, other in pairwise(before))
    assert main_runs(world.spark, world.table) == before
    # All of them have written journal entries, too.
    recorded = journal_runs(world.spark, world.table)
    assert [each.run_id for each in recorded] == [each.run_id for each in before]


def test_repairs_the_given_keys_alone(world, tmp_path):
    before = world.rows()
    world.damage("UPDATE {t} SET name = 'wrong'")
    others = [row for row in world.rows() if "id=2" not in row]
    file = tmp_path / "keys.ndjson"
    file.write_text('{"id": 2}\n{"id": 77}\n')

    world.rebuild(keys=read_keys(world.spark, world.runs[-1].contract, str(file)))

    assert world.rows() == sorted([*others, *(row for row in before if "id=2" in row)])
    for wrong in ('{"id": "two"}', '{"id": 2} {"id": 3}', "{'id': 2}"):
        file.write_text(f'{{"id": 2}}\n{wrong}\n')
        with pytest.raises(InvalidStepInputError, match="JSON object with id"):
            read_keys(world.spark, world.runs[-1].contract, str(file))


def test_repairs_what_held_from_a_time_on_and_refuses_if_what_stays_does_not_fit(world):
    """SQLMesh #4814, #5138, #5901: a history restated from a date on."""
    before = world.rows()
    world.damage("DELETE FROM {t} WHERE id = 1 AND _valid_from >= '2026-01-05'")
    since = datetime(2026, 1, 5, tzinfo=UTC)

    world.rebuild(since=since)

    assert world.rows() == before
    world.damage("UPDATE {t} SET _valid_to = TIMESTAMP_NTZ '2026-01-04' WHERE id = 3")
    damaged = world.rows()
    with pytest.raises(InvariantViolatedError, match="rebuild all of it"):
        world.rebuild(since=since)
    assert world.rows() == damaged


@pytest.mark.long
def test_refuses_to_leave_a_hole_where_a_version_that_comes_begins_later(world):
    wrong = "TIMESTAMP_NTZ '2026-01-03'"
    world.damage(
        f"UPDATE {{t}} SET _valid_to = {wrong} WHERE id = 1 AND _valid_to = '2026-01-05'",
        f"UPDATE {{t}} SET _valid_from = {wrong} WHERE id = 1 AND _valid_from = '2026-01-05'",
    )
    damaged = world.rows()

    with pytest.raises(InvariantViolatedError, match="a hole between two"):
        world.rebuild(since=datetime(2026, 1, 5, 12, tzinfo=UTC))

    assert world.rows() == damaged


@pytest.mark.long
def test_entries_that_were_recorded_twice_are_not_wrong(world):
    world.damage("INSERT INTO {t}_journal SELECT * FROM {t}_journal")

    result = world.rebuild()

    assert (result.journal_missing, result.journal_wrong, result.committed) == (0, 0, False)


def test_a_table_that_appends_is_rebuilt_as_a_whole_only(spark, table, tmp_path):
    world, append = World(spark, table, tmp_path), people(mode="append", keys=[])
    world.merge(1, {"id": 1}, {"id": 1}, contract=append)
    world.merge(2, {"id": 2, "name": "b"}, contract=append)
    before = world.rows()
    world.damage("DELETE FROM {t} WHERE id = 1")

    assert (world.rebuild().missing, world.rows()) == (2, before)
    with pytest.raises(InvalidStepInputError, match="rebuild all of it"):
        world.rebuild(since=datetime(2026, 1, 1, tzinfo=UTC))
    with pytest.raises(InvalidStepInputError, match="no keys"):
        read_keys(spark, append, "none")
