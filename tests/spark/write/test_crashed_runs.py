"""Journal entries of a run that crashed, and other runs meanwhile."""

import pytest

from lakekit.layout import branch_name
from tests.spark.support.people import TIMED
from tests.spark.support.phases import ann, ben
from tests.spark.support.seams import around, at_the_end_of, crash_at_the_end_of


def test_an_entry_does_not_rest_on_what_a_run_in_progress_has_recorded(
    merge_changes, load, assert_rows, monkeypatch
):
    """A full extract in the journal is not merged yet: another run must not rely on it."""
    merge_changes(9, ann("Rome", 2), ann("Lima", 8), ben("Bonn", 9))
    full = {"extract": "full", "contract": TIMED, "run_id": "mine"}

    def other():
        with crash_at_the_end_of(monkeypatch, "journal"):
            load(5, ben("Bonn", 1), **full)

    at_the_end_of(monkeypatch, "baseline", other)
    merge_changes(10, ann("Bern", 4))

    load(5, ben("Bonn", 1), **full)

    assert_rows(
        (1, "Oslo", 1, 2, False),
        (1, "Rome", 2, 4, False),
        (1, "Bern", 4, 5, False),
        (1, "Lima", 8, None, True),
        (2, "Bonn", 1, None, True),
        columns="id, city",
    )


@pytest.mark.long
def test_an_empty_table_keeps_the_branch_of_a_run_that_comes_again(load, spark, table, monkeypatch):
    full = {"contract": TIMED, "run_id": "mine"}
    with crash_at_the_end_of(monkeypatch, "journal"):
        load(5, ben("Bonn", 1), **full)
    dropped = []
    around(monkeypatch, "drop branch", lambda _real, *asked: dropped.append(asked[2]))

    load(5, ben("Bonn", 1), **full)

    assert spark.table(table).count() == 1
    assert branch_name("mine") not in dropped


def test_what_a_crashed_run_has_recorded_does_not_count_yet(
    merge_changes, load, assert_rows, monkeypatch
):
    """The journal has the full extract; main does not show yet that it lacked Ann."""
    merge_changes(9, ann("Rome", 2), ann("Lima", 8))
    full = {"extract": "full", "contract": TIMED, "run_id": "mine"}
    with crash_at_the_end_of(monkeypatch, "journal"):
        load(5, ben("Bonn", 1), **full)
    merge_changes(10, ann("Bern", 4), run_id="other")

    load(5, ben("Bonn", 1), **full)

    assert_rows(
        (1, "Oslo", 1, 2, False),
        (1, "Rome", 2, 4, False),
        (1, "Bern", 4, 5, False),
        (1, "Lima", 8, None, True),
        (2, "Bonn", 1, None, True),
        columns="id, city",
    )


def test_journal_entries_of_a_run_that_is_given_up_can_be_taken_out(
    merge_changes, load, spark, table, assert_rows, monkeypatch
):
    """As the page of operations says: first its journal entries are deleted, then its branch."""
    merge_changes(9, ann("Rome", 2), ann("Lima", 8))
    with crash_at_the_end_of(monkeypatch, "journal"):
        load(5, ben("Bonn", 1), contract=TIMED, run_id="mine")
    spark.sql(f"DELETE FROM {table}_journal WHERE _run_id = 'mine'")
    name = spark.sql("SELECT concat('lakekit_', left(sha2('mine', 256), 16))").first()[0]
    spark.sql(f"ALTER TABLE {table} DROP BRANCH `{name}`")

    merge_changes(10, ann("Bern", 4), run_id="other")

    assert_rows(
        (1, "Oslo", 1, 2, False),
        (1, "Rome", 2, 4, False),
        (1, "Bern", 4, 8, False),
        (1, "Lima", 8, None, True),
        (2, "Bonn", 1, None, True),
        columns="id, city",
    )


def test_a_run_that_comes_again_does_not_meet_its_own_entries(
    merge_changes, load, assert_rows, monkeypatch
):
    """The full extract has written its journal entries before it crashed."""
    merge_changes(9, ann("Rome", 2), ann("Lima", 8))
    full = {"extract": "full", "contract": TIMED, "run_id": "mine"}
    with crash_at_the_end_of(monkeypatch, "check"):
        load(5, ben("Bonn", 1), **full)

    load(5, ben("Bonn", 1), **full)

    assert_rows(
        (1, "Oslo", 1, 2, False),
        (1, "Rome", 2, 5, False),
        (1, "Lima", 8, None, True),
        (2, "Bonn", 1, None, True),
        columns="id, city",
    )
