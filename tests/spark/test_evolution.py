"""A contract that changes between two loads: history stays readable, nothing opens in masses."""

import pytest

from lakekit.contract.contract import load_contract
from lakekit.spark import merge_scd2 as scd2
from lakekit.spark.schema.create_tables import create_or_evolve
from lakekit.sql.added_columns import LATER_COLUMNS
from tests.spark.late import TEXT, at, told
from tests.spark.people import CONTRACT
from tests.tiers import long

MORE = load_contract(CONTRACT.replace("history:", "  - {name: zip, type: string}\nhistory:"))
REVERSION = load_contract(
    CONTRACT.replace(
        "history: {", "  - {name: zip, type: string}\nhistory: {new_column: reversion, "
    )
)
FEWER = load_contract(CONTRACT.replace("  - {name: city, type: string}\n", ""))
A, B = {"id": 1, "name": "a", "city": "x"}, {"id": 2, "name": "b", "city": "y"}


def test_a_table_whose_columns_are_called_like_secrets_is_evolved_once(load, spark, table):
    secret = load_contract(CONTRACT.replace("name: city", "name: token_url"))
    load(1, A, promise=secret)

    assert not create_or_evolve(spark, secret, table).changes


@pytest.mark.usefixtures("both_ways_of_writing")
def test_a_new_column_is_filled_into_the_current_versions_and_opens_none(load, rows, spark, table):
    load(1, A, B)
    create_or_evolve(spark, MORE, table)

    filled = load(2, A | {"zip": "1"}, B, promise=MORE)
    changed = load(3, A | {"zip": "2"}, B | {"zip": "3"}, promise=MORE)

    assert (filled.opened, filled.closed) == (0, 0)
    assert (changed.opened, changed.closed) == (2, 2)
    assert rows("id, zip") == [
        (1, "1", 1, 3, False),
        (1, "2", 3, None, True),
        (2, None, 1, 3, False),
        (2, "3", 3, None, True),
    ]


def test_only_versions_from_before_a_new_column_are_filled(load, rows, spark, table):
    load(1, A, extract="incremental")
    create_or_evolve(spark, MORE, table)
    load(2, B, extract="incremental", promise=MORE)

    told = (A | {"zip": "1"}, B | {"zip": "2"})
    done = load(3, *told, extract="incremental", promise=MORE)

    assert (done.opened, done.closed) == (1, 1)
    assert rows("id, zip") == [
        (1, "1", 1, None, True),
        (2, None, 2, 3, False),
        (2, "2", 3, None, True),
    ]


def test_a_crash_before_a_new_column_is_added_opens_nothing(load, rows, spark, table):
    load(1, A, B)
    spark.sql(f"ALTER TABLE {table} SET TBLPROPERTIES ('{LATER_COLUMNS}' = 'zip')")

    before = load(2, A, B)
    create_or_evolve(spark, MORE, table)
    filled = load(3, A | {"zip": "1"}, B, promise=MORE)

    assert not before.committed
    assert (filled.opened, filled.closed) == (0, 0)
    assert rows("id, zip") == [(1, "1", 1, None, True), (2, None, 1, None, True)]


def test_a_new_column_opens_versions_if_the_contract_wants_it(load, rows, spark, table):
    load(1, A, B)
    create_or_evolve(spark, REVERSION, table)

    load(2, A | {"zip": "1"}, B, promise=REVERSION)

    assert rows("id, zip") == [
        (1, None, 1, 2, False),
        (1, "1", 2, None, True),
        (2, None, 1, None, True),
    ]


@pytest.mark.usefixtures("both_ways_of_writing")
def test_a_dropped_column_stays_and_is_null_from_now_on(load, rows, spark, table):
    load(1, A, B)
    create_or_evolve(spark, FEWER, table)

    same = load(2, {"id": 1, "name": "a"}, {"id": 2, "name": "b"}, promise=FEWER)
    load(3, {"id": 1, "name": "c"}, {"id": 2, "name": "b"}, promise=FEWER)

    assert not same.committed
    assert rows("id, name, city") == [
        (1, "a", "x", 1, 3, False),
        (1, "c", None, 3, None, True),
        (2, "b", "y", 1, None, True),
    ]


