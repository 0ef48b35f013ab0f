"""Changes by others during a rebuild are not lost; it leaves alone what it cannot derive."""

import pytest

from lakekit.errors import CommitConflictError, InvalidStepInputError, LandingCorruptError
from lakekit.spark.iceberg.baseline import take_baseline
from lakekit.spark.iceberg.published_runs import journal_runs, runs_of_table
from lakekit.spark.iceberg.table import load_table, main_snapshot
from lakekit.spark.rebuild.rebuild import rebuild_table
from lakekit.spark.schema.create_tables import create_or_evolve
from lakekit.sql.added_columns import added_columns
from tests.spark.support.people import people
from tests.spark.support.rebuilt import NEW, World, person, shadows
from tests.spark.support.seams import around, crash_at_the_end_of

AGED = people(sequence_by="at", columns={"tags": "map<string,int>", "age": "int"})


def test_a_run_that_was_merged_after_the_runs_were_collected_is_not_lost(world):
    baseline = take_baseline(world.spark, world.runs[-1].contract, world.table)
    world.damage("DELETE FROM {t} WHERE id = 3")
    damaged = world.rows()

    with pytest.raises(CommitConflictError, match="rebuild again"):
        world.rebuild(baseline=baseline)

    assert world.rows() == damaged


def test_a_merge_meanwhile_wins_and_a_crash_shows_nothing(world, monkeypatch):
    world.damage("DELETE FROM {t} WHERE id = 3")
    damaged = world.rows()

    def crash(*_, **__):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        around(patch, "replace", crash)
        world.rebuild()
    assert world.rows() == damaged

    def late(publish, spark, new, seen):
        if seen.table == world.table:
            world.damage("DELETE FROM {t} WHERE id = 2 AND NOT _is_current")
        return publish(spark, new, seen)

    around(monkeypatch, "replace", late)
    with pytest.raises(CommitConflictError, match="rebuild again"):
        world.rebuild()
    refs = world.spark.sql(f"SELECT name FROM {world.table}.refs").collect()
    assert [row["name"] for row in refs] == ["main"]


@pytest.mark.long
def test_a_column_that_another_adds_to_a_table_that_is_made_again_stays_known(
    spark, table, tmp_path, monkeypatch
):
    def late(hand_over, *arguments):
        create_or_evolve(spark, AGED, table)
        return hand_over(*arguments)

    world = World(spark, table, tmp_path)
    world.merge(2, person(1, "ann", 1))
    world.merge(3, person(1, "ann", 1, tags={"a": 1}), contract=NEW)
    world.damage("DROP TABLE {t} PURGE", "DROP TABLE {t}_journal PURGE")
    around(monkeypatch, "hand over", late)
    with pytest.raises(CommitConflictError, match="rebuild again"):
        world.rebuild()

    known = added_columns({**load_table(spark, table).properties()})
    assert "age" in [each.name for each in known]


@pytest.mark.long
def test_what_a_rollback_took_off_main_is_seen(world):
    before = main_snapshot(world.spark, world.table)
    world.damage("DELETE FROM {t} WHERE id = 3")
    after = main_snapshot(world.spark, world.table)
    assert after not in runs_of_table(world.spark, world.table).off_main

    name = world.table.removeprefix("lake.")
    world.damage(f"CALL lake.system.rollback_to_snapshot('{name}', {before})")

    off_main = runs_of_table(world.spark, world.table).off_main
    assert (after in off_main, before in off_main) == (True, False)


@pytest.mark.long
def test_what_a_run_in_progress_has_recorded_stays(world, monkeypatch):
    with crash_at_the_end_of(monkeypatch, "journal"):
        world.merge(20, person(1, "Eve", 20))
    journal = f"{world.table}_journal"
    entries = world.rows(journal)
    assert any("run-20" in row for row in entries)
    assert "run-20" not in [each.run_id for each in journal_runs(world.spark, world.table)]

    world.rebuild()

    assert world.rows(journal) == entries


def test_refuses_when_the_landing_lacks_a_run_that_the_table_shows(world):
    with pytest.raises(LandingCorruptError, match="run-9"):
        rebuild_table(world.spark, NEW, world.runs[2:], world.table, staging=world.staging)


@pytest.mark.long
def test_leaves_a_table_alone_that_is_named_like_a_shadow(world):
    world.damage("CREATE TABLE {t}__rebuild (a int) USING iceberg")

    with pytest.raises(InvalidStepInputError, match="is no shadow"):
        world.rebuild()

    assert shadows(world) == [f"{world.table.rpartition('.')[2]}__rebuild"]
    world.damage("DROP TABLE {t}__rebuild PURGE")
