"""Refused by the merge: bad records, too many deletions, extracts that come too late."""

from datetime import UTC, datetime

import pytest

from lakekit.errors import (
    CommitConflictError,
    LateExtractError,
    TooManyDeletedError,
    TooManyRejectedError,
)
from tests.spark.support.people import ANN, BEN, people
from tests.spark.support.seams import around
from tests.tiers import long

pytestmark = pytest.mark.usefixtures("planned_as_in_production")


def test_a_bad_record_goes_to_quarantine_with_its_bytes_and_the_reason(load, spark, rows, table):
    result = load(1, ANN, '{"id": "x", "name": 1}', '{"name":"no key"}', "not json", BEN)

    found = spark.sql(f"SELECT _raw, _fault FROM {table}_quarantine ORDER BY _raw").collect()
    assert [tuple(row) for row in found] == [
        ("not json", "does not parse as the contract's schema"),
        ('{"id": "x", "name": 1}', "id: does not fit int"),
        ('{"name":"no key"}', "id: required, but null"),
    ]
    assert len(rows()) == result.opened == 2
    assert result.quarantined == 3


def test_a_replay_does_not_quarantine_twice(load, spark, table):
    load(1, ANN, "not json", run_id="a")
    load(1, ANN, "not json", run_id="a")

    assert spark.sql(f"SELECT * FROM {table}_quarantine").count() == 1


def test_too_many_bad_records_stop_the_run_and_change_nothing(load, assert_rows):
    load(1, ANN)

    with pytest.raises(TooManyRejectedError, match="2 of 3 records"):
        load(2, BEN, "x", "y")

    assert_rows((1, "Ann", "Oslo", 1, None, True))


def test_too_many_deletes_stop_the_run_and_change_nothing(load, rows):
    guarded = people(max_deleted_ratio=0.2)
    load(1, ANN, BEN, contract=guarded)

    with pytest.raises(TooManyDeletedError, match="1 of 2 current keys"):
        load(2, ANN, contract=guarded)

    assert [row[-1] for row in rows()] == [True, True]


def test_an_empty_full_extract_is_stopped_by_the_delete_guard(load, assert_rows):
    guarded = people(max_deleted_ratio=0.2)
    load(1, ANN, contract=guarded)

    with pytest.raises(TooManyDeletedError):
        load(2, contract=guarded)

    assert_rows((1, "Ann", "Oslo", 1, None, True))


def test_an_extract_older_than_a_merged_one_is_refused(load, assert_rows):
    load(5, ANN)

    with pytest.raises(LateExtractError, match="already merged"):
        load(3, {**ANN, "city": "Rome"})

    assert_rows((1, "Ann", "Oslo", 5, None, True))


@pytest.mark.parametrize("extract", ["full", long("incremental"), "changes"])
def test_an_extract_older_than_one_that_changed_nothing_is_refused(load, rows, extract):
    """The table does not show that extract; its landing does."""
    load(1, ANN, extract="incremental")
    assert not load(5, ANN, extract="incremental").committed
    until = {"merged_until": datetime(2026, 1, 5, tzinfo=UTC)}

    with pytest.raises(LateExtractError, match=r"before 2026-01-05T00:00:00\.000000Z"):
        load(3, {**ANN, "city": "Rome"}, extract=extract, known=until)

    load(6, {**ANN, "city": "Bonn"}, extract=extract, known=until)
    assert [row[2] for row in rows()] == ["Oslo", "Bonn"]


def test_another_extract_of_the_same_time_is_refused_if_it_differs(load, assert_rows):
    load(5, ANN, run_id="a")

    with pytest.raises(LateExtractError):
        load(5, {**ANN, "city": "Rome"}, run_id="b")

    assert_rows((1, "Ann", "Oslo", 5, None, True))


def test_gives_up_after_some_lost_commits(load, assert_rows, tuned, monkeypatch):
    load(1, ANN)
    tuned(merge_attempts=2)
    around(monkeypatch, "fast-forward", lambda *_: None)

    with pytest.raises(CommitConflictError, match="others wrote 2 times"):
        load(2, BEN)

    assert_rows((1, "Ann", "Oslo", 1, None, True))
