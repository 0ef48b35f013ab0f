"""Scopes of a contract that has changed: renamed, others, or none before.

A record is named by its day of January, the day it holds from; a run by the day of its extract.
"""

import pytest

from lakekit.contract.contract import load_contract
from lakekit.errors import SchemaMismatchError
from lakekit.spark.schema.create_tables import create_or_evolve
from tests.spark.late import SCOPED, TEXT, at, told, with_history
from tests.spark.later_columns import GROWN
from tests.tiers import long


@pytest.mark.long
def test_a_scope_is_known_by_its_new_name(load, rows, spark, table):
    text = TEXT.replace("name: seen,", "name: team, renamed_from: seen,")
    renamed = load_contract(text.replace("keys: [id]", "keys: [id], delete_scope: [team]"))
    other = at(4, "z", seen=1) | {"id": 2}
    told(load, "full", 10, other, promise=SCOPED)
    create_or_evolve(spark, renamed, table)

    told(load, "changes", 11, at(3, "a", team=1), promise=renamed)

    assert rows("id, name, team")[0] == (1, "a", 1, 3, 10, False)


def test_a_scope_that_is_renamed_twice_is_known_and_needs_no_word_of_it(load, rows, spark, table):
    told(load, "full", 10, at(4, "z", seen=1) | {"id": 2}, promise=SCOPED)
    for now, was in (("team", "seen"), ("zone", "team")):
        columns = TEXT.replace("name: seen,", f"name: {now}, renamed_from: {was},")
        history = columns.replace("keys: [id]", f"keys: [id], delete_scope: [{now}]")
        create_or_evolve(spark, load_contract(history), table)
    plain = load_contract(history.replace("renamed_from: team, ", ""))
    create_or_evolve(spark, plain, table)

    told(load, "changes", 11, at(3, "a", zone=1), promise=plain)
    told(load, "full", 12, at(5, "y", zone=2) | {"id": 3}, promise=plain)

    assert rows("id, name, zone") == [
        (1, "a", 1, 3, 10, False),
        (2, "z", 1, 4, None, True),
        (3, "y", 2, 5, None, True),
    ]


def test_a_name_of_a_scope_may_be_used_again_and_leave_its_column_again(load, rows, spark, table):
    told(load, "full", 10, at(4, "z", seen=1) | {"id": 2}, promise=SCOPED)
    scoped = TEXT.replace("keys: [id]", "keys: [id], delete_scope: [team]")
    scoped = scoped.replace("name: seen,", "name: team, renamed_from: seen,")
    for more in ("seen, type: int", "views, type: int, renamed_from: seen"):
        text = scoped.replace("  - {name: op,", f"  - {{name: {more}}}\n  - {{name: op,")
        create_or_evolve(spark, promise := load_contract(text), table)
        scoped = scoped.replace(", renamed_from: seen", "")

    told(load, "changes", 11, at(3, "a", team=1), promise=promise)

    assert rows("id, name, team")[0] == (1, "a", 1, 3, 10, False)


@pytest.mark.parametrize("names", [long(["team"]), ["team", "zone"]])
def test_scopes_that_are_renamed_in_between_have_all_told_a_later_column(
    load, rows, spark, table, names
):
    first, second = at(1, "a"), at(1, "b", id=2)
    told(load, "full", 2, first | {"seen": 1}, second | {"seen": 2}, promise=SCOPED)
    scoped = GROWN.replace("keys: [id]", "keys: [id], delete_scope: [seen]")
    create_or_evolve(spark, promise := load_contract(scoped), table)
    told(load, "full", 4, first | {"seen": 1}, promise=promise)
    for was, now in zip(["seen", *names], names, strict=False):
        text = scoped.replace("seen", now)
        text = text.replace(f"name: {now},", f"name: {now}, renamed_from: {was},")
        create_or_evolve(spark, promise := load_contract(text), table)
    told(load, "full", 6, second | {now: 2}, promise=promise)

    told(load, "changes", 8, at(7, "a", zip="x", **{now: 1}), promise=promise)

    assert rows("id, name, zip") == [
        (1, "a", None, 1, 7, False),
        (1, "a", "x", 7, None, True),
        (2, "b", None, 1, None, True),
    ]


def test_extracts_without_scopes_go_on_counting_everywhere(load, rows, spark, table):
    other = at(4, "z", seen=1) | {"id": 2}
    told(load, "full", 10, other)
    create_or_evolve(spark, SCOPED, table)

    told(load, "changes", 11, at(3, "a", seen=2), promise=SCOPED)

    assert rows("id, name, seen")[0] == (1, "a", 2, 3, 10, False)


def test_scopes_of_other_columns_are_refused(load, rows, spark, table):
    told(load, "full", 10, at(4, "z", seen=1), promise=SCOPED)
    changed = load_contract(TEXT.replace("keys: [id]", "keys: [id], delete_scope: [city]"))
    create_or_evolve(spark, changed, table)

    with pytest.raises(
        SchemaMismatchError, match=r"delete_scope is \['city'\], but was \['seen'\]"
    ):
        told(load, "changes", 11, at(3, "a", seen=1), promise=changed)

    assert rows("id, name") == [(1, "z", 4, None, True)]


def test_an_extract_from_before_there_were_scopes_tells_of_all(load, rows):
    everywhere, scoped = with_history("mode: scd1"), "mode: scd1, delete_scope: [seen]"
    told(load, "full", 10, at(2, "other", id=2, seen=1), promise=everywhere)

    done = told(load, "changes", 11, at(5, "a", seen=1), promise=with_history(scoped))

    assert (done.opened, done.superseded) == (0, 1)
    assert rows("id, name") == [(2, "other", 2, None, True)]
