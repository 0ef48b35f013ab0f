"""Late changes that come after a contract has changed: they leave what was known before as it was.

A record is named by its day of January, the day it holds from; a run by the day of its extract.
"""

import pytest

from lakekit.contract.contract import load_contract
from lakekit.errors import SchemaMismatchError
from lakekit.spark.schema.create_tables import create_or_evolve
from tests.spark.late import TEXT, at, gone, told, with_history
from tests.tiers import long

WHOLE = with_history("mode: scd2")
LATEST = with_history("mode: scd1")
PARTIAL = with_history("ignore_null_updates: true")


@pytest.mark.parametrize("options", [long(""), "ignore_null_updates: true, "])
def test_a_deletion_that_a_record_of_its_moment_beat_in_scd1_stays_beaten(
    load, rows, spark, table, options
):
    before, after = with_history(f"{options}mode: scd1"), with_history(f"{options}mode: scd2")
    told(load, "changes", 4, gone(5), promise=before)
    told(load, "changes", 6, at(5, "a"), promise=before)
    create_or_evolve(spark, after, table)

    told(load, "changes", 7, at(3, "c"), promise=after)

    assert rows("id, name") == [(1, "c", 3, 5, False), (1, "a", 5, None, True)]


@pytest.mark.parametrize("first", [WHOLE, long(PARTIAL)], ids=["whole", "partial"])
def test_a_table_whose_companion_holds_other_records_stays_as_it_is(
    load, rows, spark, table, first
):
    then = WHOLE if first is PARTIAL else PARTIAL
    told(load, "changes", 4, gone(5), promise=first)
    told(load, "changes", 6, at(5, "a"), promise=first)

    with pytest.raises(SchemaMismatchError, match="ignore_null_updates: "):
        create_or_evolve(spark, then, table)
    with pytest.raises(SchemaMismatchError, match="ignore_null_updates: "):
        told(load, "changes", 7, at(3, "c"), promise=then)

    assert rows("id, name") == [(1, "a", 5, None, True)]


@pytest.mark.parametrize("late", [at(3, "b"), long(at(9, "a", city="y"))], ids=["first", "last"])
def test_versions_stay_that_a_column_told_apart_which_is_not_tracked_any_more(
    load, rows, spark, table, late
):
    both = load_contract(TEXT.replace("[name]", "[name, city]"))
    told(load, "changes", 10, at(5, "a", city="x"), at(7, "a", city="y"), promise=both)
    create_or_evolve(spark, WHOLE, table)

    told(load, "changes", 11, at(12, "a", city="z"))
    told(load, "changes", 13, late)

    assert rows("id, name, city")[-2:] == [
        (1, "a", "x", 5, 7, False),
        (1, "a", "z", 7, None, True),
    ]


def test_a_version_that_is_renewed_is_still_told_apart_by_a_dropped_column(
    load, rows, spark, table
):
    fewer = load_contract(TEXT.replace("  - {name: city, type: string}\n", ""))
    said = at(5, "a", city="x"), at(7, "b", city="y"), at(9, "a", city="z")
    told(load, "changes", 10, *said)
    create_or_evolve(spark, fewer, table)

    told(load, "changes", 11, at(10, "a", seen=1), promise=fewer)
    told(load, "changes", 12, at(7, "a"), promise=fewer)

    assert rows("id, name, city, seen") == [
        (1, "a", "x", None, 5, 9, False),
        (1, "a", "z", 1, 9, None, True),
    ]


def test_full_extracts_of_scd1_do_not_tell_when_a_key_began(load, rows, spark, table):
    other = at(1, "z", id=2)
    told(load, "full", 10, at(5, "a"), other, promise=LATEST)
    told(load, "full", 20, at(15, "b"), other, promise=LATEST)
    create_or_evolve(spark, WHOLE, table)

    told(load, "changes", 21, at(3, "c"))

    assert rows("id, name")[:2] == [(1, "c", 3, 15, False), (1, "b", 15, None, True)]


@pytest.mark.parametrize("order", [(3, 22), long((22, 3))])
def test_a_key_that_came_after_scd1_is_gone_where_an_extract_lacked_it(
    load, rows, spark, table, order
):
    for day in (10, 20):
        told(load, "full", day, at(1, "z", id=2), promise=LATEST)
    create_or_evolve(spark, WHOLE, table)

    for day, moment in zip((21, 23), order, strict=True):
        told(load, "changes", day, at(moment, "c"))

    assert rows("id, name")[:2] == [(1, "c", 3, 10, False), (1, "c", 22, None, True)]


@pytest.mark.long
def test_a_key_that_full_extracts_of_scd1_lacked_is_gone(load, rows, spark, table):
    told(load, "full", 10, at(1, "z", id=2), promise=LATEST)
    create_or_evolve(spark, WHOLE, table)

    told(load, "changes", 21, at(3, "c"))

    assert rows("id, name")[0] == (1, "c", 3, 10, False)


def test_a_late_change_keeps_what_a_dropped_column_told_apart(load, rows, spark, table):
    text = TEXT.replace("track_history_columns: [name]", "track_history_except: [seen, at]")
    whole = load_contract(text)
    fewer = load_contract(text.replace("  - {name: city, type: string}\n", ""))
    told(load, "changes", 20, at(1, "a", city="x"), at(5, "a", city="y"), promise=whole)
    told(load, "changes", 21, at(10, "b", city="y"), at(12, "b", city="y"), promise=whole)
    create_or_evolve(spark, fewer, table)

    told(load, "changes", 22, at(7, "c"), promise=fewer)
    assert rows("id, name, city") == [
        (1, "a", "x", 1, 5, False),
        (1, "a", "y", 5, 7, False),
        (1, "c", None, 7, 10, False),
        (1, "b", "y", 10, None, True),
    ]

    told(load, "changes", 23, at(11, "b"), at(7, None, op="D"), promise=fewer)
    assert rows("id, name, city") == [
        (1, "a", "x", 1, 5, False),
        (1, "a", "y", 5, 7, False),
        (1, "b", "y", 10, None, True),
    ]


@pytest.mark.parametrize("kind", ["timestamp", long("timestamp_ntz")])
def test_a_dropped_time_is_told_apart_by_its_microseconds(load, rows, spark, table, kind):
    column = f"  - {{name: city, type: {kind}}}\n"
    text = TEXT.replace("track_history_columns: [name]", "track_history_except: [seen, at]")
    text = text.replace("  - {name: city, type: string}\n", column)
    fewer = load_contract(text.replace(column, ""))
    apart = [at(day, "a", city=f"2026-01-01T00:00:00.00000{day}") for day in (1, 5)]
    told(load, "changes", 20, *apart, at(10, "b"), promise=load_contract(text))
    create_or_evolve(spark, fewer, table)

    told(load, "changes", 21, at(7, "c"), promise=fewer)

    assert rows("id, name") == [
        (1, "a", 1, 5, False),
        (1, "a", 5, 7, False),
        (1, "c", 7, 10, False),
        (1, "b", 10, None, True),
    ]
