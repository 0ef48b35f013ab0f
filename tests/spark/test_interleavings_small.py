"""Another merge during one that overwrites a small table, or that keeps no history, or appends."""

import pytest

from lakekit.contract.contract import load_contract
from lakekit.spark.session import tuning as small
from tests.spark.people import ANN, BEN, CONTRACT, TIMED
from tests.spark.phases import ann, assert_sound, at_the_end_of, ben, crash_at_the_end_of
from tests.tiers import long

EVA = {"id": 3, "name": "Eva", "city": "Graz"}


def timed(mode):
    return TIMED.model_copy(update={"history": TIMED.history.model_copy(update={"mode": mode})})


@pytest.fixture(autouse=True)
def small_tables_are_overwritten(monkeypatch):
    monkeypatch.setattr(small, "FEW_BYTES", 1 << 20)


@pytest.mark.parametrize("phase", [long("plan"), "check"])
def test_another_full_extract(load, rows, spark, table, monkeypatch, phase):
    """It takes out of the table what this run puts into it, and the other way round."""
    load(1, ANN, BEN)
    other = {**ANN, "city": "Lima"}
    at_the_end_of(monkeypatch, phase, lambda: load(2, other, EVA, run_id="other"))

    load(3, {**ANN, "city": "Rome"}, BEN)

    assert rows("id, city") == [
        (1, "Oslo", 1, 2, False),
        (1, "Lima", 2, 3, False),
        (1, "Rome", 3, None, True),
        (2, "Bonn", 1, 2, False),
        (2, "Bonn", 3, None, True),
        (3, "Graz", 2, 3, False),
    ]
    assert spark.table(f"{table}.history").count() == 3
    assert not spark.sql(f"SELECT 1 FROM {table}.all_files WHERE content > 0").collect()
    assert_sound(spark, table)


def test_another_merge_after_which_this_one_comes_late(load, rows, spark, table, monkeypatch):
    """What would have been an overwrite changes versions in their place when it comes again."""

    def told(day, *records, run_id=""):
        return load(day, *records, promise=TIMED, extract="changes", run_id=run_id)

    told(1, ann("Oslo", 1), ben("Bonn", 1))
    at_the_end_of(monkeypatch, "check", lambda: told(2, ann("Lima", 9), run_id="other"))

    told(3, ann("Rome", 3), ben("Bern", 3))

    assert rows("id, city") == [
        (1, "Oslo", 1, 3, False),
        (1, "Rome", 3, 9, False),
        (1, "Lima", 9, None, True),
        (2, "Bonn", 1, 3, False),
        (2, "Bern", 3, None, True),
    ]
    assert_sound(spark, table)


@pytest.mark.parametrize("few", [long(-1), 1 << 20])
def test_another_merge_without_a_history(load, rows, spark, table, monkeypatch, few):
    """Of each key the newest record counts, whichever of the two runs had it."""
    monkeypatch.setattr(small, "FEW_BYTES", few)
    promise = timed("scd1")

    def told(day, *records, run_id=""):
        return load(day, *records, promise=promise, extract="changes", run_id=run_id)

    told(1, ann("Oslo", 1), ben("Bonn", 1))
    at_the_end_of(
        monkeypatch, "check", lambda: told(2, ben("Paris", 2), ann("Lima", 9), run_id="other")
    )

    told(3, ann("Rome", 3), ben("Bern", 3))

    assert rows("id, city") == [(1, "Lima", 9, None, True), (2, "Bern", 3, None, True)]
    assert_sound(spark, table)


@pytest.mark.parametrize("phase", [long("plan"), "append"])
def test_another_run_that_appends(load, spark, table, monkeypatch, phase):
    """What both of them hold is there once, and so is what either holds alone."""

    def told(day, *records, run_id=""):
        load(day, *records, promise=timed("append"), extract="incremental", run_id=run_id)

    told(1, ann("Oslo", 1))
    at_the_end_of(
        monkeypatch, phase, lambda: told(2, ann("Rome", 2), ben("Bonn", 2), run_id="other")
    )

    told(3, ann("Rome", 2), ann("Lima", 3))

    cities = spark.sql(f"SELECT city FROM {table} ORDER BY id, at").collect()
    assert [row["city"] for row in cities] == ["Oslo", "Rome", "Lima", "Bonn"]


def test_a_crash_of_a_run_that_appends_then_another_then_the_same_again(
    load, spark, table, monkeypatch
):
    promise = load_contract(CONTRACT.replace("keys: [id], max_deleted_ratio: 1", "mode: append"))
    over = {"promise": promise, "extract": "incremental"}
    with crash_at_the_end_of(monkeypatch, "append"):
        load(2, ANN, BEN, run_id="mine", **over)
    load(3, EVA, run_id="other", **over)

    assert load(2, ANN, BEN, run_id="mine", **over).committed

    assert sorted(row["id"] for row in spark.table(table).collect()) == [1, 2, 3]
