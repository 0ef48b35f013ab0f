"""What each guard is there for: with the guard taken out, the history goes wrong."""

from functools import partial

import pytest
from pyspark.sql import functions as F

from lakekit.contracts import load_contract
from lakekit.errors import InvariantViolatedError
from lakekit.spark import balance, pin, publish, scd2, small, stage, writing
from lakekit.spark.facts import Facts
from lakekit.spark.iceberg import main_snapshot
from lakekit.sql import row_hash
from lakekit.sql.identifiers import quote
from tests.spark.people import CONTRACT, MOVED, SILENT, TIMED
from tests.spark.phases import at_the_end_of, crash_at_the_end_of

ANN = {"id": 1, "name": "Ann", "city": "Oslo", "at": "2026-01-01T00:00:00Z"}
BEN = {"id": 2, "name": "Ben", "city": "Bonn"}


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
    real, refused = publish.open_branch, []

    def count_rows(*asked):
        try:
            balance.refuse_miscounted(*asked)
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
    monkeypatch.setattr(scd2, "Facts", lambda merge, _under_way: Facts(merge))
    bern = {**ANN, "city": "Bern", "at": "2026-01-04T00:00:00Z"}
    load(10, bern, extract="incremental", promise=TIMED, run_id="other")

    load(5, ben, promise=TIMED, run_id="mine")

    assert next(row[3] for row in rows("id, city") if row[1] == "Bern") == 8


def only(condition):
    return lambda real, merge, branch, rows: real(merge, branch, rows.where(condition))


def twice(real, *arguments):
    for _ in range(2):
        real(*arguments)


EVA = {"id": 3, "name": "Eva", "city": "Graz", "at": "2026-01-01T00:00:00Z"}
LIMA = {**ANN, "city": "Lima", "at": "2026-01-05T00:00:00Z"}
ROME = {**ANN, "city": "Rome", "at": "2026-01-03T00:00:00Z"}
MARKED = load_contract(CONTRACT.replace("keys: [id]", "keys: [id], deletes: mark"))
APPENDED = load_contract(CONTRACT.replace("keys: [id]", "mode: append, keys: [id]"))
APPEND = (writing, "_append")
# The contract, two runs, what goes wrong in the second, and up to how many bytes it overwrites.
LOSSES = {
    "all": (TIMED, [[ANN], [ROME]], publish, "write", lambda *_: None, -1),
    "what a late change cuts": (TIMED, [[ANN, LIMA], [ROME]], *APPEND, only("_is_current"), -1),
    "what ends within its run": (TIMED, [[ANN], [ROME, LIMA]], *APPEND, only("_is_current"), -1),
    "what says deleted": (MARKED, [[ANN, BEN], [BEN]], *APPEND, only("NOT _is_deleted"), -1),
    "a key beside": (TIMED, [[ANN, EVA], [ROME]], writing, "_writer", only("id != 3"), 1 << 20),
    "nothing, but doubled": (APPENDED, [[ANN], [BEN]], *APPEND, twice, -1),
}  # fmt: skip


@pytest.mark.parametrize("loss", LOSSES)
def test_a_branch_that_lacks_rows_or_has_too_many_is_refused(load, spark, table, monkeypatch, loss):
    """Of each key the current versions are as many as they should be."""
    contract, (first, second), place, step, damaged, overwritten = LOSSES[loss]
    monkeypatch.setattr(small, "FEW_BYTES", overwritten)
    extract = "full" if contract is MARKED else "incremental"
    load(1, *first, promise=contract, extract=extract)
    before = sorted(map(str, spark.table(table).collect()))

    with (
        monkeypatch.context() as patch,
        pytest.raises(InvariantViolatedError, match=r"should|last"),
    ):
        patch.setattr(place, step, partial(damaged, getattr(place, step)))
        load(6, *second, promise=contract, extract=extract)

    assert sorted(map(str, spark.table(table).collect())) == before
    assert load(6, *second, promise=contract, extract=extract).committed


def test_where_the_totals_are_not_certain_the_rows_are_counted(load, spark, table, monkeypatch):
    """A row that two lists of deleted rows name is twice in the totals."""
    load(1, ANN, EVA, promise=TIMED, extract="incremental")
    monkeypatch.setattr(balance, "_live", lambda _: 0)

    assert load(6, ROME, promise=TIMED, extract="incremental").committed

    with pytest.raises(InvariantViolatedError, match="should add 2 rows; there are 1 more"):
        monkeypatch.setattr(writing, "_append", partial(only("_is_current"), writing._append))
        load(7, LIMA, {**ANN, "at": "2026-01-07"}, promise=TIMED, extract="incremental")
    assert spark.table(table).count() == 3


def test_where_the_totals_are_certain_no_row_is_counted(load, monkeypatch):
    """A table is overwritten after deltas, too: their lists of deleted rows go with the files."""
    monkeypatch.setattr(balance, "count_rows", lambda *_: pytest.fail("rows are counted"))

    for day, few in enumerate((-1, -1, -1, 8 << 20, 8 << 20, -1, 8 << 20), start=1):
        monkeypatch.setattr(small, "FEW_BYTES", few)
        assert load(day, {**ANN, "city": f"Town {day}"}, EVA).committed


def test_beside_a_head_that_has_expired_nothing_is_counted(load, monkeypatch):
    """That main has moved is found by the last look."""
    counted = balance.refuse_miscounted
    monkeypatch.setattr(balance, "count_rows", lambda *_: pytest.fail("rows are counted"))
    monkeypatch.setattr(
        publish,
        "refuse_miscounted",
        lambda merge, branch, _, head, __: counted(merge, branch, 1, head, 9),
    )

    assert load(1, ANN).committed


def test_where_main_has_moved_a_wrong_branch_is_planned_again(load, rows, monkeypatch):
    """The run's other process published, and took the branch away while a commit was made."""

    def refuse(*_):
        monkeypatch.undo()
        monkeypatch.setattr(small, "FEW_BYTES", -1)
        load(2, {**BEN, "city": "Bern"}, extract="incremental", run_id="other")
        raise InvariantViolatedError("two current versions")

    load(1, ANN, BEN)
    monkeypatch.setattr(publish, "_check", refuse)

    done = load(3, {**ANN, "city": "Rome"}, extract="incremental")

    assert done.committed
    assert [row[2:5] for row in rows()] == [
        ("Oslo", 1, 3), ("Rome", 3, None), ("Bonn", 1, 2), ("Bern", 2, None),
    ]  # fmt: skip


DAMAGE = [
    ("_append", twice),
    ("_append", lambda *_: None),
    ("close", lambda *_: None),
]


def test_a_branch_on_which_a_key_has_two_current_versions_or_none_is_refused(
    load, rows, spark, table, monkeypatch
):
    """The check: the opened versions come twice, or not at all, or nothing is closed."""
    load(1, ANN, BEN)
    before = rows()
    for step, damaged in DAMAGE:
        refused = pytest.raises(InvariantViolatedError, match="should leave 1 of its keys")
        with monkeypatch.context() as patch, refused:
            patch.setattr(writing, step, partial(damaged, getattr(writing, step)))
            load(2, {**ANN, "city": "Rome"}, BEN)

    assert rows() == before
    assert spark.table(f"{table}.history").count() == 1
    assert [row["name"] for row in spark.table(f"{table}.refs").collect()] == ["main"]
    load(2, {**ANN, "city": "Rome"}, BEN)
    assert rows() == MOVED


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
