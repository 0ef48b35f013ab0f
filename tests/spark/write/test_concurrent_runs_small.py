"""Another merge during one that overwrites a small table, or that keeps no history, or appends."""

import pytest

from tests.spark.support.people import ANN, BEN, TIMED, people
from tests.spark.support.phases import ann, assert_sound, ben
from tests.spark.support.seams import at_the_end_of, crash_at_the_end_of, tune
from tests.tiers import long

EVA = {"id": 3, "name": "Eva", "city": "Graz"}


def timed(mode):
    return people(sequence_by="at", mode=mode)


@pytest.fixture(autouse=True)
def small_tables_are_overwritten(tuned):
    tuned(few_bytes=1 << 20)


@pytest.mark.long
@pytest.mark.parametrize("phase", [long("plan"), "check"])
def test_another_full_extract(load, assert_rows, spark, table, monkeypatch, phase):
    """Each closes what the other opens."""
    load(1, ANN, BEN)
    other = {**ANN, "city": "Lima"}
    at_the_end_of(monkeypatch, phase, lambda: load(2, other, EVA, run_id="other"))

    load(3, {**ANN, "city": "Rome"}, BEN)

    assert_rows(
        (1, "Oslo", 1, 2, False),
        (1, "Lima", 2, 3, False),
        (1, "Rome", 3, None, True),
        (2, "Bonn", 1, 2, False),
        (2, "Bonn", 3, None, True),
        (3, "Graz", 2, 3, False),
        columns="id, city",
    )
    assert spark.table(f"{table}.history").count() == 3
    assert not spark.sql(f"SELECT 1 FROM {table}.all_files WHERE content > 0").collect()
    assert_sound(spark, table)


def test_another_merge_after_which_this_one_comes_late(
    load, assert_rows, spark, table, monkeypatch
):
    """Planned as an overwrite, it changes versions in place when it comes again."""

    def merge(day, *records, run_id=""):
        return load(day, *records, contract=TIMED, extract="changes", run_id=run_id)

    merge(1, ann("Oslo", 1), ben("Bonn", 1))
    at_the_end_of(monkeypatch, "check", lambda: merge(2, ann("Lima", 9), run_id="other"))

    merge(3, ann("Rome", 3), ben("Bern", 3))

    assert_rows(
        (1, "Oslo", 1, 3, False),
        (1, "Rome", 3, 9, False),
        (1, "Lima", 9, None, True),
        (2, "Bonn", 1, 3, False),
        (2, "Bern", 3, None, True),
        columns="id, city",
    )
    assert_sound(spark, table)


@pytest.mark.long
@pytest.mark.parametrize("few", [long(-1), 1 << 20])
def test_another_merge_without_a_history(load, assert_rows, spark, table, monkeypatch, few):
    """The newest record of each key counts, whichever of the two runs had it."""
    tune(monkeypatch, few_bytes=few)
    contract = timed("scd1")

    def merge(day, *records, run_id=""):
        return load(day, *records, contract=contract, extract="changes", run_id=run_id)

    merge(1, ann("Oslo", 1), ben("Bonn", 1))
    at_the_end_of(
        monkeypatch, "check", lambda: merge(2, ben("Paris", 2), ann("Lima", 9), run_id="other")
    )

    merge(3, ann("Rome", 3), ben("Bern", 3))

    assert_rows((1, "Lima", 9, None, True), (2, "Bern", 3, None, True), columns="id, city")
    assert_sound(spark, table)


@pytest.mark.long
@pytest.mark.parametrize("phase", [long("plan"), "append"])
def test_another_run_that_appends(load, spark, table, monkeypatch, phase):
    """Records of both runs are there once, and so are those of one alone."""

    def merge(day, *records, run_id=""):
        load(day, *records, contract=timed("append"), extract="incremental", run_id=run_id)

    merge(1, ann("Oslo", 1))
    at_the_end_of(
        monkeypatch, phase, lambda: merge(2, ann("Rome", 2), ben("Bonn", 2), run_id="other")
    )

    merge(3, ann("Rome", 2), ann("Lima", 3))

    cities = spark.sql(f"SELECT city FROM {table} ORDER BY id, at").collect()
    assert [row["city"] for row in cities] == ["Oslo", "Rome", "Lima", "Bonn"]


def test_a_crash_of_a_run_that_appends_then_another_then_the_same_again(
    load, spark, table, monkeypatch
):
    contract = people(mode="append", keys=[])
    over = {"contract": contract, "extract": "incremental"}
    with crash_at_the_end_of(monkeypatch, "append"):
        load(2, ANN, BEN, run_id="mine", **over)
    load(3, EVA, run_id="other", **over)

    assert load(2, ANN, BEN, run_id="mine", **over).committed

    assert sorted(row["id"] for row in spark.table(table).collect()) == [1, 2, 3]
