"""A column that the contract drops, and that comes back.

A record is named by its day of January, the day it holds from; a run by the day of its extract.
"""

import pytest

from lakekit.contract.contract import load_contract
from lakekit.layout import facts_table
from lakekit.spark.schema.create_tables import create_or_evolve
from tests.spark.late import TEXT, at, gone, told

CITY, PLACE = "  - {name: city, type: string}\n", "  - {name: place, type: 'struct<x:int,y:int>'}\n"
WITH = TEXT.replace(CITY, CITY + PLACE).replace(", track_history_columns: [name]", "")
WITHOUT = WITH.replace(CITY, "").replace("struct<x:int,y:int>", "struct<y:int>")


@pytest.mark.parametrize("ended", [False, True])
def test_an_old_version_keeps_what_it_held_when_a_late_record_comes(
    load, rows, spark, table, ended
):
    """Meanwhile the version was renewed, and the companion told which record it began with."""
    with_it, without = load_contract(WITH), load_contract(WITHOUT)
    told(load, "changes", 6, at(5, "a", city="x", place={"x": 1, "y": 2}), promise=with_it)
    create_or_evolve(spark, without, table)
    told(load, "changes", 8, at(7, "a", place={"y": 2}), promise=without)
    if ended:
        told(load, "changes", 9, at(9, "b"), promise=without)
    create_or_evolve(spark, with_it, table)

    told(load, "changes", 11, at(3, "z", city="q"), promise=with_it)

    found = [row[1:5] for row in rows("id, name, city, place.x")]
    assert found[:2] == [("z", "q", None, 3), ("a", "x", 1, 5)]


@pytest.fixture
def without_city(load, spark, table):
    """Merge changes with the column, then without it, then once more with it.

    Each run is its day, then its records.
    """

    def tell(*before, then=(), last=None):
        for runs, text in ((before, WITH), (then, WITHOUT), ((last,) if last else (), WITH)):
            promise = load_contract(text)
            if runs:
                create_or_evolve(spark, promise, table)
            for day, *records in runs:
                told(load, "changes", day, *records, promise=promise)

    return tell


def test_what_a_late_record_finds_without_the_column_is_known_when_it_is_back(without_city, rows):
    """The late one makes the version be told by its newest record, and its first be remembered."""
    without_city(
        (6, at(5, "a", city="x")),
        then=[(8, at(7, "a"), at(4, "b"))],
        last=(11, at(3, "z", city="q")),
    )

    found = [row[1:4] for row in rows("id, name, city")]
    assert found[:3] == [("z", "q", 3), ("b", None, 4), ("a", "x", 5)]


def test_a_version_that_begins_earlier_by_a_late_record_holds_what_it_held(without_city, rows):
    without_city((6, at(5, "a", city="x")), then=[(8, at(3, "a"))])

    assert [row[1:4] for row in rows("id, name, city")] == [("a", "x", 3)]


def test_both_parts_of_a_version_that_a_late_record_cuts_hold_what_it_held(without_city, rows):
    without_city(
        (6, at(5, "a", city="x")), (16, at(15, "a", city="x")), then=[(18, at(12, "b"))], last=(20,)
    )

    found = [row[1:4] for row in rows("id, name, city")]
    assert found == [("a", "x", 5), ("b", None, 12), ("a", "x", 15)]


def test_a_version_keeps_what_a_companion_without_the_column_does_not_know(
    without_city, rows, spark, table
):
    without_city((6, at(5, "a", city="x")), (16, at(15, "a", city="x")))
    spark.sql(f"ALTER TABLE {facts_table(table)} DROP COLUMN city")

    without_city(then=[(18, at(12, "b"))])

    found = [row[1:4] for row in rows("id, name, city")]
    assert found == [("a", "x", 5), ("b", None, 12), ("a", None, 15)]


def test_a_key_that_a_full_extract_brings_back_holds_what_it_held(without_city, load, rows):
    """It is told that the key was gone before, when the column is no more."""
    full = load_contract(WITH)
    without_city((6, at(5, "a", city="x")))
    told(load, "full", 10, at(5, "a", city="x"), promise=full)

    without_city(then=[(18, gone(8))])

    assert [row[1:5] for row in rows("id, name, city")] == [("a", "x", 5, 8), ("a", "x", 10, None)]
