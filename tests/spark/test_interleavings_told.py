"""Another run during a merge, where one of them tells the companion what no version shows."""

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from lakekit.spark.write import publish
from tests.spark.people import REFUSED, SILENT, TIMED
from tests.spark.phases import ann, at_the_end_of, ben, compaction, crash_at_the_end_of, expiry
from tests.tiers import long

AGAIN = [
    (1, "Oslo", 1, 3, False),
    (1, "Rome", 3, 5, False),
    (1, "Oslo", 5, None, True),
    (2, "Bonn", 1, None, True),
]


@pytest.fixture
def silent(told: Callable[..., Any]) -> Callable[..., Any]:
    """What says again what is known moves no main: it is told to the companion alone."""
    return partial(told, promise=SILENT)


@pytest.mark.parametrize("phase", [long("plan"), long("facts"), "check"])
def test_another_run_that_only_tells_the_companion(silent, spark, table, rows, monkeypatch, phase):
    """That Oslo was said again at 5 shows in no version, until Rome at 3 comes between."""

    def other():
        silent(5, ann("Oslo", 5), run_id="other")
        if phase == "check":
            for call in (compaction, expiry):
                spark.sql(call(f"{table}_facts")).collect()

    at_the_end_of(monkeypatch, phase, other)

    silent(6, ann("Rome", 3))

    assert rows("id, city") == AGAIN


@pytest.mark.parametrize("phase", [long("plan"), "branch", "told"])
def test_another_merge_while_a_run_only_tells_the_companion(silent, rows, monkeypatch, phase):
    at_the_end_of(monkeypatch, phase, lambda: silent(6, ann("Rome", 3), run_id="other"))

    done = silent(5, ann("Oslo", 5))

    assert rows("id, city") == AGAIN
    assert done.committed


def test_two_runs_that_only_tell_the_companion(silent, table, spark, rows, monkeypatch):
    at_the_end_of(monkeypatch, "branch", lambda: silent(7, ben("Bonn", 7), run_id="other"))
    assert not silent(5, ann("Oslo", 5)).committed

    silent(8, ann("Rome", 3), ben("Rome", 3))

    assert rows("id, city") == [
        *AGAIN[:3],
        (2, "Bonn", 1, 3, False),
        (2, "Rome", 3, 7, False),
        (2, "Bonn", 7, None, True),
    ]
    assert not spark.sql(f"SELECT 1 FROM {table}.refs WHERE name != 'main'").collect()


def test_runs_that_tell_at_one_time_do_not_stop_each_other_for_ever(told, load, monkeypatch):
    """Whenever this one would publish, the other has told its facts once more."""
    real, met = publish.fast_forward, []

    def after_the_other(*arguments):
        met.append(1)
        with crash_at_the_end_of(monkeypatch, "check"):
            load(5, ben("Bonn", 1), promise=TIMED, run_id="other")
        return real(*arguments)

    told(2, ann("Lima", 2))
    monkeypatch.setattr(publish, "fast_forward", after_the_other)

    assert told(6, ann("Rome", 6)).committed
    assert len(met) == 2


def test_an_attempt_that_tells_nothing_more_leaves_no_branch(told, spark, table, monkeypatch):
    """The deletion is told at first; then a newer record is there, and it is too late."""
    at_the_end_of(
        monkeypatch, "check", lambda: told(7, ann("Rome", 7), promise=REFUSED, run_id="other")
    )

    done = told(5, {**ann("", 5), "name": "gone"}, promise=REFUSED)

    assert (done.committed, done.quarantined) == (False, 1)
    assert not spark.sql(f"SELECT 1 FROM {table}.refs WHERE name != 'main'").collect()


def test_what_the_second_attempt_hides_is_known_too(told, rows, monkeypatch):
    """The first attempt has told the companion something already: that Bonn was said again."""
    at_the_end_of(monkeypatch, "check", lambda: told(2, ann("Rome", 8), run_id="other"))
    told(3, ann("Rome", 5), ben("Bonn", 3))

    told(4, ann("Lima", 6))

    assert rows("id, city") == [
        (1, "Oslo", 1, 5, False),
        (1, "Rome", 5, 6, False),
        (1, "Lima", 6, 8, False),
        (1, "Rome", 8, None, True),
        (2, "Bonn", 1, None, True),
    ]
