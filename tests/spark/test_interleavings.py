"""What happens during a merge, at the end of every phase of the commit protocol."""

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from lakekit.spark import branch, pin, publish, scd2
from tests.spark.people import REFUSED, SILENT, TIMED
from tests.spark.phases import (
    PHASES,
    ann,
    assert_sound,
    at_the_end_of,
    ben,
    crash_at_the_end_of,
)

MERGED = [
    (1, "Oslo", 1, 3, False),
    (1, "Rome", 3, None, True),
    (2, "Bonn", 1, 3, False),
    (2, "Bern", 3, None, True),
]


@pytest.fixture
def told(load: Callable[..., Any]) -> Callable[..., Any]:
    def tell(day: int, *records: dict[str, Any], **over: Any) -> Any:
        return load(day, *records, **{"extract": "changes", "promise": TIMED, **over})

    tell(1, ann("Oslo", 1), ben("Bonn", 1))
    return tell


def compaction(table: str) -> str:
    name = table.removeprefix("lake.")
    options = "options => map('rewrite-all', 'true')"
    return f"CALL lake.system.rewrite_data_files(table => '{name}', {options})"


def expiry(table: str) -> str:
    name = table.removeprefix("lake.")
    older = "older_than => TIMESTAMP '9999-01-01 00:00:00'"
    return f"CALL lake.system.expire_snapshots(table => '{name}', retain_last => 1, {older})"


@pytest.mark.parametrize("wrong", ["_valid_to = timestamp_ntz '2026-01-04'", "city = 'Rome'"])
def test_versions_that_overlap_or_say_the_same_are_not_sound(told, spark, table, wrong):
    told(3, ann("Rome", 3))
    assert_sound(spark, table)
    spark.sql(f"UPDATE {table} SET {wrong} WHERE city = 'Oslo'")

    with pytest.raises(AssertionError):
        assert_sound(spark, table)


@pytest.mark.parametrize("phase", PHASES)
def test_another_merge(told, spark, table, rows, monkeypatch, phase):
    """It touches the keys that this run touches too: before it and after it."""
    at_the_end_of(
        monkeypatch,
        phase,
        lambda: told(2, ben("Paris", 2), ann("Lima", 9), run_id="other"),
    )

    told(3, ann("Rome", 3), ben("Bern", 3))

    assert rows("id, city") == [
        (1, "Oslo", 1, 3, False),
        (1, "Rome", 3, 9, False),
        (1, "Lima", 9, None, True),
        (2, "Bonn", 1, 2, False),
        (2, "Paris", 2, 3, False),
        (2, "Bern", 3, None, True),
    ]
    assert_sound(spark, table)


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


@pytest.mark.parametrize("phase", ["plan", "facts", "check"])
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


@pytest.mark.parametrize("phase", ["plan", "branch", "told"])
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


def test_a_fact_does_not_rest_on_what_a_run_under_way_has_told(told, load, rows, monkeypatch):
    """A run reads of a full extract that is not merged yet; what it concludes is not told."""
    told(9, ann("Rome", 2), ann("Lima", 8), ben("Bonn", 9))
    full = {"extract": "full", "promise": TIMED, "run_id": "mine"}

    def other():
        with crash_at_the_end_of(monkeypatch, "facts"):
            load(5, ben("Bonn", 1), **full)

    at_the_end_of(monkeypatch, "pin", other)
    told(10, ann("Bern", 4))

    load(5, ben("Bonn", 1), **full)

    assert rows("id, city") == [
        (1, "Oslo", 1, 2, False),
        (1, "Rome", 2, 4, False),
        (1, "Bern", 4, 5, False),
        (1, "Lima", 8, None, True),
        (2, "Bonn", 1, None, True),
    ]


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


def test_the_same_run_in_another_process(told, spark, table, rows, monkeypatch):
    """It has begun the branch anew, and has closed but not yet opened."""

    def twin():
        with crash_at_the_end_of(monkeypatch, "merge"):
            told(3, ann("Rome", 3), ben("Bern", 3))

    at_the_end_of(monkeypatch, "check", twin)

    told(3, ann("Rome", 3), ben("Bern", 3))

    assert rows("id, city") == MERGED
    assert_sound(spark, table)


def test_a_change_of_the_metadata_alone_needs_no_new_plan(told, spark, table, rows, monkeypatch):
    """It comes between the last look at the branches and the commit, which it stops."""
    alter = f"ALTER TABLE {table} SET TBLPROPERTIES ('comment' = 'x')"
    plan, look, plans, met = scd2.plan_run, pin._branches, [], []

    def planned(*arguments):
        plans.append(1)
        return plan(*arguments)

    def looked(known):
        if plans and not met:
            met.append(spark.sql(alter))
        return look(known)

    monkeypatch.setattr(scd2, "plan_run", planned)
    monkeypatch.setattr(pin, "_branches", looked)

    told(3, ann("Rome", 3), ben("Bern", 3))

    assert rows("id, city") == MERGED
    assert (len(plans), len(met)) == (1, 1)


def test_an_attempt_that_tells_nothing_more_leaves_no_branch(told, spark, table, monkeypatch):
    """The deletion is told at first; then a newer record is there, and it is too late."""
    at_the_end_of(
        monkeypatch, "check", lambda: told(7, ann("Rome", 7), promise=REFUSED, run_id="other")
    )

    done = told(5, {**ann("", 5), "name": "gone"}, promise=REFUSED)

    assert (done.committed, done.quarantined) == (False, 1)
    assert not spark.sql(f"SELECT 1 FROM {table}.refs WHERE name != 'main'").collect()


