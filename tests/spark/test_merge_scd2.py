"""The specification of the merge: load 1, load 2, load 3, the whole table after each."""

import pytest

from lakekit.spark.iceberg.table import main_snapshot
from lakekit.sql.line_hash import DIGEST
from tests.spark.support.people import ANN, TIMED, people
from tests.tiers import long

pytestmark = pytest.mark.usefixtures("planned_as_in_production")
BEN = {"id": 2, "name": "Ben", "city": None}
CITIES = [(1, "Oslo"), (2, "Rome"), (3, "Bonn")]


def test_the_first_load_opens_a_version_per_key(load, assert_rows):
    result = load(1, ANN, BEN)

    assert_rows((1, "Ann", "Oslo", 1, None, True), (2, "Ben", None, 1, None, True))
    assert (result.opened, result.closed, result.committed) == (2, 0, True)


def test_closes_and_opens_at_the_same_time_when_a_tracked_column_changes(load, assert_rows):
    load(1, ANN, BEN)

    result = load(2, {**ANN, "city": "Rome"}, BEN)

    assert_rows(
        (1, "Ann", "Oslo", 1, 2, False),
        (1, "Ann", "Rome", 2, None, True),
        (2, "Ben", None, 1, None, True),
    )
    assert (result.opened, result.closed, result.deleted, result.unchanged) == (1, 1, 0, 1)


@pytest.mark.usefixtures("both_ways_of_writing")
def test_only_current_versions_keep_the_digest_of_their_line(load, spark, table):
    load(1, ANN, BEN)
    load(2, {**ANN, "city": "Rome"}, BEN)

    known = spark.table(table).selectExpr("_is_current", *[f"{n} IS NOT NULL" for n in DIGEST])
    assert sorted(map(tuple, known.collect())) == [(False, False, False), *[(True, True, True)] * 2]


@pytest.mark.usefixtures("both_ways_of_writing")
def test_what_has_ended_when_it_is_written_keeps_no_digest(load, spark, table):
    records = [{**ANN, "city": city, "at": f"2026-01-0{d}T00:00:00Z"} for d, city in CITIES]
    load(1, records[0], contract=TIMED)
    load(4, *records[1:], extract="changes", contract=TIMED)

    known = spark.table(table).selectExpr("city", *[f"{n} IS NOT NULL" for n in DIGEST])
    assert sorted(map(tuple, known.collect())) == [
        ("Bonn", True, True), ("Oslo", False, False), ("Rome", False, False)
    ]  # fmt: skip


def test_commits_nothing_when_nothing_changed(load, spark, table):
    load(1, ANN, BEN)
    before = spark.sql(f"SELECT * FROM {table}.snapshots").count()

    result = load(2, ANN, BEN)

    assert (result.unchanged, result.committed, result.snapshot_id) == (2, False, None)
    assert spark.sql(f"SELECT * FROM {table}.snapshots").count() == before


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ({"name": None, "city": "x"}, {"name": "x", "city": None}),
        long({"name": None, "city": None}, {"name": "", "city": None}),
        long({"name": "x", "city": None}, {"name": "x", "city": "null"}),
    ],
)
def test_sees_every_change_to_or_from_null(load, rows, old, new):
    load(1, {"id": 1, **old})

    load(2, {"id": 1, **new})

    assert [row[3:] for row in rows()] == [(1, 2, False), (2, None, True)]
    assert rows()[1][1:3] == (new["name"], new["city"])


def test_an_absent_key_of_a_full_extract_closes(load, assert_rows):
    load(1, ANN, BEN)

    result = load(2, ANN)

    assert_rows((1, "Ann", "Oslo", 1, None, True), (2, "Ben", None, 1, 2, False))
    assert (result.opened, result.closed, result.deleted) == (0, 1, 1)


def test_an_absent_key_of_an_incremental_extract_stays(load, rows):
    load(1, ANN, BEN)

    load(2, {**ANN, "city": "Rome"}, extract="incremental")

    assert rows()[-1] == (2, "Ben", None, 1, None, True)


