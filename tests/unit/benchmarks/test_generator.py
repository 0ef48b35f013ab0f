"""The data of a benchmark: what the generator says must come out, and what it writes."""

import gzip
import json
from dataclasses import replace
from datetime import timedelta

import pytest

from benchmarks.check import agrees_with_model, expected
from benchmarks.generator import build, connect
from benchmarks.workloads import Workload

SMALL = Workload(
    keys=150, history=2, changed=0.2, new=0.05, deleted=0.05, batch=0.4, null_flips=0.3, runs=2
)


@pytest.mark.parametrize("sequence", [False, True])
@pytest.mark.parametrize(
    ("extract", "key_type"),
    [("full", "bigint"), ("incremental", "string"), ("full", "composite")],
)
def test_the_expected_table_is_the_one_of_the_independent_model(
    tmp_path, extract, key_type, sequence
):
    load = replace(SMALL, extract=extract, key_type=key_type, sequence=sequence)
    data = build(load, tmp_path)

    assert agrees_with_model(data)


def test_the_model_disagrees_when_a_batch_is_lost(tmp_path):
    data = build(SMALL, tmp_path)
    for file in data.batch(1):
        file.write_bytes(gzip.compress(b""))

    assert not agrees_with_model(data)


def test_a_version_begins_when_its_record_says_in_the_day_before_the_extract(tmp_path):
    data = build(replace(SMALL, sequence=True), tmp_path)
    wanted = f"SELECT customer_id, changed_at, valid_from FROM ({expected(data)})"

    with connect() as db:
        rows = db.execute(f"{wanted} WHERE valid_from > '2024-05-30'").fetchall()

    assert len({at for _, _, at in rows}) > 50
    assert all(said == at for _, said, at in rows)
    assert min(at for _, _, at in rows) > data.extraction_time(0) - timedelta(days=1)
    assert max(at for _, _, at in rows) <= data.extraction_time(2)


def test_a_record_that_says_the_same_has_the_same_time(tmp_path):
    load = Workload(keys=300, history=1, changed=0.0, new=0.0, deleted=0.0, runs=1, sequence=True)
    data = build(load, tmp_path)

    assert _records(data, 0) == _records(data, 1)
    assert {record["changed_at"] for record in _records(data, 0)} == {"2024-01-02T00:00:00Z"}


def test_the_same_seed_gives_the_same_records_and_another_seed_others(tmp_path):
    first, again, other = (
        _records(build(replace(SMALL, seed=seed), tmp_path / name), 1)
        for seed, name in ((1, "a"), (1, "b"), (2, "c"))
    )

    assert first == again != other


def test_a_full_batch_holds_the_shares_that_its_workload_names(tmp_path):
    load = Workload(keys=10_000, history=0, changed=0.1, new=0.02, deleted=0.03, runs=0)
    data = build(load, tmp_path)

    with connect() as db:
        opened, new, deleted = db.execute(
            "SELECT count_if(since = batch_time), count_if(since = batch_time AND id >= 10000), "
            "count(until) - count_if(since = batch_time AND id < 10000) "
            f"FROM '{data.versions}', (SELECT TIMESTAMP '2024-06-01' AS batch_time)"
        ).fetchone()

    assert new == 200
    assert opened - new == pytest.approx(1000, rel=0.1)
    assert deleted == pytest.approx(300, rel=0.2)
    assert len(_records(data, 0)) == 10_000 - deleted + new


def test_an_unchanged_batch_repeats_the_current_rows(tmp_path):
    load = Workload(keys=300, history=1, changed=0.0, new=0.0, deleted=0.0, runs=1)
    data = build(load, tmp_path)

    with connect() as db:
        assert db.execute(f"SELECT count(*) FROM '{data.versions}'").fetchone() == (600,)
    assert _records(data, 0) == _records(data, 1)


def test_other_bytes_say_the_same_and_no_line_comes_again(tmp_path):
    load = Workload(keys=300, history=1, changed=0.1, new=0.0, deleted=0.0, runs=1)
    data = build(replace(load, other_bytes=True), tmp_path)
    first, second = _records(data, 0), _records(data, 1)

    assert agrees_with_model(data)
    assert [record.pop("batch") for record in (*first, *second)] == [0] * 300 + [1] * 300
    assert sum(a == b for a, b in zip(first, second, strict=True)) > 200


def test_a_second_build_writes_nothing(tmp_path):
    data = build(SMALL, tmp_path)
    before = {file: file.stat().st_mtime_ns for file in data.folder.rglob("*")}

    build(SMALL, tmp_path)

    assert {file: file.stat().st_mtime_ns for file in data.folder.rglob("*")} == before


@pytest.mark.parametrize("mixed", [True, False])
def test_the_starting_rows_lie_mixed_or_the_closed_ones_apart(tmp_path, mixed):
    load = Workload(keys=5_000, history=1, changed=0.0, new=0.0, deleted=0.0, runs=0, mixed=mixed)
    data = build(load, tmp_path)

    with connect() as db:
        first, rest = db.execute(
            "SELECT count_if(is_current AND file_row_number < 5000), "
            "count_if(is_current AND file_row_number >= 5000) "
            f"FROM read_parquet('{data.history}/*.parquet', file_row_number = true)"
        ).fetchone()

    assert first + rest == 5_000
    assert (2_000 < first < 3_000) if mixed else (first == 0)


def _records(data, number):
    lines = [
        line
        for file in data.batch(number)
        for line in gzip.decompress(file.read_bytes()).splitlines()
    ]
    return sorted((json.loads(line) for line in lines), key=lambda record: record["customer_id"])


def test_what_finds_no_room_in_memory_leaves_nothing_in_the_working_directory(
    tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)

    with connect() as db:
        db.execute("SET memory_limit = '64MB'")
        db.execute("CREATE TABLE t AS SELECT range AS a, hash(range) AS b FROM range(20_000_000)")
        spilled = db.sql("SELECT count(*) FROM duckdb_temporary_files()").fetchone()

        assert spilled != (0,)
        assert [*tmp_path.iterdir()] == []
