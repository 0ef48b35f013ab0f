"""A branch is checked before main moves to it: lost and doubled rows are found."""

import pytest

from lakekit.errors import InvariantViolatedError
from tests.spark.support.people import BEN, MOVED, TIMED, people
from tests.spark.support.phases import ann
from tests.spark.support.seams import around, tune
from tests.tiers import long

ANN = ann("Oslo", 1)
EVA = {"id": 3, "name": "Eva", "city": "Graz", "at": "2026-01-01T00:00:00Z"}
LIMA = {**ANN, "city": "Lima", "at": "2026-01-05T00:00:00Z"}
ROME = {**ANN, "city": "Rome", "at": "2026-01-03T00:00:00Z"}
MARKED = people(deletes="mark")
APPENDED = people(mode="append")


def only(condition):
    return lambda real, run, branch, rows: real(run, branch, rows.where(condition))


def twice(real, run, branch, rows):
    return real(run, branch, rows.unionByName(rows))


# The contract, two runs, the fault of the second, and up to how many bytes it overwrites.
LOSSES = {
    "all": (TIMED, [[ANN], [ROME]], "write", lambda *_: None, -1),
    "what a late change cuts": (TIMED, [[ANN, LIMA], [ROME]], "append", only("_is_current"), -1),
    "what ends within its run": (TIMED, [[ANN], [ROME, LIMA]], "append", only("_is_current"), -1),
    "what says deleted": (MARKED, [[ANN, BEN], [BEN]], "append", only("NOT _is_deleted"), -1),
    "a key next to it": (TIMED, [[ANN, EVA], [ROME]], "append", only("id != 3"), 1 << 20),
    "nothing, but doubled": (APPENDED, [[ANN], [BEN]], "append", twice, -1),
}  # fmt: skip


@pytest.mark.parametrize(
    "loss",
    [
        long("all"),
        "what a late change cuts",
        long("what ends within its run"),
        long("what says deleted"),
        long("a key next to it"),
        "nothing, but doubled",
    ],
)
def test_a_branch_that_lacks_rows_or_has_too_many_is_refused(
    load, spark, table, monkeypatch, tuned, loss
):
    """The number of current versions of each key is right."""
    contract, (first, second), step, damaged, overwritten = LOSSES[loss]
    tuned(few_bytes=overwritten)
    extract = "full" if contract is MARKED else "incremental"
    load(1, *first, contract=contract, extract=extract)
    before = sorted(map(str, spark.table(table).collect()))

    with (
        monkeypatch.context() as patch,
        pytest.raises(InvariantViolatedError, match=r"should|last"),
    ):
        around(patch, step, damaged)
        load(6, *second, contract=contract, extract=extract)

    assert sorted(map(str, spark.table(table).collect())) == before
    assert load(6, *second, contract=contract, extract=extract).committed


def test_where_the_totals_are_not_certain_the_rows_are_counted(load, spark, table, monkeypatch):
    """A row that two lists of deleted rows name is twice in the totals."""
    load(1, ANN, EVA, contract=TIMED, extract="incremental")
    around(monkeypatch, "totals", lambda *_: 0)

    assert load(6, ROME, contract=TIMED, extract="incremental").committed

    with pytest.raises(InvariantViolatedError, match="should add 2 rows; there are 1 more"):
        around(monkeypatch, "append", only("_is_current"))
        load(7, LIMA, {**ANN, "at": "2026-01-07"}, contract=TIMED, extract="incremental")
    assert spark.table(table).count() == 3


def test_where_the_totals_are_certain_no_row_is_counted(load, monkeypatch, tuned):
    """A table is overwritten after deltas, too: their lists of deleted rows go with the files."""
    around(monkeypatch, "count rows", lambda *_: pytest.fail("rows are counted"))

    for day, few in enumerate((-1, -1, -1, 8 << 20, 8 << 20, -1, 8 << 20), start=1):
        tuned(few_bytes=few)
        assert load(day, {**ANN, "city": f"Town {day}"}, EVA).committed


def test_nothing_is_counted_after_a_head_that_has_expired(load, monkeypatch):
    """The last check finds that main has moved."""
    around(monkeypatch, "count rows", lambda *_: pytest.fail("rows are counted"))
    around(
        monkeypatch,
        "check totals",
        lambda check, merge, branch, _, head, __: check(merge, branch, 1, head, 9),
    )

    assert load(1, ANN).committed


def test_where_main_has_moved_a_wrong_branch_is_planned_again(load, rows, monkeypatch):
    """The run's other process published, and took the branch away while a commit was made."""

    def refuse(*_):
        monkeypatch.undo()
        tune(monkeypatch, few_bytes=-1)
        load(2, {**BEN, "city": "Bern"}, extract="incremental", run_id="other")
        raise InvariantViolatedError("two current versions")

    load(1, ANN, BEN)
    around(monkeypatch, "check", refuse)

    done = load(3, {**ANN, "city": "Rome"}, extract="incremental")

    assert done.committed
    assert [row[2:5] for row in rows()] == [
        ("Oslo", 1, 3), ("Rome", 3, None), ("Bonn", 1, 2), ("Bern", 2, None),
    ]  # fmt: skip


DAMAGE = [
    ("append", twice),
    ("append", only("false")),
    ("close versions", lambda *_: None),
]


def test_a_branch_on_which_a_key_has_two_current_versions_or_none_is_refused(
    load, assert_rows, rows, spark, table, monkeypatch
):
    """The opened versions are there twice, or not at all, or nothing is closed."""
    load(1, ANN, BEN)
    before = rows()
    for step, damaged in DAMAGE:
        refused = pytest.raises(InvariantViolatedError, match="should leave 1 of its keys")
        with monkeypatch.context() as patch, refused:
            around(patch, step, damaged)
            load(2, {**ANN, "city": "Rome"}, BEN)

    assert rows() == before
    assert spark.table(f"{table}.history").count() == 1
    assert [row["name"] for row in spark.table(f"{table}.refs").collect()] == ["main"]
    load(2, {**ANN, "city": "Rome"}, BEN)
    assert_rows(*MOVED)
