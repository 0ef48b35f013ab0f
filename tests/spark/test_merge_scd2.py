"""The specification of the merge: load 1, load 2, load 3, the whole table after each."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from lakekit.batch import Batch
from lakekit.contracts import load_contract
from lakekit.errors import (
    CommitConflictError,
    LateExtractError,
    TooManyDeletedError,
    TooManyRejectedError,
)
from lakekit.spark import publish, scd2
from lakekit.spark.iceberg import main_snapshot
from lakekit.spark.lines import file_uri
from lakekit.spark.scd2 import merge_scd2
from tests.spark.people import CONTRACT, TIMED

pytestmark = pytest.mark.usefixtures("planned_as_in_production")
ANN = {"id": 1, "name": "Ann", "city": "Oslo"}
BEN = {"id": 2, "name": "Ben", "city": None}


def test_the_first_load_opens_a_version_per_key(load, rows):
    result = load(1, ANN, BEN)

    assert rows() == [(1, "Ann", "Oslo", 1, None, True), (2, "Ben", None, 1, None, True)]
    assert (result.opened, result.closed, result.committed) == (2, 0, True)


def test_closes_and_opens_at_the_same_moment_when_a_tracked_column_changes(load, rows):
    load(1, ANN, BEN)

    result = load(2, {**ANN, "city": "Rome"}, BEN)

    assert rows() == [
        (1, "Ann", "Oslo", 1, 2, False),
        (1, "Ann", "Rome", 2, None, True),
        (2, "Ben", None, 1, None, True),
    ]
    assert (result.opened, result.closed, result.deleted, result.unchanged) == (1, 1, 0, 1)


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
        ({"name": None, "city": None}, {"name": "", "city": None}),
        ({"name": "x", "city": None}, {"name": "x", "city": "null"}),
    ],
)
def test_sees_every_change_to_or_from_null(load, rows, old, new):
    load(1, {"id": 1, **old})

    load(2, {"id": 1, **new})

    assert [row[3:] for row in rows()] == [(1, 2, False), (2, None, True)]
    assert rows()[1][1:3] == (new["name"], new["city"])


def test_an_absent_key_of_a_full_extract_closes(load, rows):
    load(1, ANN, BEN)

    result = load(2, ANN)

    assert rows() == [(1, "Ann", "Oslo", 1, None, True), (2, "Ben", None, 1, 2, False)]
    assert (result.opened, result.closed, result.deleted) == (0, 1, 1)


def test_an_absent_key_of_an_incremental_extract_stays(load, rows):
    load(1, ANN, BEN)

    load(2, {**ANN, "city": "Rome"}, extract="incremental")

    assert rows()[-1] == (2, "Ben", None, 1, None, True)


def test_an_absent_key_stays_when_deletes_are_ignored(load, rows):
    keep = load_contract(CONTRACT.replace("keys: [id]", "keys: [id], deletes: ignore"))
    load(1, ANN, BEN, promise=keep)

    result = load(2, ANN, promise=keep)

    assert len([row for row in rows() if row[-1]]) == 2
    assert not result.committed


def test_a_key_that_comes_back_opens_a_new_version_after_the_gap(load, rows):
    load(1, ANN, BEN)
    load(2, BEN)

    load(3, ANN, BEN)

    assert rows()[:2] == [(1, "Ann", "Oslo", 1, 2, False), (1, "Ann", "Oslo", 3, None, True)]


def test_the_last_of_several_records_of_a_key_wins(load, rows):
    result = load(1, ANN, {**ANN, "city": "Rome"}, ANN, {**ANN, "city": "Bonn"})

    assert rows() == [(1, "Ann", "Bonn", 1, None, True)]
    assert (result.opened, result.superseded) == (1, 3)


def test_a_replay_changes_nothing(load, rows):
    load(1, ANN, run_id="a")
    load(2, {**ANN, "city": "Rome"}, run_id="b")
    before = rows()

    again = load(1, ANN, run_id="a")

    assert rows() == before
    assert not again.committed


def test_a_bad_record_goes_to_quarantine_with_its_bytes_and_the_reason(load, spark, rows, table):
    result = load(1, ANN, '{"id": "x", "name": 1}', '{"name":"no key"}', "not json", BEN)

    found = spark.sql(f"SELECT _raw, _fault FROM {table}_quarantine ORDER BY _raw").collect()
    assert [tuple(row) for row in found] == [
        ("not json", "does not parse as the contract's schema"),
        ('{"id": "x", "name": 1}', "does not parse as the contract's schema"),
        ('{"name":"no key"}', "id: required, but null"),
    ]
    assert len(rows()) == result.opened == 2
    assert result.quarantined == 3


def test_a_replay_does_not_quarantine_twice(load, spark, table):
    load(1, ANN, "not json", run_id="a")
    load(1, ANN, "not json", run_id="a")

    assert spark.sql(f"SELECT * FROM {table}_quarantine").count() == 1


def test_too_many_bad_records_stop_the_run_and_change_nothing(load, rows):
    load(1, ANN)

    with pytest.raises(TooManyRejectedError, match="2 of 3 records"):
        load(2, BEN, "x", "y")

    assert rows() == [(1, "Ann", "Oslo", 1, None, True)]


def test_too_many_deletes_stop_the_run_and_change_nothing(load, rows):
    guarded = load_contract(CONTRACT.replace("max_deleted_ratio: 1", "max_deleted_ratio: 0.2"))
    load(1, ANN, BEN, promise=guarded)

    with pytest.raises(TooManyDeletedError, match="1 of 2 current keys"):
        load(2, ANN, promise=guarded)

    assert [row[-1] for row in rows()] == [True, True]


def test_an_empty_full_extract_is_stopped_by_the_delete_guard(load, rows):
    guarded = load_contract(CONTRACT.replace("max_deleted_ratio: 1", "max_deleted_ratio: 0.2"))
    load(1, ANN, promise=guarded)

    with pytest.raises(TooManyDeletedError):
        load(2, promise=guarded)

    assert rows() == [(1, "Ann", "Oslo", 1, None, True)]


def test_an_extract_older_than_a_merged_one_is_refused(load, rows):
    load(5, ANN)

    with pytest.raises(LateExtractError, match="already merged"):
        load(3, {**ANN, "city": "Rome"})

    assert rows() == [(1, "Ann", "Oslo", 5, None, True)]


@pytest.mark.parametrize("extract", ["full", "incremental", "changes"])
def test_an_extract_older_than_one_that_changed_nothing_is_refused(load, rows, extract):
    """The table does not show that one; its landing does."""
    load(1, ANN, extract="incremental")
    assert not load(5, ANN, extract="incremental").committed
    until = {"merged_until": datetime(2026, 1, 5, tzinfo=UTC)}

    with pytest.raises(LateExtractError, match=r"before 2026-01-05T00:00:00\.000000Z"):
        load(3, {**ANN, "city": "Rome"}, extract=extract, known=until)

    load(6, {**ANN, "city": "Bonn"}, extract=extract, known=until)
    assert [row[2] for row in rows()] == ["Oslo", "Bonn"]


def test_another_extract_of_the_same_moment_is_refused_if_it_differs(load, rows):
    load(5, ANN, run_id="a")

    with pytest.raises(LateExtractError):
        load(5, {**ANN, "city": "Rome"}, run_id="b")

    assert rows() == [(1, "Ann", "Oslo", 5, None, True)]


def test_a_composite_key_is_one_key(load, rows):
    both = load_contract(CONTRACT.replace("keys: [id]", "keys: [id, name]"))
    load(1, ANN, {**ANN, "name": "Eva"}, promise=both)

    load(2, {**ANN, "city": "Rome"}, {**ANN, "name": "Eva"}, promise=both)

    assert rows() == [
        (1, "Ann", "Oslo", 1, 2, False),
        (1, "Eva", "Oslo", 1, None, True),
        (1, "Ann", "Rome", 2, None, True),
    ]


def test_nested_columns_and_odd_numbers_compare_by_value(load, rows):
    """aws-sdk-pandas #3018: a merge of array columns does not end."""
    text = CONTRACT.replace(
        "  - {name: city, type: string}",
        '  - {name: city, type: "map<string,int>"}\n'
        '  - {name: at, type: "struct<x:double,y:array<int>>"}\n  - {name: d, type: double}\n'
        '  - {name: price, type: "decimal(10,2)"}',
    )
    nested = load_contract(text)
    first = '{"id":1,"city":{"a":1,"b":2},"at":{"x":1.0,"y":[1,2]},"d":0.0,"price":1.0}'
    equal = '{"id":1,"city":{"b":2,"a":1},"at":{"y":[1,2],"x":1},"d":-0.0,"price":1.00}'
    load(1, first, promise=nested)

    assert not load(2, equal, promise=nested).committed
    assert load(3, first.replace('"x":1.0', '"x":null'), promise=nested).committed


