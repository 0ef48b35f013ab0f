"""The purpose of each guard: without it, the history goes wrong."""

import pytest
from pyspark.sql import functions as F

from lakekit.errors import InvariantViolatedError
from lakekit.spark.iceberg.table import main_snapshot
from lakekit.sql.identifiers import quote
from tests.spark.support.people import BEN, SILENT, TIMED, people
from tests.spark.support.phases import ann
from tests.spark.support.seams import around, at_the_end_of, crash_at_the_end_of

ANN = ann("Oslo", 1)


def test_without_the_last_look_main_moves_to_what_does_not_come_from_it(
    load, rows, spark, monkeypatch
):
    """Compare-and-swap: without it, the rows of another run are lost.

    With the guard: `test_concurrent_runs.py::test_another_merge[check]`.
    """

    def move_anyway(_real, spark, table, _branch, head, *_):
        spark.sql(f"ALTER TABLE {table} CREATE OR REPLACE BRANCH main AS OF VERSION {head}")
        return True

    load(1, ANN, extract="incremental")
    around(monkeypatch, "fast-forward", move_anyway)
    at_the_end_of(monkeypatch, "check", lambda: load(2, BEN, extract="incremental", run_id="other"))

    load(3, {**ANN, "city": "Rome"}, extract="incremental")

    assert {row[0] for row in rows()} == {1}


@pytest.mark.parametrize("counted", [True, False])
def test_without_the_first_look_what_was_planned_on_another_head_is_published(
    load, rows, table, spark, monkeypatch, counted
):
    """The branch begins at another head than the plan: a newer version is closed before its start.

    With the guard: `test_concurrent_runs.py::test_another_merge[plan]`.
    """
    refused = []

    def count_rows(refuse, *asked):
        if not counted:
            return
        try:
            refuse(*asked)
        except InvariantViolatedError as error:
            refused.append(str(error))
            raise

    def open_anywhere(real, spark, table, branch, _head, work):
        return real(spark, table, branch, main_snapshot(spark, table), work)

    load(1, ANN, extract="incremental", contract=TIMED)
    around(monkeypatch, "check totals", count_rows)
    around(monkeypatch, "open branch", open_anywhere)
    around(monkeypatch, "baseline", lambda *_, **__: True)
    later = {**ANN, "city": "Lima", "at": "2026-01-05T00:00:00Z"}
    at_the_end_of(
        monkeypatch, "plan",
        lambda: load(5, later, extract="incremental", contract=TIMED, run_id="other"),
    )  # fmt: skip

    rome = {**ANN, "city": "Rome", "at": "2026-01-03T00:00:00Z"}
    # A count of rows would find more than planned: as main has moved, the run is planned again.
    load(3, rome, extract="incremental", contract=TIMED)

    wrong = spark.table(table).where("_valid_to < _valid_from")
    assert wrong.count() == (0 if counted else 1)
    assert [each.partition("it ")[2] for each in refused] == (
        ["should add 1 rows; there are 2 more"] if counted else []
    )


def test_without_a_look_at_the_journal_a_run_that_only_wrote_it_is_not_noticed(
    load, assert_rows, monkeypatch
):
    """Main has not moved: the repeated version does not come back.

    With the guard:
    `test_concurrent_journal.py::test_another_run_that_only_writes_the_journal[check]`.
    """
    load(1, ANN, extract="incremental", contract=SILENT)
    around(monkeypatch, "baseline of the journal", lambda *_: iter(()))
    again = {**ANN, "at": "2026-01-05T00:00:00Z"}
    at_the_end_of(
        monkeypatch, "check",
        lambda: load(5, again, extract="incremental", contract=SILENT, run_id="other"),
    )  # fmt: skip

    rome = {**ANN, "city": "Rome", "at": "2026-01-03T00:00:00Z"}
    load(6, rome, extract="incremental", contract=SILENT)

    assert_rows((1, "Oslo", 1, 3, False), (1, "Rome", 3, None, True), columns="id, city")


def test_without_the_branches_what_a_run_in_progress_has_recorded_counts(load, rows, monkeypatch):
    """Ann counts as present in an extract that lacked her.

    With the guard:
    `test_crashed_runs.py::test_what_a_crashed_run_has_recorded_does_not_count_yet`.
    """
    ben = {**BEN, "at": "2026-01-01T00:00:00Z"}
    rome = {**ANN, "city": "Rome", "at": "2026-01-02T00:00:00Z"}
    lima = {**ANN, "city": "Lima", "at": "2026-01-08T00:00:00Z"}
    load(9, ANN, ben, rome, lima, extract="incremental", contract=TIMED)
    with crash_at_the_end_of(monkeypatch, "check"):
        load(5, ben, contract=TIMED, run_id="mine")
    around(
        monkeypatch,
        "journal",
        lambda journal, merge, _under_way, commits: journal(merge, commits=commits),
    )
    bern = {**ANN, "city": "Bern", "at": "2026-01-04T00:00:00Z"}
    load(10, bern, extract="incremental", contract=TIMED, run_id="other")

    load(5, ben, contract=TIMED, run_id="mine")

    assert next(row[3] for row in rows("id, city") if row[1] == "Bern") == 8


@pytest.fixture(params=[True, False], ids=["with the guard", "without"])
def guarded(request):
    return request.param


def test_a_run_that_main_shows_is_not_merged_again(load, spark, table, monkeypatch, guarded):
    """Published runs: without them, a replay doubles rows without a key."""
    all_of_it = people(mode="append", keys=[])
    load(1, ANN, BEN, contract=all_of_it, extract="incremental")
    if not guarded:
        first = []

        def none_at_first(real, *arguments):
            seen = real(*arguments) if first else {}
            first.append(1)
            return seen

        around(monkeypatch, "published runs", none_at_first)

    load(1, ANN, BEN, contract=all_of_it, extract="incremental")

    assert spark.table(table).count() == (2 if guarded else 4)


def test_records_of_one_key_have_a_total_order(load, spark, table, monkeypatch, guarded):
    """Position: without it any record of an event time may win, here the first and not the last."""
    if not guarded:
        around(
            monkeypatch,
            "number records",
            lambda _real, rows, _: rows.withColumn("__position", F.lit(0)),
        )
    twice = [{**BEN, "id": key, "city": city} for key in range(50) for city in ("Bonn", "Bern")]

    load(1, *twice)

    cities = {row["city"] for row in spark.table(table).collect()}
    assert (cities == {"Bern"}) is guarded


def test_a_value_and_a_null_that_change_places_are_a_change(load, monkeypatch, guarded):
    """Null mask, by column: without it both states have one hash, and the change is lost."""
    if not guarded:
        around(monkeypatch, "column hash", lambda _, c: f"xxhash64({quote(c.name)})")
    load(1, {"id": 1, "name": None, "city": "x"})

    done = load(2, {"id": 1, "name": "x", "city": None})

    assert done.opened == (1 if guarded else 0)
