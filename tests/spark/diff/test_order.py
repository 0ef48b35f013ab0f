"""Which record counts of several with one key and event time; each once came out wrong.

Days are of January: the day from which a record holds, and the day of a run's extract.
"""

import pytest

from tests.spark.support.late import at, cdc, deletion, load_as
from tests.tiers import long


@pytest.mark.long
def test_a_version_that_a_late_change_cut_keeps_the_rank_of_its_record(load, assert_rows, rows):
    load_as(load, "changes", 2, at(30, "a", seen=1))
    load_as(load, "changes", 3, at(2, "a", seen=2))
    load_as(load, "changes", 5, at(3, "b"), deletion(4))
    assert rows("id, name, day(_ingested_at)")[0][:3] == (1, "a", 3)

    load_as(load, "changes", 4, deletion(2))

    assert_rows((1, "b", 3, 4, False), (1, "a", 30, None, True), columns="id, name")


@pytest.mark.long
def test_a_record_beats_what_an_extract_of_its_time_brought_back(load, assert_rows):
    contract = cdc(untracked="ignore")
    load_as(load, "changes", 5, deletion(3), contract=contract)
    load_as(load, "full", 4, at(1, "a", seen=1), contract=contract)
    assert_rows((1, "a", 1, 1, 3, False), (1, "a", 1, 4, None, True), columns="id, name, seen")

    load_as(load, "incremental", 3, at(4, "a", seen=2), contract=contract)

    assert_rows((1, "a", 1, 1, 3, False), (1, "a", 2, 4, None, True), columns="id, name, seen")


@pytest.mark.long
def test_the_later_extract_counts_of_records_that_differ_in_ignored_columns(load, assert_rows):
    contract = cdc(untracked="ignore")
    load_as(load, "changes", 5, at(1, "a", seen=1), contract=contract)
    load_as(load, "changes", 6, at(1, "a", seen=2), contract=contract)

    assert_rows((1, "a", 2, 1, None, True), columns="id, name, seen")


def test_the_columns_of_the_tie_break_decide_between_runs_of_scd1_too(load, assert_rows):
    contract = cdc(mode="scd1", tie_break=["seen"])
    load_as(
        load,
        "changes",
        5,
        at(5, "a", seen=2),
        at(5, None, op="D", seen=2) | {"id": 2},
        contract=contract,
    )
    load_as(
        load, "changes", 6, at(5, "b", seen=1), at(5, "b", seen=1) | {"id": 2}, contract=contract
    )
    assert_rows((1, "a", 2, 5, None, True), columns="id, name, seen")

    load_as(
        load, "changes", 4, at(5, "c", seen=3), at(5, "c", seen=3) | {"id": 2}, contract=contract
    )

    assert_rows((1, "c", 3, 5, None, True), (2, "c", 3, 5, None, True), columns="id, name, seen")


def test_a_late_deletion_does_not_come_before_a_record_of_its_event_time(load, assert_rows):
    contract = cdc(late_changes="quarantine")
    load_as(load, "full", 10, at(1, "a"), contract=contract)

    done = load_as(load, "changes", 12, at(5, "b"), deletion(5), contract=contract)

    assert_rows((1, "a", 1, 5, False), (1, "b", 5, None, True), columns="id, name")
    assert (done.opened, done.superseded, done.deletes, done.quarantined) == (1, 0, 0, 1)


@pytest.mark.long
@pytest.mark.parametrize("policy", ["quarantine", long("ignore")])
def test_a_record_in_time_comes_before_one_that_would_bring_its_key_back(load, rows, policy):
    contract = cdc(late_changes=policy)
    load_as(load, "full", 7, at(1, "z", id=2), contract=contract)

    done = load_as(
        load, "full", 10, at(3, "old"), at(9, "new"), at(1, "z", id=2), contract=contract
    )

    assert rows("id, name")[0] == (1, "new", 9, None, True)
    assert (done.opened, done.superseded, done.unchanged, done.quarantined) == (1, 1, 1, 0)


def test_append_separates_ties_from_duplicates(load, spark, table):
    def counted(done):
        return done.opened, done.duplicates, done.superseded, done.quarantined

    contract = cdc(mode="append", apply_as_deletes=None)
    first = load_as(
        load, "incremental", 1, at(1, "a"), at(1, "b"), at(2, "c"), at(2, "c"), contract=contract
    )
    again = load_as(load, "incremental", 2, at(1, "b"), at(2, "d"), contract=contract)

    assert (counted(first), counted(again)) == ((2, 1, 1, 0), (0, 1, 1, 0))
    assert sorted(row["name"] for row in spark.table(table).collect()) == ["b", "c"]