def test_an_empty_table_keeps_the_branch_of_a_run_that_comes_again(load, spark, table, monkeypatch):
    full = {"promise": TIMED, "run_id": "mine"}
    with crash_at_the_end_of(monkeypatch, "facts"):
        load(5, ben("Bonn", 1), **full)
    dropped = []
    monkeypatch.setattr(branch, "drop_branch", lambda *a: dropped.append(a[2]))

    load(5, ben("Bonn", 1), **full)

    assert spark.table(table).count() == 1
    assert branch.branch_name("mine") not in dropped


def test_what_a_crashed_run_has_told_does_not_count_yet(told, load, rows, monkeypatch):
    """The companion knows of the full extract; main does not know yet that it lacked Ann."""
    told(9, ann("Rome", 2), ann("Lima", 8))
    full = {"extract": "full", "promise": TIMED, "run_id": "mine"}
    with crash_at_the_end_of(monkeypatch, "facts"):
        load(5, ben("Bonn", 1), **full)
    told(10, ann("Bern", 4), run_id="other")

    load(5, ben("Bonn", 1), **full)

    assert rows("id, city") == [
        (1, "Oslo", 1, 2, False),
        (1, "Rome", 2, 4, False),
        (1, "Bern", 4, 5, False),
        (1, "Lima", 8, None, True),
        (2, "Bonn", 1, None, True),
    ]


def test_what_a_run_has_told_that_is_given_up_can_be_taken_out(
    told, load, spark, table, rows, monkeypatch
):
    """As the page of operations says: what it told goes first, then its branch."""
    told(9, ann("Rome", 2), ann("Lima", 8))
    with crash_at_the_end_of(monkeypatch, "facts"):
        load(5, ben("Bonn", 1), promise=TIMED, run_id="mine")
    spark.sql(f"DELETE FROM {table}_facts WHERE _run_id = 'mine'")
    name = spark.sql("SELECT concat('lakekit_', left(sha2('mine', 256), 16))").first()[0]
    spark.sql(f"ALTER TABLE {table} DROP BRANCH `{name}`")

    told(10, ann("Bern", 4), run_id="other")

    assert rows("id, city") == [
        (1, "Oslo", 1, 2, False),
        (1, "Rome", 2, 4, False),
        (1, "Bern", 4, 8, False),
        (1, "Lima", 8, None, True),
        (2, "Bonn", 1, None, True),
    ]


def test_a_run_that_comes_again_does_not_meet_its_own_facts(told, load, rows, monkeypatch):
    """The full extract has told the companion of itself before it crashed."""
    told(9, ann("Rome", 2), ann("Lima", 8))
    full = {"extract": "full", "promise": TIMED, "run_id": "mine"}
    with crash_at_the_end_of(monkeypatch, "check"):
        load(5, ben("Bonn", 1), **full)

    load(5, ben("Bonn", 1), **full)

    assert rows("id, city") == [
        (1, "Oslo", 1, 2, False),
        (1, "Rome", 2, 5, False),
        (1, "Lima", 8, None, True),
        (2, "Bonn", 1, None, True),
    ]


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


@pytest.mark.parametrize("phase", PHASES)
def test_compaction_and_expiry(told, spark, table, rows, monkeypatch, phase):
    """Files are written anew, and no snapshot but the newest of each branch stays.

    iceberg #7627, #9741, #11795: a merge beside them fails, and retries do not help.
    """
    told(2, ben("Bonn", 2), {**ann("Lima", 2), "id": 3})
    calls, done = (compaction(table), expiry(table)), []
    at_the_end_of(monkeypatch, phase, lambda: done.extend(spark.sql(c).first() for c in calls))

    told(3, ann("Rome", 3), ben("Bern", 3))

    assert done[0]["rewritten_data_files_count"] > 0
    assert done[1]["deleted_manifest_lists_count"] > 0
    assert rows("id, city") == [*MERGED, (3, "Lima", 2, None, True)]
    assert_sound(spark, table)


@pytest.mark.parametrize("phase", ["merge", "check"])
def test_expiry(told, spark, table, rows, monkeypatch, phase):
    """The branch stands on snapshots that go."""
    at_the_end_of(monkeypatch, phase, lambda: spark.sql(expiry(table)).first())

    told(3, ann("Rome", 3), ben("Bern", 3))

    assert rows("id, city") == MERGED
    assert_sound(spark, table)


@pytest.mark.parametrize("phase", PHASES)
def test_a_crash_then_another_run_then_the_same_again(told, spark, table, rows, monkeypatch, phase):
    with crash_at_the_end_of(monkeypatch, phase):
        told(3, ann("Rome", 3), ben("Bern", 3), run_id="mine")
    published = phase == "fast-forward"
    assert (rows("id, city") == MERGED) is published
    told(4, ann("Lima", 4), run_id="other")

    again = told(3, ann("Rome", 3), ben("Bern", 3), run_id="mine")

    assert again.committed is not published
    assert rows("id, city") == [
        (1, "Oslo", 1, 3, False),
        (1, "Rome", 3, 4, False),
        (1, "Lima", 4, None, True),
        *MERGED[2:],
    ]
    assert_sound(spark, table)
