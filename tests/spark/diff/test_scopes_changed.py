"""Scopes of a contract that has changed: renamed, other or new ones.

Days are of January: the day from which a record holds, and the day of a run's extract.
"""

import pytest

from lakekit.errors import SchemaMismatchError
from lakekit.spark.schema.create_tables import create_or_evolve
from tests.spark.support.added_columns import with_zip
from tests.spark.support.late import SCOPED, at, cdc, load_as
from tests.spark.support.people import renamed
from tests.tiers import long


@pytest.mark.long
def test_a_scope_is_known_by_its_new_name(load, rows, spark, table):
    renamed = cdc(rename={"seen": "team"}, delete_scope=["team"])
    other = at(4, "z", seen=1) | {"id": 2}
    load_as(load, "full", 10, other, contract=SCOPED)
    create_or_evolve(spark, renamed, table)

    load_as(load, "changes", 11, at(3, "a", team=1), contract=renamed)

    assert rows("id, name, team")[0] == (1, "a", 1, 3, 10, False)


@pytest.mark.long
def test_a_scope_that_is_renamed_twice_is_known_and_needs_no_word_of_it(
    load, assert_rows, spark, table
):
    load_as(load, "full", 10, at(4, "z", seen=1) | {"id": 2}, contract=SCOPED)
    for now, was in (("team", "seen"), ("zone", "team")):
        columns = {"seen": None, now: renamed(was, "int")}
        create_or_evolve(spark, cdc(columns=columns, delete_scope=[now]), table)
    plain = cdc(columns={"seen": None, "zone": "int"}, delete_scope=["zone"])
    create_or_evolve(spark, plain, table)

    load_as(load, "changes", 11, at(3, "a", zone=1), contract=plain)
    load_as(load, "full", 12, at(5, "y", zone=2) | {"id": 3}, contract=plain)

    assert_rows(
        (1, "a", 1, 3, 10, False),
        (2, "z", 1, 4, None, True),
        (3, "y", 2, 5, None, True),
        columns="id, name, zone",
    )


@pytest.mark.long
def test_a_name_of_a_scope_may_be_used_again_and_leave_its_column_again(load, rows, spark, table):
    load_as(load, "full", 10, at(4, "z", seen=1) | {"id": 2}, contract=SCOPED)
    for columns in (
        {"team": renamed("seen", "int"), "seen": "int"},
        {"team": "int", "seen": None, "views": renamed("seen", "int")},
    ):
        contract = cdc(columns=columns, delete_scope=["team"])
        create_or_evolve(spark, contract, table)

    load_as(load, "changes", 11, at(3, "a", team=1), contract=contract)

    assert rows("id, name, team")[0] == (1, "a", 1, 3, 10, False)


@pytest.mark.long
@pytest.mark.parametrize("names", [long(["team"]), ["team", "zone"]])
def test_scopes_that_are_renamed_in_between_have_all_recorded_an_added_column(
    load, assert_rows, spark, table, names
):
    first, second = at(1, "a"), at(1, "b", id=2)
    load_as(load, "full", 2, first | {"seen": 1}, second | {"seen": 2}, contract=SCOPED)
    create_or_evolve(spark, contract := with_zip(delete_scope=["seen"]), table)
    load_as(load, "full", 4, first | {"seen": 1}, contract=contract)
    for was, now in zip(["seen", *names], names, strict=False):
        columns = {"zip": "string", "seen": None, now: renamed(was, "int")}
        contract = with_zip(columns=columns, delete_scope=[now])
        create_or_evolve(spark, contract, table)
    load_as(load, "full", 6, second | {now: 2}, contract=contract)

    load_as(load, "changes", 8, at(7, "a", zip="x", **{now: 1}), contract=contract)

    assert_rows(
        (1, "a", None, 1, 7, False),
        (1, "a", "x", 7, None, True),
        (2, "b", None, 1, None, True),
        columns="id, name, zip",
    )


def test_extracts_without_scopes_go_on_counting_everywhere(load, rows, spark, table):
    other = at(4, "z", seen=1) | {"id": 2}
    load_as(load, "full", 10, other)
    create_or_evolve(spark, SCOPED, table)

    load_as(load, "changes", 11, at(3, "a", seen=2), contract=SCOPED)

    assert rows("id, name, seen")[0] == (1, "a", 2, 3, 10, False)


def test_scopes_of_other_columns_are_refused(load, assert_rows, spark, table):
    load_as(load, "full", 10, at(4, "z", seen=1), contract=SCOPED)
    changed = cdc(delete_scope=["city"])
    create_or_evolve(spark, changed, table)

    with pytest.raises(
        SchemaMismatchError, match=r"delete_scope is \['city'\], but was \['seen'\]"
    ):
        load_as(load, "changes", 11, at(3, "a", seen=1), contract=changed)

    assert_rows((1, "z", 4, None, True), columns="id, name")
