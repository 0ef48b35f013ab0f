"""A table is derived again from its landed runs."""

from datetime import UTC, datetime
from itertools import pairwise

import pytest

from lakekit.contract.contract import load_contract
from lakekit.errors import InvalidStepInputError, InvariantViolatedError
from lakekit.spark.iceberg.published_runs import published_runs, shown_runs, told_runs
from lakekit.spark.merge_scd2 import merge_scd2
from lakekit.spark.rebuild.job import read_keys
from lakekit.spark.schema.create_tables import create_or_evolve
from tests.spark.people import CONTRACT
from tests.spark.rebuilt import NEW, World, person, shadows
from tests.tiers import long


def test_a_table_without_fault_equals_its_rebuild_and_gets_no_commit(world):
    before, snapshots = world.rows(), world.snapshots()

    result = world.rebuild()

    assert (result.runs, result.missing, result.wrong, result.committed) == (3, 0, 0, False)
    assert (world.rows(), world.snapshots()) == (before, snapshots)
    assert shadows(world) == []


def test_repairs_what_was_deleted_changed_and_doubled_and_old_runs_stay_no_ops(world):
    before, facts = world.rows(), world.rows(f"{world.table}_facts")
    world.damage(
        "DELETE FROM {t} WHERE id = 3",
        "UPDATE {t} SET name = 'wrong' WHERE id = 1 AND _is_current",
        "INSERT INTO {t} SELECT * FROM {t} WHERE id = 2",
        "DELETE FROM {t}_facts WHERE _op = 'X'",
    )

    result = world.rebuild()

    assert world.rows() == before
    assert world.rows(f"{world.table}_facts") == facts
    assert result.committed
    assert (result.facts_missing, result.facts_wrong) == (2, 0)
    # Ben has one version: his first tags are filled in, because the column came later.
    assert (result.missing, result.wrong) == (2, 2)
    published = published_runs(world.spark, world.table).values()
    assert {each.run_id for each in published} == {"run-2", "run-9", "run-12"}
    for run in world.runs:
        assert not merge_scd2(
            world.spark, run.contract, run.batch, world.table, staging=world.staging
        ).committed
    assert world.rows() == before


def test_a_table_that_is_gone_comes_back_with_its_evidence(spark, table, tmp_path):
    world = World(spark, table, tmp_path)
    world.merge(2, person(1, "ann", 1))
    world.merge(3, person(1, "anna", 3, tags={"a": 1}), text=NEW)
    before = world.rows()
    world.damage("DROP TABLE {t} PURGE", "DROP TABLE {t}_facts PURGE")

    world.rebuild()

    assert world.rows() == before
    assert published_runs(spark, table).keys() == {"run-2", "run-3"}
    assert [each.run_id for each in shown_runs(spark, table)] == ["run-2", "run-3"]


@pytest.mark.parametrize("made_again", [long(False), True])
def test_a_table_that_came_back_still_fills_its_later_columns(spark, table, tmp_path, made_again):
    world, grown = (
        World(spark, table, tmp_path),
        CONTRACT.replace("history:", "  - {name: zip, type: string}\nhistory:", 1),
    )
    ann, ben = ({"id": n, "name": name, "city": "x"} for n, name in enumerate(("ann", "ben"), 1))
    world.merge(1, ann, ben, text=CONTRACT, extract="incremental")
    world.merge(2, ben | {"zip": "7"}, text=grown, extract="incremental")
    world.damage("DROP TABLE {t} PURGE")
    if made_again:
        create_or_evolve(spark, world.runs[-1].contract, table)

    world.rebuild()
    world.merge(3, ann | {"zip": "9"}, text=grown, extract="incremental")

    # Ann is who she was: one version, with the value that the column has brought.
    ann_now = spark.table(table).where("id = 1").select("zip", "_is_current").collect()
    assert [tuple(row) for row in ann_now] == [("9", True)]


def test_a_table_shows_its_runs_in_the_order_of_their_merges_after_a_rebuild_too(world):
    before = shown_runs(world.spark, world.table)
    world.damage("DELETE FROM {t} WHERE id = 3")

    world.rebuild()

    assert [each.run_id for each in before] == ["run-2", "run-9", "run-12"]
    assert all(one.at < other.at for one, other in pairwise(before))
    assert shown_runs(world.spark, world.table) == before
    # All of them have told the companion something, too.
    told = told_runs(world.spark, world.table)
    assert [each.run_id for each in told] == [each.run_id for each in before]


def test_repairs_the_given_keys_alone(world, tmp_path):
    before = world.rows()
    world.damage("UPDATE {t} SET name = 'wrong'")
    others = [row for row in world.rows() if "id=2" not in row]
    file = tmp_path / "keys.ndjson"
    file.write_text('{"id": 2}\n{"id": 77}\n')

    world.rebuild(keys=read_keys(world.spark, world.runs[-1].contract, str(file)))

    assert world.rows() == sorted([*others, *(row for row in before if "id=2" in row)])
    file.write_text('{"id": "two"}\n')
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


def test_facts_that_were_told_twice_are_not_wrong(world):
    world.damage("INSERT INTO {t}_facts SELECT * FROM {t}_facts")

    result = world.rebuild()

    assert (result.facts_missing, result.facts_wrong, result.committed) == (0, 0, False)


def test_a_table_that_appends_is_rebuilt_as_a_whole_only(spark, table, tmp_path):
    world, text = World(spark, table, tmp_path), CONTRACT.replace("keys: [id]", "mode: append")
    world.merge(1, {"id": 1}, {"id": 1}, text=text)
    world.merge(2, {"id": 2, "name": "b"}, text=text)
    before = world.rows()
    world.damage("DELETE FROM {t} WHERE id = 1")

    assert (world.rebuild().missing, world.rows()) == (2, before)
    with pytest.raises(InvalidStepInputError, match="rebuild all of it"):
        world.rebuild(since=datetime(2026, 1, 1, tzinfo=UTC))
    with pytest.raises(InvalidStepInputError, match="no keys"):
        read_keys(spark, load_contract(text), "none")
