"""Columns that a table gets later, and full extracts: what they fill in, and what they end.

A record is named by its day of January, the day it holds from; a run by the day of its extract.
"""

import pytest

from lakekit.contract.contract import load_contract
from lakekit.layout import facts_table
from lakekit.spark.plan import plan
from lakekit.spark.schema.create_tables import create_or_evolve
from tests.spark.late import TEXT, at, told
from tests.spark.later_columns import GROWN, ZIP, contracts
from tests.tiers import long


@pytest.fixture
def nothing_is_settled(monkeypatch):
    def settle(*_):
        raise AssertionError("keys are derived anew")

    monkeypatch.setattr(plan, "settle", settle)


@pytest.mark.usefixtures("nothing_is_settled")
def test_the_first_full_extract_with_a_column_fills_it_in_and_derives_no_key_anew(
    load, rows, spark, table
):
    told(load, "full", 1, at(1, "a"), at(1, "b", id=2))
    # The second says something again that shows in no version.
    told(load, "full", 3, at(1, "a"), at(2, "b", id=2))
    create_or_evolve(spark, ZIP, table)
    known = spark.table(facts_table(table)).where("_op = 'U' AND id = 1")

    done = told(load, "full", 5, at(1, "a", zip="x"), at(2, "b", id=2, zip="y"), promise=ZIP)

    assert (done.opened, done.closed, done.restored, done.unchanged) == (0, 0, 0, 2)
    assert rows("id, name, zip") == [(1, "a", "x", 1, None, True), (2, "b", "y", 1, None, True)]
    assert known.count() == 0


@pytest.mark.parametrize("day", [long(1), 2])
def test_what_is_told_only_after_a_full_extract_is_a_change(load, rows, spark, table, day):
    told(load, "full", 1, at(1, "a"), at(1, "b", id=2))
    told(load, "full", 3, at(day, "a"), at(1, "b", id=2))
    create_or_evolve(spark, ZIP, table)
    told(load, "full", 5, at(day, "a"), at(1, "b", id=2, zip="y"), promise=ZIP)

    told(load, "changes", 7, at(6, "a", zip="x"), at(4, "c", id=2, zip="y"), promise=ZIP)
    told(load, "changes", 8, at(7, "a", zip="x"), at(4, "a", zip="x"), promise=ZIP)

    assert rows("id, name, zip") == [
        (1, "a", None, 1, 4, False),
        (1, "a", "x", 4, None, True),
        (2, "b", "y", 1, 4, False),
        (2, "c", "y", 4, None, True),
    ]


@pytest.mark.long
def test_a_first_value_stays_when_its_record_is_said_again_later(load, rows, spark, table):
    told(load, "changes", 1, at(1, "a"), at(9, "b"))
    create_or_evolve(spark, ZIP, table)
    told(load, "changes", 3, at(3, "a", zip="x"), promise=ZIP)
    told(load, "full", 5, at(3, "a", zip="x"), at(9, "b"), promise=ZIP)

    told(load, "changes", 7, at(3, "a", zip="x"), at(6, "c"), promise=ZIP)

    assert rows("id, name, zip") == [
        (1, "a", "x", 1, 6, False),
        (1, "c", None, 6, 9, False),
        (1, "b", None, 9, None, True),
    ]


@pytest.mark.parametrize("untracked", ["overwrite", long("ignore")])
def test_a_key_that_a_full_extract_brought_back_takes_first_values_in_any_order(
    load, rows, spark, table, untracked
):
    before, after = contracts(f"untracked: {untracked}")
    other = at(1, "z", id=2)
    told(load, "full", 1, at(1, "a"), other, promise=before)
    told(load, "full", 2, other, promise=before)
    told(load, "full", 3, at(1, "a"), other, promise=before)
    create_or_evolve(spark, after, table)
    told(load, "changes", 5, at(5, "a", zip="x"), promise=after)

    told(load, "changes", 6, at(4, "a", zip="y"), promise=after)

    assert rows("id, name, zip")[:-1] == [
        (1, "a", None, 1, 2, False),
        (1, "a", "y", 3, 5, False),
        (1, "a", "x", 5, None, True),
    ]


