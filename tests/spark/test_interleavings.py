"""What happens during a merge, at the end of every phase of the commit protocol."""

import pytest

from lakekit.contract.contract import load_contract
from lakekit.spark import merge_scd2 as scd2
from lakekit.spark.iceberg import baseline as pin
from lakekit.spark.schema.create_tables import create_or_evolve
from lakekit.spark.write import write as writing
from tests.spark.later_columns import grown
from tests.spark.people import TIMED_TEXT
from tests.spark.phases import (
    PHASES,
    ann,
    assert_sound,
    at_the_end_of,
    ben,
    compaction,
    crash_at_the_end_of,
    expiry,
)
from tests.tiers import long

MERGED = [
    (1, "Oslo", 1, 3, False),
    (1, "Rome", 3, None, True),
    (2, "Bonn", 1, 3, False),
    (2, "Bern", 3, None, True),
]


def phases(*names):
    """Return all of them, of which these are not long."""
    return [phase if phase in names else long(phase) for phase in PHASES]


@pytest.mark.parametrize("wrong", ["_valid_to = timestamp_ntz '2026-01-04'", "city = 'Rome'"])
def test_versions_that_overlap_or_say_the_same_are_not_sound(told, spark, table, wrong):
    told(3, ann("Rome", 3))
    assert_sound(spark, table)
    spark.sql(f"UPDATE {table} SET {wrong} WHERE city = 'Oslo'")

    with pytest.raises(AssertionError):
        assert_sound(spark, table)


@pytest.mark.parametrize("phase", phases("plan", "check"))
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


@pytest.mark.usefixtures("both_ways_of_writing")
def test_a_column_that_comes_while_a_run_writes(told, spark, table, rows, monkeypatch):
    """It has formed its rows as the table was."""
    real, zip_code = writing._writer, load_contract(grown(TIMED_TEXT, "zip"))

    def writing_later(*asked):
        create_or_evolve(spark, zip_code, table)
        return real(*asked)

    monkeypatch.setattr(writing, "_writer", writing_later)

    told(3, ann("Rome", 3), ben("Bern", 3))

    assert rows("id, city") == MERGED
    assert spark.table(table).where("zip IS NULL").count() == len(MERGED)
    assert_sound(spark, table)


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


@pytest.mark.parametrize("phase", phases("merge", "check"))
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


@pytest.mark.parametrize("phase", [long("merge"), "check"])
def test_expiry(told, spark, table, rows, monkeypatch, phase):
    """The branch stands on snapshots that go."""
    at_the_end_of(monkeypatch, phase, lambda: spark.sql(expiry(table)).first())

    told(3, ann("Rome", 3), ben("Bern", 3))

    assert rows("id, city") == MERGED
    assert_sound(spark, table)


# Of a small table `test_writing.py` has the others.
@pytest.mark.parametrize("phase", phases("plan", "merge", "check", "fast-forward"))
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
