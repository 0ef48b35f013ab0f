"""What others do during a rebuild is not lost, and what it cannot derive it leaves alone."""

import pytest

from lakekit.contract.contract import load_contract
from lakekit.errors import CommitConflictError, InvalidStepInputError, LandingCorruptError
from lakekit.spark.iceberg.baseline import pin
from lakekit.spark.iceberg.published_runs import seen_runs, told_runs
from lakekit.spark.iceberg.table import load_table, main_snapshot
from lakekit.spark.rebuild import rebuild
from lakekit.spark.rebuild.rebuild import rebuild_table
from lakekit.spark.schema.create_tables import create_or_evolve
from lakekit.sql.added_columns import later_columns
from tests.spark.phases import crash_at_the_end_of
from tests.spark.rebuilt import NEW, World, person, shadows

AGED = NEW.replace("history:", "  - {name: age, type: int}\nhistory:", 1)


def test_a_run_that_was_merged_after_the_runs_were_collected_is_not_lost(world):
    seen = pin(world.spark, world.runs[-1].contract, world.table)
    world.damage("DELETE FROM {t} WHERE id = 3")
    damaged = world.rows()

    with pytest.raises(CommitConflictError, match="rebuild again"):
        world.rebuild(seen=seen)

    assert world.rows() == damaged


def test_a_merge_meanwhile_wins_and_a_crash_shows_nothing(world, monkeypatch):
    world.damage("DELETE FROM {t} WHERE id = 3")
    damaged = world.rows()
    publish = rebuild.publish_replacement

    def crash(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(rebuild, "publish_replacement", crash)
    with pytest.raises(KeyboardInterrupt):
        world.rebuild()
    assert world.rows() == damaged

    def late(spark, new, seen):
        if seen.table == world.table:
            world.damage("DELETE FROM {t} WHERE id = 2 AND NOT _is_current")
        return publish(spark, new, seen)

    monkeypatch.setattr(rebuild, "publish_replacement", late)
    with pytest.raises(CommitConflictError, match="rebuild again"):
        world.rebuild()
    refs = world.spark.sql(f"SELECT name FROM {world.table}.refs").collect()
    assert [row["name"] for row in refs] == ["main"]


def test_a_column_that_another_adds_to_a_table_that_is_made_again_stays_known(
    spark, table, tmp_path, monkeypatch
):
    def late(*arguments):
        create_or_evolve(spark, load_contract(AGED), table)
        return hand_over(*arguments)

    world, hand_over = World(spark, table, tmp_path), rebuild.hand_over
    world.merge(2, person(1, "ann", 1))
    world.merge(3, person(1, "ann", 1, tags={"a": 1}), text=NEW)
    world.damage("DROP TABLE {t} PURGE", "DROP TABLE {t}_facts PURGE")
    monkeypatch.setattr(rebuild, "hand_over", late)
    with pytest.raises(CommitConflictError, match="rebuild again"):
        world.rebuild()

    known = later_columns({**load_table(spark, table).properties()})
    assert "age" in [each.name for each in known]


def test_what_a_rollback_took_off_main_is_seen(world):
    before = main_snapshot(world.spark, world.table)
    world.damage("DELETE FROM {t} WHERE id = 3")
    after = main_snapshot(world.spark, world.table)
    assert after not in seen_runs(world.spark, world.table).off_main

    name = world.table.removeprefix("lake.")
    world.damage(f"CALL lake.system.rollback_to_snapshot('{name}', {before})")

    off_main = seen_runs(world.spark, world.table).off_main
    assert (after in off_main, before in off_main) == (True, False)


def test_what_a_run_under_way_has_told_stays(world, monkeypatch):
    with crash_at_the_end_of(monkeypatch, "facts"):
        world.merge(20, person(1, "Eve", 20))
    companion = f"{world.table}_facts"
    told = world.rows(companion)
    assert any("run-20" in row for row in told)
    assert "run-20" not in [each.run_id for each in told_runs(world.spark, world.table)]

    world.rebuild()

    assert world.rows(companion) == told


def test_refuses_when_the_landing_lacks_a_run_that_the_table_shows(world):
    with pytest.raises(LandingCorruptError, match="run-9"):
        rebuild_table(
            world.spark, load_contract(NEW), world.runs[2:], world.table, staging=world.staging
        )


def test_leaves_a_table_alone_that_is_named_like_a_shadow(world):
    world.damage("CREATE TABLE {t}__rebuild (a int) USING iceberg")

    with pytest.raises(InvalidStepInputError, match="is no shadow"):
        world.rebuild()

    assert shadows(world) == [f"{world.table.rpartition('.')[2]}__rebuild"]
    world.damage("DROP TABLE {t}__rebuild PURGE")