@pytest.mark.parametrize("turn", [1, -1])
def test_files_of_any_name_are_read_in_the_order_of_the_manifest(spark, table, tmp_path, turn):
    files = [tmp_path / name for name in ("z #1 \u00fc.ndjson", "a%20 [b].ndjson")][::turn]
    for number, file in enumerate(files):
        file.write_text(f'{{"id": 1, "name": "{number}"}}\n')
    batch = Batch(
        run_id="a",
        extract="full",
        extraction_time=datetime(2026, 1, 1, tzinfo=UTC),
        files=tuple(map(str, files)),
    )

    merge_scd2(spark, load_contract(CONTRACT), batch, table, staging=tmp_path.as_uri())

    row = spark.table(table).first()
    assert (row["name"], row["_source_file"]) == ("1", file_uri(str(files[1])))


def test_gives_up_after_some_lost_commits(load, rows, monkeypatch):
    load(1, ANN)
    monkeypatch.setattr(scd2, "ATTEMPTS", 2)
    monkeypatch.setattr(publish, "fast_forward", lambda *_: None)

    with pytest.raises(CommitConflictError, match="others wrote 2 times"):
        load(2, BEN)

    assert rows() == [(1, "Ann", "Oslo", 1, None, True)]


def test_merges_three_real_releases_of_the_airports(spark, table, tmp_path):
    contract = load_contract(Path("config/contracts/airports.yaml").read_text())
    results = []
    for release in ("20240806", "20250909", "20260905"):
        batch = Batch(
            run_id=release,
            extract="full",
            extraction_time=datetime.strptime(release, "%Y%m%d").replace(tzinfo=UTC),
            files=(f"examples/airports/data/{release}.ndjson.gz",),
        )
        done = scd2.merge_scd2(spark, contract, batch, table, staging=tmp_path.as_uri())
        results.append((done.opened, done.closed, done.deleted))

    assert results == [(28226, 0, 0), (814, 770, 53), (12690, 12662, 600)]
    assert spark.table(table).count() == 41730
    assert spark.table(table).where("_is_current").count() == 28298