def test_an_absent_key_stays_when_deletes_are_ignored(load, rows):
    keep = people(deletes="ignore")
    load(1, ANN, BEN, contract=keep)

    result = load(2, ANN, contract=keep)

    assert len([row for row in rows() if row[-1]]) == 2
    assert not result.committed


@pytest.mark.long
def test_a_key_that_comes_back_opens_a_new_version_after_the_gap(load, rows):
    load(1, ANN, BEN)
    load(2, BEN)

    load(3, ANN, BEN)

    assert rows()[:2] == [(1, "Ann", "Oslo", 1, 2, False), (1, "Ann", "Oslo", 3, None, True)]


@pytest.mark.long
def test_the_last_of_several_records_of_a_key_wins(load, assert_rows):
    result = load(1, ANN, {**ANN, "city": "Rome"}, ANN, {**ANN, "city": "Bonn"})

    assert_rows((1, "Ann", "Bonn", 1, None, True))
    assert (result.opened, result.superseded) == (1, 3)


def test_a_replay_changes_nothing(load, rows):
    load(1, ANN, run_id="a")
    load(2, {**ANN, "city": "Rome"}, run_id="b")
    before = rows()

    again = load(1, ANN, run_id="a")

    assert rows() == before
    assert not again.committed


def test_a_composite_key_is_one_key(load, assert_rows):
    both = people(keys=["id", "name"])
    load(1, ANN, {**ANN, "name": "Eva"}, contract=both)

    load(2, {**ANN, "city": "Rome"}, {**ANN, "name": "Eva"}, contract=both)

    assert_rows(
        (1, "Ann", "Oslo", 1, 2, False),
        (1, "Eva", "Oslo", 1, None, True),
        (1, "Ann", "Rome", 2, None, True),
    )


def test_nested_columns_and_odd_numbers_compare_by_value(load, rows):
    """aws-sdk-pandas #3018: a merge of array columns does not end."""
    nested = people(
        columns={
            "city": "map<string,int>",
            "at": "struct<x:double,y:array<int>>",
            "d": "double",
            "price": "decimal(10,2)",
        }
    )
    first = '{"id":1,"city":{"a":1,"b":2},"at":{"x":1.0,"y":[1,2]},"d":0.0,"price":1.0}'
    equal = '{"id":1,"city":{"b":2,"a":1},"at":{"y":[1,2],"x":1},"d":-0.0,"price":1.00}'
    load(1, first, contract=nested)

    assert not load(2, equal, contract=nested).committed
    assert load(3, first.replace('"x":1.0', '"x":null'), contract=nested).committed


def test_a_table_of_keys_alone_knows_which_are_there(load, assert_rows):
    contract = people(columns={"name": None, "city": None})
    load(1, {"id": 1}, {"id": 2}, contract=contract)
    load(2, {"id": 1}, contract=contract)

    assert_rows((1, 1, None, True), (2, 1, 2, False), columns="id")


@pytest.mark.parametrize("extract", ["full", long("changes")])
def test_what_a_rollback_took_back_is_merged_again(load, rows, spark, table, extract):
    """Its entries are still in the journal, which a rollback does not move."""
    load(1, {**ANN, "at": "2026-01-01T00:00:00Z"}, contract=TIMED, extract=extract)
    before = main_snapshot(spark, table)
    moved = {**ANN, "city": "Rome", "at": "2026-01-02T00:00:00Z"}
    again = {**moved, "at": "2026-01-03T00:00:00Z"}
    load(4, moved, again, contract=TIMED, extract=extract)
    merged = rows()
    name = table.removeprefix("lake.")
    spark.sql(f"CALL lake.system.rollback_to_snapshot('{name}', {before})")

    done = load(4, moved, again, contract=TIMED, extract=extract)

    assert done.committed
    assert rows() == merged
