"""Policies for late records with full extracts, guards and modes; each once came out wrong."""

from datetime import UTC, datetime

import pytest

from lakekit.batch import Batch
from lakekit.errors import LateExtractError, TooManyDeletedError, TooManyRejectedError
from lakekit.spark.merge_scd2 import merge_scd2
from tests.spark.support.late import at, cdc, deletion, load_as
from tests.spark.support.people import people
from tests.tiers import long


@pytest.mark.long
@pytest.mark.parametrize("policy", ["quarantine", long("ignore")])
def test_a_key_that_is_new_to_a_full_extract_is_not_late(load, assert_rows, policy):
    contract = cdc(late_changes=policy)
    new = at(5, "b", id=2)
    load_as(load, "full", 10, at(1, "a"), contract=contract)
    done = load_as(load, "full", 11, at(1, "a"), new, contract=contract)
    again = load_as(load, "full", 12, at(1, "a"), new, contract=contract)

    assert_rows((1, "a", 1, None, True), (2, "b", 11, None, True), columns="id, name")
    assert (done.opened, done.quarantined, done.superseded) == (1, 0, 0)
    assert (again.unchanged, again.quarantined, again.superseded) == (2, 0, 0)


@pytest.mark.long
@pytest.mark.parametrize("policy", ["quarantine", long("ignore")])
def test_a_key_that_comes_back_with_its_old_record_is_not_late(load, rows, policy):
    contract = cdc(late_changes=policy)
    back = at(5, "b", id=2)
    load_as(load, "full", 10, at(1, "a"), back, contract=contract)
    load_as(load, "full", 11, at(1, "a"), contract=contract)
    load_as(load, "full", 12, at(1, "a"), back, contract=contract)

    assert rows("id, name")[1:] == [(2, "b", 5, 11, False), (2, "b", 12, None, True)]


@pytest.mark.long
@pytest.mark.parametrize("deletes", ["close", long("mark")])
def test_a_key_comes_back_with_the_newest_of_its_old_records(load, rows, deletes):
    contract = cdc(late_changes="quarantine", deletes=deletes)
    load_as(load, "changes", 9, at(3, "a"), deletion(5), contract=contract)
    done = load_as(load, "full", 10, at(5, "b"), at(4, "c"), contract=contract)

    assert rows("id, name")[-1] == (1, "b", 10, None, True)
    assert (done.opened, done.superseded, done.quarantined) == (1, 1, 0)


@pytest.mark.long
def test_a_full_extract_does_not_renew_a_version_by_an_older_record(load, assert_rows):
    contract = cdc(late_changes="ignore")
    load_as(load, "changes", 9, at(5, "a"), at(8, "a", seen=2), contract=contract)
    done = load_as(load, "full", 10, at(7, "a", seen=1), contract=contract)

    assert_rows((1, "a", 2, 8, 5, None, True), columns="id, name, seen, day(at)")
    assert (done.unchanged, done.superseded) == (0, 1)


@pytest.mark.long
def test_a_record_of_the_time_of_an_extract_that_lacks_its_key_is_late(load, rows):
    contract = cdc(late_changes="quarantine")
    load_as(load, "changes", 3, at(1, "a"), contract=contract)
    load_as(load, "full", 5, at(1, "z", id=2), contract=contract)
    done = load_as(load, "changes", 6, at(5, "a"), contract=contract)

    assert rows("id, name")[0] == (1, "a", 1, 5, False)
    assert done.quarantined == 1


def test_without_a_sequence_what_is_not_newer_is_refused_whatever_late_changes_says(load):
    contract = people(late_changes="ignore")
    load(2, {"id": 1, "name": "a"}, contract=contract)

    with pytest.raises(LateExtractError):
        load(2, {"id": 1, "name": "b"}, run_id="other", contract=contract)


def test_what_is_ignored_as_late_is_not_quarantined_with_what_is(load, spark, table):
    contract = cdc(late_changes="ignore")
    load_as(load, "incremental", 9, at(5, "a"), contract=contract)
    done = load_as(load, "incremental", 10, at(3, "x"), at(1, "y", id=None), contract=contract)

    kept = spark.table(f"{table}_quarantine").collect()
    assert (done.quarantined, done.superseded, len(kept)) == (1, 1, 1)
    assert "id: required" in kept[0]["_fault"]