def test_a_table_of_keys_alone_knows_which_are_there(load, rows):
    promise = load_contract(
        CONTRACT.replace("  - {name: name, type: string}\n", "").replace(
            "  - {name: city, type: string}\n", ""
        )
    )
    load(1, {"id": 1}, {"id": 2}, promise=promise)
    load(2, {"id": 1}, promise=promise)

    assert rows("id") == [(1, 1, None, True), (2, 1, 2, False)]


@pytest.mark.parametrize(
    "line", [b'{"id": 2, "name": "\xff\xfe"}', b'[{"id": 2}, {"id": 3}]', b"null", b'{"id": 2']
)
def test_a_line_that_is_no_record_is_rejected_and_its_neighbours_are_not(
    spark, contract, table, tmp_path, line
):
    done = merge_bytes(spark, contract, table, tmp_path, b'{"id": 1}\n' + line + b'\n{"id": 4}\n')

    assert (done.opened, done.quarantined) == (2, 1)
    assert {row["id"] for row in spark.table(table).collect()} == {1, 4}


def test_a_byte_order_mark_and_blank_lines_are_no_records(spark, contract, table, tmp_path):
    text = b'\xef\xbb\xbf{"id": 1, "name": "\xef\xbf\xbd"}\r\n\r\n \t\n{"id": 2}\n'

    done = merge_bytes(spark, contract, table, tmp_path, text)

    assert (done.opened, done.quarantined) == (2, 0)
    assert {row["name"] for row in spark.table(table).collect()} == {"\ufffd", None}


def merge_bytes(spark, contract, table, folder, text):
    file = folder / "raw.ndjson"
    file.write_bytes(text)
    moment = datetime(2026, 1, 1, tzinfo=UTC)
    batch = Batch(run_id="r", extract="full", extraction_time=moment, files=(str(file),))
    return merge_scd2(spark, contract, batch, table, staging=(folder / "s").as_uri())


@pytest.mark.parametrize("extract", ["full", "changes"])
def test_what_a_rollback_took_back_is_merged_again(load, rows, spark, table, extract):
    """Its facts still stand in the companion, which a rollback does not move."""
    load(1, {**ANN, "at": "2026-01-01T00:00:00Z"}, promise=TIMED, extract=extract)
    before = main_snapshot(spark, table)
    moved = {**ANN, "city": "Rome", "at": "2026-01-02T00:00:00Z"}
    again = {**moved, "at": "2026-01-03T00:00:00Z"}
    load(4, moved, again, promise=TIMED, extract=extract)
    merged = rows()
    name = table.removeprefix("lake.")
    spark.sql(f"CALL lake.system.rollback_to_snapshot('{name}', {before})")

    done = load(4, moved, again, promise=TIMED, extract=extract)

    assert done.committed
    assert rows() == merged
