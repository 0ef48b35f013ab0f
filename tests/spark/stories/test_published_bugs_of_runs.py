"""Published bugs that are about whole runs: empty, partial, colliding, crashed, or grown."""

import pytest

from lakekit.errors import TooManyDeletedError
from lakekit.spark.schema.create_tables import create_or_evolve
from tests.spark.support.people import ANN, BEN, TIMED, people
from tests.spark.support.seams import at_the_end_of, crash_at_the_end_of


@pytest.mark.long
def test_an_empty_extract_neither_closes_all_nor_poisons_the_next(load, assert_rows):
    """dbt, SQLMesh; dlt-saga #249."""
    guarded = people(max_deleted_ratio=0.2)
    load(1, ANN, contract=guarded)
    with pytest.raises(TooManyDeletedError):
        load(2, contract=guarded)

    load(3, {**ANN, "city": "Rome"}, contract=guarded)

    assert_rows((1, "Ann", "Oslo", 1, 3, False), (1, "Ann", "Rome", 3, None, True))


def test_periodic_snapshots_give_the_history_by_their_own_dates_in_any_order(load, assert_rows):
    """SQLMesh #2009, sdp-meta #86: versions start when they were loaded."""

    def taken(day, *records):
        at = f"2026-01-{day:02}T00:00:00Z"
        load(day, *({**record, "at": at} for record in records), contract=TIMED)

    rome = {**ANN, "city": "Rome"}
    for day, *records in ((8, ANN, BEN), (22, rome), (1, ANN), (15, rome, BEN)):
        taken(day, *records)

    assert_rows(
        (1, "Ann", "Oslo", 1, 15, False),
        (1, "Ann", "Rome", 15, None, True),
        (2, "Ben", "Bonn", 8, 22, False),
    )


@pytest.mark.long
def test_one_missing_tenant_does_not_close(load, assert_rows):
    """dbt and SQLMesh have no scope."""
    scoped = people(delete_scope=["city"])
    load(1, ANN, {**ANN, "id": 3}, BEN, contract=scoped)

    load(2, ANN, contract=scoped)

    assert_rows(
        (1, "Ann", "Oslo", 1, None, True),
        (2, "Ben", "Bonn", 1, None, True),
        (3, "Ann", "Oslo", 1, 2, False),
    )


@pytest.mark.long
def test_parts_of_a_key_are_not_glued_together(load, assert_rows):
    """dlt: CONCAT without a separator makes one key of these two."""
    both = people(keys=["name", "city"])
    load(
        1, {"id": 1, "name": "a", "city": "bc"}, {"id": 2, "name": "ab", "city": "c"}, contract=both
    )

    load(2, {"id": 1, "name": "a", "city": "bc"}, contract=both)

    assert_rows((1, "a", "bc", 1, None, True), (2, "ab", "c", 1, 2, False))


def test_parts_of_a_key_hold_any_separator_and_null_is_no_empty_string(load, assert_rows):
    """dbt: dbt_scd_id joins the parts by "|", with nulls as empty strings."""
    both = people(keys=["name", "city"])
    parts = [("a|b", "c"), ("a", "b|c"), ("", "a"), ("a", "")]
    records = [{"id": n, "name": name, "city": city} for n, (name, city) in enumerate(parts)]
    load(1, *records, contract=both)

    done = load(2, *records[::2], {"id": 3, "name": "a", "city": None}, contract=both)

    assert (done.unchanged, done.deleted, done.quarantined) == (2, 2, 1)
    assert_rows(
        (0, "a|b", "c", 1, None, True),
        (1, "a", "b|c", 1, 2, False),
        (2, "", "a", 1, None, True),
        (3, "a", "", 1, 2, False),
    )


def test_a_null_key_does_not_keep_others_from_closing(load, assert_rows, spark, table):
    """dlt: NOT IN a set with a null is never true."""
    load(1, ANN, BEN)

    done = load(2, ANN, {"id": None, "name": "x"})

    assert_rows((1, "Ann", "Oslo", 1, None, True), (2, "Ben", "Bonn", 1, 2, False))
    assert (done.quarantined, spark.table(f"{table}_quarantine").count()) == (1, 1)