@pytest.mark.parametrize(("policy", "refused"), [("quarantine", 4), long("ignore", 0)])
def test_scd1_too_does_with_late_records_what_its_contract_says(load, assert_rows, policy, refused):
    contract = cdc(mode="scd1", late_changes=policy)
    load_as(load, "changes", 9, at(5, "a"), at(7, None, id=2, op="D"), contract=contract)
    late = [at(3, "x"), at(5, "y"), at(5, None, op="D"), at(7, "z", id=2)]
    done = load_as(load, "changes", 10, *late, at(5, "a"), at(8, "c", id=3), contract=contract)

    assert_rows((1, "a", 5, None, True), (3, "c", 8, None, True), columns="id, name")
    assert (done.quarantined, done.superseded) == (refused, 4 - refused)
    assert (done.opened, done.unchanged) == (1, 1)


@pytest.mark.long
def test_copies_of_a_record_do_not_dilute_the_share_that_is_deleted(load, rows):
    contract = people(max_deleted_ratio=0.5)
    ten = [{"id": n, "name": "a", "city": "x"} for n in range(10)]
    load(1, *ten, contract=contract)

    with pytest.raises(TooManyDeletedError, match="close 9 of 10 current keys"):
        load(2, *[ten[0]] * 50, contract=contract)

    assert len(rows()) == 10


@pytest.mark.long
def test_keys_that_late_absences_leave_alone_do_not_stop_a_run(load, rows):
    contract = cdc(late_changes="ignore", max_deleted_ratio=0.2)
    load_as(load, "full", 20, *[at(20, "a", id=n) for n in range(4)], contract=contract)
    load_as(load, "full", 10, at(20, "a", id=0), contract=contract)

    assert [row[-1] for row in rows("id")] == [True] * 4


@pytest.mark.parametrize("mode", ["scd2", long("scd1"), long("append")])
def test_null_keys_fail_a_run(load, spark, table, mode):
    contract = people(mode=mode, null_keys="fail")
    load(1, {"id": 1}, contract=contract)

    with pytest.raises(TooManyRejectedError, match=r"null_keys is fail"):
        load(2, {"id": 1}, {"id": 2}, {"id": None}, contract=contract)

    assert [row["id"] for row in spark.table(table).collect()] == [1]


def test_a_run_is_appended_once_though_its_snapshot_has_expired(spark, table, tmp_path):
    contract = people(mode="append", keys=[])

    def merge(day):
        file = tmp_path / f"{day}.ndjson"
        file.write_text('{"id": 1}\n{"id": 1}\n')
        time = datetime(2026, 1, day, tzinfo=UTC)
        batch = Batch(
            run_id=f"r{day}", extract="incremental", extraction_time=time, files=(str(file),)
        )
        return merge_scd2(spark, contract, batch, table, staging=tmp_path.as_uri())

    merge(1)
    merge(2)
    spark.sql(
        f"CALL lake.system.expire_snapshots(table => '{table}', "
        "older_than => TIMESTAMP '2999-01-01', retain_last => 1)"
    )
    again = merge(1)

    assert (again.opened, again.duplicates, again.committed) == (0, 2, False)
    assert spark.table(table).count() == 4


@pytest.mark.long
def test_what_extracts_repeat_of_a_key_that_came_back_is_not_late(load, assert_rows):
    contract = cdc(mode="scd1", late_changes="quarantine")
    load_as(load, "full", 5, at(1, "a"), at(1, "other", id=2), contract=contract)
    load_as(load, "full", 6, at(1, "other", id=2), contract=contract)
    load_as(load, "full", 7, at(1, "a"), at(1, "other", id=2), contract=contract)

    done = load_as(load, "full", 8, at(1, "a"), at(1, "other", id=2), contract=contract)

    assert (done.quarantined, done.unchanged) == (0, 2)
    assert_rows((1, "a", 7, None, True), (2, "other", 1, None, True), columns="id, name")


def test_a_late_deletion_does_not_come_before_a_record_in_time(load, assert_rows):
    contract = cdc(mode="scd1", late_changes="quarantine")
    load_as(load, "full", 20, at(10, "a"), contract=contract)

    done = load_as(load, "changes", 21, at(15, "b"), deletion(18), contract=contract)

    assert (done.opened, done.quarantined) == (1, 1)
    assert_rows((1, "b", 15, None, True), columns="id, name")


def test_a_record_that_a_version_already_shows_as_its_newest_is_not_late(load, assert_rows):
    contract = cdc(late_changes="quarantine", ignore_null_updates=True)
    load_as(load, "incremental", 3, at(1, "a"), at(10, "a"), contract=contract)

    done = load_as(load, "changes", 5, at(10, "a"), contract=contract)

    assert (done.quarantined, done.unchanged) == (0, 1)
    assert_rows((1, "a", 1, None, True), columns="id, name")