def test_a_run_that_is_stopped_after_it_told_its_companion_has_told_the_column(
    load, rows, spark, table, monkeypatch
):
    """All that the full extract says is known, so nothing but the companion and a property tell."""
    told(load, "full", 1, at(1, "a"))
    create_or_evolve(spark, ZIP, table)
    with monkeypatch.context() as patched:
        patched.setattr("lakekit.spark.scd2._learnt", lambda *_: {})
        told(load, "full", 3, at(1, "a"), promise=ZIP)
    told(load, "full", 3, at(1, "a"), promise=ZIP)

    told(load, "changes", 5, at(4, "a", zip="x"), promise=ZIP)

    assert rows("id, name, zip") == [(1, "a", None, 1, 4, False), (1, "a", "x", 4, None, True)]


@pytest.mark.long
def test_a_key_that_was_brought_back_gets_the_first_values_of_its_record(load, rows, spark, table):
    other = at(1, "z", id=2)
    told(load, "full", 1, at(1, "a"), other)
    told(load, "full", 2, other)
    told(load, "full", 3, at(1, "a"), other)
    create_or_evolve(spark, ZIP, table)

    told(load, "full", 5, at(1, "a", zip="x"), other, promise=ZIP)

    assert rows("id, name, zip")[:-1] == [
        (1, "a", "x", 1, 2, False),
        (1, "a", "x", 3, None, True),
    ]


@pytest.mark.parametrize("order", [long((6, 8)), (8, 6)])
def test_a_full_extract_of_the_moment_of_a_record_has_not_told_it(load, rows, spark, table, order):
    told(load, "full", 3, at(4, "a"))
    told(load, "full", 5, at(4, "a"))
    create_or_evolve(spark, ZIP, table)
    said = {6: at(3, "a", zip="y"), 8: at(5, "a")}

    for day in order:
        told(load, "changes", day, said[day], promise=ZIP)

    assert rows("id, name, zip") == [(1, "a", "y", 3, 5, False), (1, "a", None, 5, None, True)]


@pytest.mark.parametrize(
    "options",
    [
        "sequence_by: at, ",
        long("sequence_by: at, late_changes: ignore, "),
        "",
        long("deletes: mark, "),
    ],
)
def test_full_extracts_of_scopes_fill_in_a_column_until_all_have_told_it(
    load, rows, spark, table, monkeypatch, options
):
    before, after = (
        load_contract(text.replace("sequence_by: at, ", f"{options}delete_scope: [seen], "))
        for text in (TEXT, GROWN)
    )
    told(load, "full", 1, at(1, "a", seen=1), at(1, "b", id=2, seen=1), promise=before)
    told(load, "full", 2, at(2, "c", id=3, seen=2), at(2, "d", id=4, seen=2), promise=before)
    create_or_evolve(spark, after, table)
    north = at(5, "a", seen=1, zip="x"), at(1, "b", id=2, seen=1)
    with monkeypatch.context() as patched:
        # A crash comes before the table learns what was told.
        patched.setattr("lakekit.spark.scd2._learnt", lambda *_: {})
        first = told(load, "full", 5, *north, promise=after)
    told(load, "full", 5, *north, promise=after)

    second = told(load, "full", 6, at(6, "c", id=3, seen=2, zip="y"), at(2, "d", id=4, seen=2),
                  promise=after)  # fmt: skip
    third = told(load, "full", 7, at(7, "a", seen=1, zip="x"), at(7, "b", id=2, seen=1, zip="z"),
                 promise=after)  # fmt: skip

    assert [each.opened for each in (first, second, third)] == [0, 0, 1]
    assert rows("id, name, zip") == [
        (1, "a", "x", 1, None, True),
        (2, "b", None, 1, 7, False),
        (2, "b", "z", 7, None, True),
        (3, "c", "y", 2, None, True),
        (4, "d", None, 2, None, True),
    ]
