"""A branch is looked at before main moves to it: rows that are lost or doubled are found."""

from functools import partial

import pytest

from lakekit.contract.contract import load_contract
from lakekit.errors import InvariantViolatedError
from lakekit.spark.session import tuning as small
from lakekit.spark.write import publish
from lakekit.spark.write import publish as balance
from lakekit.spark.write import write as writing
from tests.spark.people import BEN, CONTRACT, MOVED, TIMED
from tests.spark.phases import ann

ANN = ann("Oslo", 1)
EVA = {"id": 3, "name": "Eva", "city": "Graz", "at": "2026-01-01T00:00:00Z"}
LIMA = {**ANN, "city": "Lima", "at": "2026-01-05T00:00:00Z"}
ROME = {**ANN, "city": "Rome", "at": "2026-01-03T00:00:00Z"}
MARKED = load_contract(CONTRACT.replace("keys: [id]", "keys: [id], deletes: mark"))
APPENDED = load_contract(CONTRACT.replace("keys: [id]", "mode: append, keys: [id]"))
APPEND = (writing, "_append")


def only(condition):
    return lambda real, merge, branch, rows: real(merge, branch, rows.where(condition))


def twice(real, *arguments):
    for _ in range(2):
        real(*arguments)


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
