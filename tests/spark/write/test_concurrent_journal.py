"""Another run during a merge; one of them writes journal entries that no version shows."""

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from tests.spark.support.people import REFUSED, SILENT, TIMED
from tests.spark.support.phases import ann, ben, compaction, expiry
from tests.spark.support.seams import around, at_the_end_of, crash_at_the_end_of
from tests.tiers import long

AGAIN = [
    (1, "Oslo", 1, 3, False),
    (1, "Rome", 3, 5, False),
    (1, "Oslo", 5, None, True),
    (2, "Bonn", 1, None, True),
]


@pytest.fixture
def silent(merge_changes: Callable[..., Any]) -> Callable[..., Any]:
    """Merge records that repeat the current content: only the journal records them."""
    return partial(merge_changes, contract=SILENT)


@pytest.mark.parametrize("phase", [long("plan"), long("journal"), "check"])
def test_another_run_that_only_writes_the_journal(
    silent, spark, table, assert_rows, monkeypatch, phase
):
    """Oslo, repeated at 5, shows in no version until Rome at 3 comes in between."""

    def other():
        silent(5, ann("Oslo", 5), run_id="other")
        if phase == "check":
            for call in (compaction, expiry):
                spark.sql(call(f"{table}_journal")).collect()

    at_the_end_of(monkeypatch, phase, other)

    silent(6, ann("Rome", 3))

    assert_rows(*AGAIN, columns="id, city")


@pytest.mark.parametrize("phase", [long("plan"), long("branch"), "journal alone"])
def test_another_merge_while_a_run_only_writes_the_journal(silent, assert_rows, monkeypatch, phase):
    at_the_end_of(monkeypatch, phase, lambda: silent(6, ann("Rome", 3), run_id="other"))

    done = silent(5, ann("Oslo", 5))

    assert_rows(*AGAIN, columns="id, city")
    assert done.committed


def test_two_runs_that_only_write_the_journal(silent, table, spark, assert_rows, monkeypatch):
    at_the_end_of(monkeypatch, "branch", lambda: silent(7, ben("Bonn", 7), run_id="other"))
    assert not silent(5, ann("Oslo", 5)).committed

    silent(8, ann("Rome", 3), ben("Rome", 3))

    assert_rows(
        *AGAIN[:3],
        (2, "Bonn", 1, 3, False),
        (2, "Rome", 3, 7, False),
        (2, "Bonn", 7, None, True),
        columns="id, city",
    )
    assert not spark.sql(f"SELECT 1 FROM {table}.refs WHERE name != 'main'").collect()


def test_runs_that_write_the_journal_at_one_time_do_not_stop_each_other_for_ever(
    merge_changes, load, monkeypatch
):
    """Whenever this run would publish, the other has written its entries once more."""
    met = []

    def after_the_other(real, *arguments):
        met.append(1)
        with crash_at_the_end_of(monkeypatch, "check"):
            load(5, ben("Bonn", 1), contract=TIMED, run_id="other")
        return real(*arguments)

    merge_changes(2, ann("Lima", 2))
    around(monkeypatch, "fast-forward", after_the_other)

    assert merge_changes(6, ann("Rome", 6)).committed
    assert len(met) == 2


@pytest.mark.long
def test_an_attempt_that_records_nothing_more_leaves_no_branch(
    merge_changes, spark, table, monkeypatch
):
    """The deletion is recorded at first; then a newer record is there, and it is too late."""
    at_the_end_of(
        monkeypatch,
        "check",
        lambda: merge_changes(7, ann("Rome", 7), contract=REFUSED, run_id="other"),
    )

    done = merge_changes(5, {**ann("", 5), "name": "deleted"}, contract=REFUSED)

    assert (done.committed, done.quarantined) == (False, 1)
    assert not spark.sql(f"SELECT 1 FROM {table}.refs WHERE name != 'main'").collect()


@pytest.mark.long
def test_what_the_second_attempt_hides_is_known_too(merge_changes, assert_rows, monkeypatch):
    """The first attempt has already recorded in the journal that Bonn was repeated."""
    at_the_end_of(monkeypatch, "check", lambda: merge_changes(2, ann("Rome", 8), run_id="other"))
    merge_changes(3, ann("Rome", 5), ben("Bonn", 3))

    merge_changes(4, ann("Lima", 6))

    assert_rows(
        (1, "Oslo", 1, 5, False),
        (1, "Rome", 5, 6, False),
        (1, "Lima", 6, 8, False),
        (1, "Rome", 8, None, True),
        (2, "Bonn", 1, None, True),
        columns="id, city",
    )
