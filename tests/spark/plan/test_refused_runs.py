"""Refused by the merge: bad records, too many deletions, extracts that come too late."""

from datetime import UTC, datetime

import pytest

from lakekit.errors import (
    CommitConflictError,
    InvalidContractError,
    LateExtractError,
    TooManyDeletedError,
    TooManyRejectedError,
)
from lakekit.spark.schema.create_tables import create_or_evolve
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


SCHEMA = {
    "name": {"type": "string", "required": True},
    "price": {"type": "decimal(5,2)", "required": True},
    "op": "string",
}
DELETING = {"sequence_by": "at", "apply_as_deletes": "op = 'D'", "except_columns": ["op"]}


@pytest.mark.parametrize(
    "options",
    [{}, *map(long, [{"deletes": "mark"}, {"deletes": "ignore"}, {"late_changes": "quarantine"}])],
)
def test_a_record_that_deletes_needs_its_keys_and_its_time_alone(load, spark, table, options):
    """As Debezium and DMS send it; a value that does not parse may be what says that it deletes."""
    quality = {"max_rejected_ratio": 1}
    contract = people(columns=SCHEMA, quality=quality, **DELETING, **options)
    records = [{"id": n, "at": "2026-01-01", "name": "a", "price": 1} for n in range(6)]
    load(1, *records, contract=contract, extract="changes")
    later = {"at": "2026-01-02", "op": "D"}

    done = load(
        2,
        {"id": 0, **later},
        {"id": 1, **later, "name": None, "price": None},
        {"id": 2, "op": "D"},
        {**later, "name": "a", "price": 1},
        {"id": 3, **later, "price": 1000},
        {"id": 4, **later, "op": "U"},
        {"id": 5, **later, "op": None, "name": "b"},
        contract=contract,
        extract="changes",
    )

    rejected = spark.table(f"{table}_quarantine").select("_fault").collect()
    assert sorted(row[0] for row in rejected) == [
        "at: required, but null",
        "id: required, but null",
        "name: required, but null; price: required, but null",
        "price: does not fit decimal(5,2)",
        "price: required, but null",
    ]
    assert (done.deletes, done.deleted) == (2, 0 if options.get("deletes") == "ignore" else 2)


@pytest.mark.parametrize("extract", ["incremental", "full"])
@pytest.mark.long
def test_only_change_extracts_have_records_that_delete(load, extract):
    contract = people(columns=SCHEMA, **DELETING)

    with pytest.raises(TooManyRejectedError, match="name: required"):
        load(1, {"id": 1, "at": "2026-01-02", "op": "D"}, contract=contract, extract=extract)


@pytest.mark.parametrize(
    ("contract", "records", "error"),
    [
        (people(apply_as_deletes="nmae = 'x'"), [ANN], "apply_as_deletes: .*UNRESOLVED_COLUMN"),
        long(people(apply_as_deletes="name"), [ANN], "apply_as_deletes: it is string, not bool"),
        long(people(apply_as_deletes="name ="), [ANN], "apply_as_deletes: .*PARSE_SYNTAX_ERROR"),
        long(people(apply_as_deletes="max(id) = 1"), [ANN], "apply_as_deletes: .*GROUP BY"),
        long(people(apply_as_deletes="deleted(id)"), [ANN], "apply_as_deletes: .*ROUTINE"),
        long(people(), [ANN, "x", "y"], "2 of 3 records"),
        long(people(null_keys="fail"), [ANN, {"name": "x"}], "null in their key"),
    ],
)
def test_a_first_run_that_is_refused_leaves_no_table(load, plan, spark, contract, records, error):
    before = tables(spark)

    for merge in (load, plan):
        with pytest.raises((InvalidContractError, TooManyRejectedError), match=error):
            merge(1, *records, contract=contract, extract="changes")

    assert tables(spark) == before


def tables(spark):
    spark.sql("CREATE NAMESPACE IF NOT EXISTS lake.local")
    return {row["tableName"] for row in spark.sql("SHOW TABLES IN lake.local").collect()}


@pytest.mark.long
def test_no_table_is_made_by_a_wrong_condition(spark, table):
    with pytest.raises(InvalidContractError, match="people: history"):
        create_or_evolve(spark, people(apply_as_deletes="nmae = 'x'"), table)

    assert not spark.catalog.tableExists(table)


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


@pytest.mark.parametrize("extract", ["full", long("incremental"), long("changes")])
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
