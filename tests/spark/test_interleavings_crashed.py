"""What a run that crashed has told the companion already, and what others make of it meanwhile."""

from lakekit.spark.iceberg import branch
from tests.spark.people import TIMED
from tests.spark.phases import ann, at_the_end_of, ben, crash_at_the_end_of


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
