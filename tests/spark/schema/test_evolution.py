"""A contract that changes between two loads: history stays readable, no masses of versions open."""

from datetime import datetime

import pytest

from lakekit.spark.schema.create_tables import create_or_evolve
from lakekit.sql.added_columns import with_added
from lakekit.sql.tables import set_properties
from tests.spark.support.added_columns import contracts
from tests.spark.support.late import at, cdc, load_as
from tests.spark.support.people import people
from tests.spark.support.seams import around
from tests.tiers import long

MORE = people(columns={"zip": "string"})
REVERSION = people(columns={"zip": "string"}, new_column="reversion")
FEWER = people(columns={"city": None})
A, B = {"id": 1, "name": "a", "city": "x"}, {"id": 2, "name": "b", "city": "y"}


def test_a_table_whose_columns_are_called_like_secrets_is_evolved_once(load, spark, table):
    secret = people(columns={"city": None, "token_url": "string"})
    load(1, A, contract=secret)

    assert not create_or_evolve(spark, secret, table).changes


@pytest.mark.usefixtures("both_ways_of_writing")
def test_a_new_column_is_filled_into_the_current_versions_and_opens_none(
    load, assert_rows, spark, table
):
    load(1, A, B)
    create_or_evolve(spark, MORE, table)

    filled = load(2, A | {"zip": "1"}, B, contract=MORE)
    changed = load(3, A | {"zip": "2"}, B | {"zip": "3"}, contract=MORE)

    assert (filled.opened, filled.closed) == (0, 0)
    assert (changed.opened, changed.closed) == (2, 2)
    assert_rows(
        (1, "1", 1, 3, False),
        (1, "2", 3, None, True),
        (2, None, 1, 3, False),
        (2, "3", 3, None, True),
        columns="id, zip",
    )


@pytest.mark.long
def test_only_versions_from_before_a_new_column_are_filled(load, assert_rows, spark, table):
    load(1, A, extract="incremental")
    create_or_evolve(spark, MORE, table)
    load(2, B, extract="incremental", contract=MORE)

    records = (A | {"zip": "1"}, B | {"zip": "2"})
    done = load(3, *records, extract="incremental", contract=MORE)

    assert (done.opened, done.closed) == (1, 1)
    assert_rows(
        (1, "1", 1, None, True),
        (2, None, 2, 3, False),
        (2, "2", 3, None, True),
        columns="id, zip",
    )


def test_a_crash_before_a_new_column_is_added_opens_nothing(load, assert_rows, spark, table):
    load(1, A, B)
    spark.sql(set_properties(table, with_added({}, ["zip"], {}, datetime.min)))

    before = load(2, A, B)
    create_or_evolve(spark, MORE, table)
    filled = load(3, A | {"zip": "1"}, B, contract=MORE)

    assert not before.committed
    assert (filled.opened, filled.closed) == (0, 0)
    assert_rows((1, "1", 1, None, True), (2, None, 1, None, True), columns="id, zip")


def test_a_new_column_opens_versions_if_the_contract_wants_it(load, assert_rows, spark, table):
    load(1, A, B)
    create_or_evolve(spark, REVERSION, table)

    load(2, A | {"zip": "1"}, B, contract=REVERSION)

    assert_rows(
        (1, None, 1, 2, False),
        (1, "1", 2, None, True),
        (2, None, 1, None, True),
        columns="id, zip",
    )


@pytest.mark.long
@pytest.mark.usefixtures("both_ways_of_writing")
def test_a_dropped_column_stays_and_is_null_from_now_on(load, assert_rows, spark, table):
    load(1, A, B)
    create_or_evolve(spark, FEWER, table)

    same = load(2, {"id": 1, "name": "a"}, {"id": 2, "name": "b"}, contract=FEWER)
    load(3, {"id": 1, "name": "c"}, {"id": 2, "name": "b"}, contract=FEWER)

    assert not same.committed
    assert_rows(
        (1, "a", "x", 1, 3, False),
        (1, "c", None, 3, None, True),
        (2, "b", "y", 1, None, True),
        columns="id, name, city",
    )


@pytest.mark.usefixtures("both_ways_of_writing")
def test_a_version_that_is_renewed_keeps_what_it_held_in_a_dropped_column(load, rows, spark, table):
    fewer = cdc(columns={"city": None})
    load_as(load, "changes", 5, at(5, "a", seen=1, city="x"))
    create_or_evolve(spark, fewer, table)

    load_as(load, "changes", 7, at(7, "a", seen=2), contract=fewer)

    assert rows("id, name, city, seen")[-1] == (1, "a", "x", 2, 5, None, True)


@pytest.mark.long
@pytest.mark.parametrize("name", ["to", *map(long, ["hash", "rest", "deleted", "from", "change"])])
def test_a_dropped_column_may_be_called_what_a_late_change_calls_its_own(
    load, assert_rows, spark, table, name
):
    fewer = cdc(columns={"city": None})
    before = cdc(columns={"city": None, name: "string"})
    load_as(load, "changes", 5, at(5, "a", **{name: "x"}), contract=before)
    create_or_evolve(spark, fewer, table)

    load_as(load, "changes", 7, at(4, "b"), at(6, "c"), contract=fewer)

    assert_rows(
        (1, "b", None, 4, 5, False),
        (1, "a", "x", 5, 6, False),
        (1, "c", None, 6, None, True),
        columns=f"id, name, `{name}`",
    )


def test_a_partial_record_fills_a_new_column_and_opens_nothing(load, assert_rows, spark, table):
    before, after = contracts(ignore_null_updates=True)
    load_as(load, "changes", 5, at(5, "a", seen=1), contract=before)
    create_or_evolve(spark, after, table)

    load_as(load, "changes", 7, at(7, None, zip="z"), contract=after)

    assert_rows((1, "a", "z", 1, 5, None, True), columns="id, name, zip, seen")


@pytest.mark.long
def test_a_crash_behind_the_commit_leaves_no_new_column_to_be_filled(
    load, rows, spark, table, monkeypatch
):
    """After the first full extract with the column, a first value is a change."""
    load(1, A, B)
    create_or_evolve(spark, MORE, table)
    with monkeypatch.context() as crash, pytest.raises(ZeroDivisionError):
        around(crash, "properties", lambda *_: 1 / 0)
        load(2, A, B | {"name": "c"}, contract=MORE)
    load(2, A, B | {"name": "c"}, contract=MORE)

    load(3, A | {"zip": "1"}, contract=MORE, extract="incremental")

    assert rows("id, zip")[:2] == [(1, None, 1, 3, False), (1, "1", 3, None, True)]


@pytest.mark.parametrize("mode", [long("scd1"), "scd2"])
@pytest.mark.parametrize("policy", [long("quarantine"), long("ignore")])
def test_the_first_value_of_a_new_column_is_not_late(load, assert_rows, spark, table, policy, mode):
    before, after = contracts(mode=mode, late_changes=policy)
    load_as(load, "full", 3, at(1, "a"), contract=before)
    create_or_evolve(spark, after, table)

    done = load_as(load, "full", 5, at(1, "a", zip="x"), contract=after)

    assert (done.opened, done.quarantined, done.superseded) == (0, 0, 0)
    assert_rows((1, "a", "x", 1, None, True), columns="id, name, zip")

    done = load_as(load, "full", 7, at(1, "a", zip="y"), contract=after)
    assert done.quarantined + done.superseded == 1
    assert_rows((1, "a", "x", 1, None, True), columns="id, name, zip")