@pytest.mark.long
def test_a_change_in_a_column_that_is_not_tracked_opens_nothing(load, assert_rows):
    """dbt-core #1966, #10438, dbt-adapters #273, #274."""
    partly = people(track_history_except=["city"])
    load(1, ANN, contract=partly)

    load(2, {**ANN, "city": "Rome"}, contract=partly)

    assert_rows((1, "Ann", "Rome", 1, None, True))


def test_a_deleted_key_is_marked_once_however_long_it_is_missing(load, assert_rows):
    """hard_deletes new_record adds rows at every run, or fails.

    dbt-adapters #524, #1240, dbt-databricks #902, dbt-teradata #238.
    """
    marked = people(deletes="mark")
    load(1, ANN, BEN, contract=marked)
    load(2, BEN, contract=marked)

    load(3, BEN, contract=marked)
    load(4, ANN, BEN, contract=marked)

    assert_rows(
        (1, "Ann", "Oslo", False, 1, 2, False),
        (1, "Ann", "Oslo", True, 2, 4, False),
        (1, "Ann", "Oslo", False, 4, None, True),
        (2, "Ben", "Bonn", False, 1, None, True),
        columns="id, name, city, _is_deleted",
    )


@pytest.mark.long
def test_a_new_column_opens_no_versions_until_it_changes(load, assert_rows, spark, table):
    """dbt-core #10088, dbt-adapters #1562, #1702, dbt-glue #571, #601."""
    load(1, ANN, BEN)
    wider = people(columns={"tier": "string"}, version=2)
    create_or_evolve(spark, wider, table)
    load(2, ANN, BEN, contract=wider)

    load(3, {**ANN, "tier": "gold"}, BEN, contract=wider)

    assert_rows(
        (1, "Ann", None, 1, 3, False),
        (1, "Ann", "gold", 3, None, True),
        (2, "Ben", None, 1, None, True),
        columns="id, name, tier",
    )


@pytest.mark.long
def test_two_colliding_runs_open_one_version(load, assert_rows, monkeypatch):
    """dbt-core #4661."""
    load(1, BEN)
    at_the_end_of(monkeypatch, "check", lambda: load(2, ANN, BEN, run_id="other"))

    load(2, ANN, BEN, run_id="mine")

    assert_rows((1, "Ann", "Oslo", 2, None, True), (2, "Ben", "Bonn", 1, None, True))


@pytest.mark.long
def test_a_crash_between_close_and_open_loses_nothing(load, assert_rows, monkeypatch):
    """laktory, dlt on Athena: two commits; dlt-saga #382."""
    load(1, ANN)
    with crash_at_the_end_of(monkeypatch, "merge"):
        load(2, {**ANN, "city": "Rome"})

    assert_rows((1, "Ann", "Oslo", 1, None, True))
    load(2, {**ANN, "city": "Rome"})
    assert_rows((1, "Ann", "Oslo", 1, 2, False), (1, "Ann", "Rome", 2, None, True))


@pytest.mark.long
def test_a_record_without_a_time_goes_to_quarantine(load, spark, table):
    """dbt and SQLMesh drop it silently."""
    done = load(1, {**ANN, "at": "2026-01-01T00:00:00Z"}, BEN, contract=TIMED, extract="changes")

    (row,) = spark.table(f"{table}_quarantine").collect()
    assert (done.opened, done.quarantined, row["_fault"]) == (1, 1, "at: required, but null")


def test_a_scope_that_turns_null_is_stored_as_null(load, assert_rows):
    scoped = people(delete_scope=["city"])
    load(1, ANN, BEN, contract=scoped)

    load(2, {**ANN, "city": None}, BEN, contract=scoped)
    load(3, {**ANN, "city": None}, BEN, contract=scoped)

    assert_rows(
        (1, "Ann", "Oslo", 1, 2, False),
        (1, "Ann", None, 2, None, True),
        (2, "Ben", "Bonn", 1, None, True),
    )
