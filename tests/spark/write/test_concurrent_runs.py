"""Events during a merge, at the end of every phase of the commit protocol."""

import pytest

from lakekit.spark.schema.create_tables import create_or_evolve
from tests.spark.support.people import people
from tests.spark.support.phases import ann, assert_sound, ben, compaction, expiry
from tests.spark.support.seams import PHASES, around, at_the_end_of, crash_at_the_end_of
from tests.tiers import long

MERGED = [
    (1, "Oslo", 1, 3, False),
    (1, "Rome", 3, None, True),
    (2, "Bonn", 1, 3, False),
    (2, "Bern", 3, None, True),
]


def phases(*names):
    """Return all phases; only these are not long."""
    return [phase if phase in names else long(phase) for phase in PHASES]


@pytest.mark.parametrize("wrong", ["_valid_to = timestamp_ntz '2026-01-04'", long("city = 'Rome'")])
def test_versions_that_overlap_or_say_the_same_are_not_sound(merge_changes, spark, table, wrong):
    merge_changes(3, ann("Rome", 3))
    assert_sound(spark, table)
    spark.sql(f"UPDATE {table} SET {wrong} WHERE city = 'Oslo'")

    with pytest.raises(AssertionError):
        assert_sound(spark, table)


@pytest.mark.parametrize("phase", phases("check"))
def test_another_merge(merge_changes, spark, table, assert_rows, monkeypatch, phase):
    """It changes keys of this run, before and after its times."""
    at_the_end_of(
        monkeypatch,
        phase,
        lambda: merge_changes(2, ben("Paris", 2), ann("Lima", 9), run_id="other"),
    )

    merge_changes(3, ann("Rome", 3), ben("Bern", 3))

    assert_rows(
        (1, "Oslo", 1, 3, False),
        (1, "Rome", 3, 9, False),
        (1, "Lima", 9, None, True),
        (2, "Bonn", 1, 2, False),
        (2, "Paris", 2, 3, False),
        (2, "Bern", 3, None, True),
        columns="id, city",
    )
    assert_sound(spark, table)


@pytest.mark.usefixtures("both_ways_of_writing")
def test_a_column_that_comes_while_a_run_writes(
    merge_changes, spark, table, assert_rows, monkeypatch
):
    """Its rows have the columns that the table had."""

    def writing_later(real, *asked):
        create_or_evolve(spark, people(columns={"zip": "string"}, sequence_by="at"), table)
        return real(*asked)

    around(monkeypatch, "append", writing_later)

    merge_changes(3, ann("Rome", 3), ben("Bern", 3))

    assert_rows(*MERGED, columns="id, city")
    assert spark.table(table).where("zip IS NULL").count() == len(MERGED)
    assert_sound(spark, table)


def test_the_same_run_in_another_process(merge_changes, spark, table, assert_rows, monkeypatch):
    """It has begun the branch again, and has closed but not yet opened."""

    def twin():
        with crash_at_the_end_of(monkeypatch, "merge"):
            merge_changes(3, ann("Rome", 3), ben("Bern", 3))

    at_the_end_of(monkeypatch, "check", twin)

    merge_changes(3, ann("Rome", 3), ben("Bern", 3))

    assert_rows(*MERGED, columns="id, city")
    assert_sound(spark, table)


def test_a_change_of_the_metadata_alone_needs_no_new_plan(
    merge_changes, spark, table, assert_rows, monkeypatch
):
    """It comes between the last check of the branches and the commit, which fails."""
    alter = f"ALTER TABLE {table} SET TBLPROPERTIES ('comment' = 'x')"
    plans, met = [], []

    def planned(plan, *arguments):
        plans.append(1)
        return plan(*arguments)

    def looked(look, known):
        if plans and not met:
            met.append(spark.sql(alter))
        return look(known)

    around(monkeypatch, "plan", planned)
    around(monkeypatch, "baseline of branches", looked)

    merge_changes(3, ann("Rome", 3), ben("Bern", 3))

    assert_rows(*MERGED, columns="id, city")
    assert (len(plans), len(met)) == (1, 1)


@pytest.mark.parametrize("phase", phases("check"))
def test_compaction_and_expiry(merge_changes, spark, table, assert_rows, monkeypatch, phase):
    """Files are rewritten, and no snapshot but the newest of each branch stays.

    iceberg #7627, #9741, #11795: a merge at the same time fails, and retries do not help.
    """
    merge_changes(2, ben("Bonn", 2), {**ann("Lima", 2), "id": 3})
    calls, done = (compaction(table), expiry(table)), []
    at_the_end_of(monkeypatch, phase, lambda: done.extend(spark.sql(c).first() for c in calls))

    merge_changes(3, ann("Rome", 3), ben("Bern", 3))

    assert done[0]["rewritten_data_files_count"] > 0
    assert done[1]["deleted_manifest_lists_count"] > 0
    assert_rows(*MERGED, (3, "Lima", 2, None, True), columns="id, city")
    assert_sound(spark, table)


@pytest.mark.parametrize("phase", [long("merge"), "check"])
def test_expiry(merge_changes, spark, table, assert_rows, monkeypatch, phase):
    """The branch descends from snapshots that expire."""
    at_the_end_of(monkeypatch, phase, lambda: spark.sql(expiry(table)).first())

    merge_changes(3, ann("Rome", 3), ben("Bern", 3))

    assert_rows(*MERGED, columns="id, city")
    assert_sound(spark, table)


# `write/test_write.py` has the others for a small table.
@pytest.mark.parametrize("phase", phases("merge"))
def test_a_crash_then_another_run_then_the_same_again(
    merge_changes, spark, table, rows, monkeypatch, phase
):
    with crash_at_the_end_of(monkeypatch, phase):
        merge_changes(3, ann("Rome", 3), ben("Bern", 3), run_id="mine")
    published = phase == "fast-forward"
    assert (rows("id, city") == MERGED) is published
    merge_changes(4, ann("Lima", 4), run_id="other")

    again = merge_changes(3, ann("Rome", 3), ben("Bern", 3), run_id="mine")

    assert again.committed is not published
    assert rows("id, city") == [
        (1, "Oslo", 1, 3, False),
        (1, "Rome", 3, 4, False),
        (1, "Lima", 4, None, True),
        *MERGED[2:],
    ]
    assert_sound(spark, table)
