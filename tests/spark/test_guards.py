"""What each guard is there for: with the guard taken out, the history goes wrong."""

import pytest
from pyspark.sql import functions as F

from lakekit.contract.contract import load_contract
from lakekit.errors import InvariantViolatedError
from lakekit.spark import merge_scd2 as scd2
from lakekit.spark.iceberg import baseline as pin
from lakekit.spark.iceberg.table import main_snapshot
from lakekit.spark.journal import Facts
from lakekit.spark.plan import stage
from lakekit.spark.write import publish
from lakekit.sql import row_hash
from lakekit.sql.identifiers import quote
from tests.spark.people import BEN, CONTRACT, SILENT, TIMED
from tests.spark.phases import ann, at_the_end_of, crash_at_the_end_of

ANN = ann("Oslo", 1)


def test_without_the_last_look_main_moves_to_what_does_not_come_from_it(
    load, rows, spark, monkeypatch
):
    """Compare-and-swap: what another run published meanwhile is gone.

    With the guard: `test_interleavings.py::test_another_merge[check]`.
    """

    def move_anyway(spark, table, _branch, head, *_):
        spark.sql(f"ALTER TABLE {table} CREATE OR REPLACE BRANCH main AS OF VERSION {head}")
        return True

    load(1, ANN, extract="incremental")
    monkeypatch.setattr(publish, "fast_forward", move_anyway)
    at_the_end_of(monkeypatch, "check", lambda: load(2, BEN, extract="incremental", run_id="other"))

    load(3, {**ANN, "city": "Rome"}, extract="incremental")

    assert {row[0] for row in rows()} == {1}


@pytest.mark.parametrize("counted", [True, False])
def test_without_the_first_look_what_was_planned_on_another_head_is_published(
    load, rows, table, spark, monkeypatch, counted
):
    """The branch begins where the plan did not: a newer version is closed before its start.

    With the guard: `test_interleavings.py::test_another_merge[plan]`.
    """
    real, refused, refuse = publish.open_branch, [], publish.refuse_miscounted

    def count_rows(*asked):
        try:
            refuse(*asked)
        except InvariantViolatedError as error:
            refused.append(str(error))
            raise

    def open_anywhere(spark, table, branch, _head, work):
        return real(spark, table, branch, main_snapshot(spark, table), work)

    load(1, ANN, extract="incremental", promise=TIMED)
    counting = count_rows if counted else lambda *_: None
    monkeypatch.setattr(publish, "refuse_miscounted", counting)
    monkeypatch.setattr(publish, "open_branch", open_anywhere)
    monkeypatch.setattr(pin.Pin, "stands", lambda *_, **__: True)
    later = {**ANN, "city": "Lima", "at": "2026-01-05T00:00:00Z"}
    at_the_end_of(
        monkeypatch, "plan",
        lambda: load(5, later, extract="incremental", promise=TIMED, run_id="other"),
    )  # fmt: skip

    rome = {**ANN, "city": "Rome", "at": "2026-01-03T00:00:00Z"}
    # Where rows are counted, they are more than planned: as main has moved, it is planned again.
    load(3, rome, extract="incremental", promise=TIMED)

    wrong = spark.table(table).where("_valid_to < _valid_from")
    assert wrong.count() == (0 if counted else 1)
    assert [each.partition("it ")[2] for each in refused] == (
        ["should add 1 rows; there are 2 more"] if counted else []
    )


def test_without_a_look_at_the_companion_a_run_that_only_told_it_is_not_noticed(
    load, rows, monkeypatch
):
    """Main has not moved: the version that was said again does not come back.

    With the guard:
    `test_interleavings_told.py::test_another_run_that_only_tells_the_companion[check]`.
    """
    load(1, ANN, extract="incremental", promise=SILENT)
    monkeypatch.setattr(pin.Pin, "_tellers", lambda *_: iter(()))
    again = {**ANN, "at": "2026-01-05T00:00:00Z"}
    at_the_end_of(
        monkeypatch, "check",
        lambda: load(5, again, extract="incremental", promise=SILENT, run_id="other"),
    )  # fmt: skip

    rome = {**ANN, "city": "Rome", "at": "2026-01-03T00:00:00Z"}
    load(6, rome, extract="incremental", promise=SILENT)

    assert rows("id, city") == [(1, "Oslo", 1, 3, False), (1, "Rome", 3, None, True)]


def test_without_the_branches_what_a_run_under_way_has_told_counts(load, rows, monkeypatch):
    """Ann is taken for present in an extract that lacked her.

    With the guard:
    `test_interleavings_crashed.py::test_what_a_crashed_run_has_told_does_not_count_yet`.
    """
    ben = {**BEN, "at": "2026-01-01T00:00:00Z"}
    rome = {**ANN, "city": "Rome", "at": "2026-01-02T00:00:00Z"}
    lima = {**ANN, "city": "Lima", "at": "2026-01-08T00:00:00Z"}
    load(9, ANN, ben, rome, lima, extract="incremental", promise=TIMED)
    with crash_at_the_end_of(monkeypatch, "check"):
        load(5, ben, promise=TIMED, run_id="mine")
    monkeypatch.setattr(
        scd2, "Facts", lambda merge, _under_way, commits: Facts(merge, commits=commits)
    )
    bern = {**ANN, "city": "Bern", "at": "2026-01-04T00:00:00Z"}
    load(10, bern, extract="incremental", promise=TIMED, run_id="other")

    load(5, ben, promise=TIMED, run_id="mine")

    assert next(row[3] for row in rows("id, city") if row[1] == "Bern") == 8


@pytest.fixture(params=[True, False], ids=["with the guard", "without"])
def guarded(request):
    return request.param


def test_a_run_that_main_shows_is_not_merged_again(load, spark, table, monkeypatch, guarded):
    """Evidence: without it, a replay doubles what has no key."""
    all_of_it = load_contract(CONTRACT.replace("keys: [id], max_deleted_ratio: 1", "mode: append"))
    load(1, ANN, BEN, promise=all_of_it, extract="incremental")
    if not guarded:
        real = scd2.published_runs
        first = []

        def none_at_first(*arguments):
            seen = real(*arguments) if first else {}
            first.append(1)
            return seen

        monkeypatch.setattr(scd2, "published_runs", none_at_first)

    load(1, ANN, BEN, promise=all_of_it, extract="incremental")

    assert spark.table(table).count() == (2 if guarded else 4)


def test_records_of_one_key_have_a_total_order(load, spark, table, monkeypatch, guarded):
    """Position: without it any record of a moment may win, here the first and not the last."""
    if not guarded:
        monkeypatch.setattr(
            stage, "with_position", lambda rows, _: rows.withColumn("__position", F.lit(0))
        )
    twice = [{**BEN, "id": key, "city": city} for key in range(50) for city in ("Bonn", "Bern")]

    load(1, *twice)

    cities = {row["city"] for row in spark.table(table).collect()}
    assert (cities == {"Bern"}) is guarded


def test_a_value_and_a_null_that_change_places_are_a_change(load, monkeypatch, guarded):
    """Null mask, by column: without it, both states have one hash and the change is lost."""
    if not guarded:
        monkeypatch.setattr(row_hash, "_column_hash", lambda c: f"xxhash64({quote(c.name)})")
    load(1, {"id": 1, "name": None, "city": "x"})

    done = load(2, {"id": 1, "name": "x", "city": None})

    assert done.opened == (1 if guarded else 0)