@pytest.mark.usefixtures("both_ways_of_writing")
@pytest.mark.parametrize("late", [False, True])
def test_a_version_that_is_renewed_keeps_what_it_held_in_a_dropped_column(
    load, rows, spark, table, late
):
    fewer = load_contract(TEXT.replace("  - {name: city, type: string}\n", ""))
    told(load, "changes", 5, at(5, "a", seen=1, city="x"))
    create_or_evolve(spark, fewer, table)

    told(load, "changes", 7, at(7, "a", seen=2), *([at(4, "b")] if late else []), promise=fewer)

    assert rows("id, name, city, seen")[-1] == (1, "a", "x", 2, 5, None, True)


@pytest.mark.parametrize("name", ["to", *map(long, ["hash", "rest", "gone", "from", "change"])])
def test_a_dropped_column_may_be_called_what_a_late_change_calls_its_own(
    load, rows, spark, table, name
):
    text = TEXT.replace("city, type", f"{name}, type")
    fewer = load_contract(text.replace(f"  - {{name: {name}, type: string}}\n", ""))
    told(load, "changes", 5, at(5, "a", **{name: "x"}), promise=load_contract(text))
    create_or_evolve(spark, fewer, table)

    told(load, "changes", 7, at(4, "b"), at(6, "c"), promise=fewer)

    assert rows(f"id, name, `{name}`") == [
        (1, "b", None, 4, 5, False),
        (1, "a", "x", 5, 6, False),
        (1, "c", None, 6, None, True),
    ]


def test_a_partial_record_fills_a_new_column_and_opens_nothing(load, rows, spark, table):
    text = TEXT.replace("keys: [id]", "keys: [id], ignore_null_updates: true")
    text, before = text.replace("[name]", "[name, zip]"), load_contract(text)
    after = load_contract(
        text.replace("  - {name: op,", "  - {name: zip, type: string}\n  - {name: op,")
    )
    told(load, "changes", 5, at(5, "a", seen=1), promise=before)
    create_or_evolve(spark, after, table)

    told(load, "changes", 7, at(7, None, zip="z"), promise=after)

    assert rows("id, name, zip, seen") == [(1, "a", "z", 1, 5, None, True)]


def test_a_crash_behind_the_commit_leaves_no_new_column_to_be_filled(
    load, rows, spark, table, monkeypatch
):
    """From the first full extract with it on, a first value is a change."""
    load(1, A, B)
    create_or_evolve(spark, MORE, table)
    with monkeypatch.context() as crash:
        crash.setattr(scd2, "_learnt", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            load(2, A, B | {"name": "c"}, promise=MORE)
    load(2, A, B | {"name": "c"}, promise=MORE)

    load(3, A | {"zip": "1"}, promise=MORE, extract="incremental")

    assert rows("id, zip")[:2] == [(1, None, 1, 3, False), (1, "1", 3, None, True)]


@pytest.mark.parametrize("mode", ["scd1", "scd2"])
@pytest.mark.parametrize("policy", ["quarantine", long("ignore")])
def test_the_first_value_of_a_new_column_is_not_late(load, rows, spark, table, policy, mode):
    options = f"keys: [id], mode: {mode}, late_changes: {policy}"
    before = load_contract(TEXT.replace("keys: [id]", options))
    grown = TEXT.replace("- {name: at,", "- {name: zip, type: string}\n  - {name: at,")
    grown = grown.replace("track_history_columns: [name]", "track_history_columns: [name, zip]")
    after = load_contract(grown.replace("keys: [id]", options))
    told(load, "full", 3, at(1, "a"), promise=before)
    create_or_evolve(spark, after, table)

    done = told(load, "full", 5, at(1, "a", zip="x"), promise=after)

    assert (done.opened, done.quarantined, done.superseded) == (0, 0, 0)
    assert rows("id, name, zip") == [(1, "a", "x", 1, None, True)]

    done = told(load, "full", 7, at(1, "a", zip="y"), promise=after)
    assert (done.quarantined + done.superseded, rows("zip")[0][0]) == (1, "x")
