"""Every rejected record is kept once, whatever the cluster does and however late."""

import json
from datetime import UTC, datetime

import pytest

from lakekit.batch import Batch
from lakekit.errors import InvariantViolatedError
from lakekit.spark.merge_scd2 import merge_scd2
from tests.spark.support.people import ANN, BEN, people
from tests.spark.support.seams import around

EXPIRE = (
    "CALL lake.system.expire_snapshots(table => '{}_quarantine', retain_last => 1, "
    "older_than => TIMESTAMP '2999-01-01 00:00:00')"
)


def timed(number, day):
    return {"id": number, "at": f"2026-01-{day:02}T00:00:00Z"}


def raw(spark, table):
    found = spark.sql(f"SELECT _raw FROM {table}_quarantine ORDER BY _raw").collect()
    return [row[0] for row in found]


def test_rejected_records_are_found_again_by_executors_that_come_meanwhile(
    load, spark, table, tmp_path, monkeypatch
):
    """Lines are numbered by tasks, and each executor would have Spark cut the files differently."""
    files = [tmp_path / f"part-{n}.ndjson" for n in range(4)]
    late = [[timed(n, day) for day in (2, 3)] for n in range(4)]
    for file, records in zip(files, late, strict=True):
        file.write_text("".join(json.dumps(each) + "\n" for each in records))
    batch = Batch(
        run_id="r",
        extract="incremental",
        extraction_time=datetime(2026, 1, 10, tzinfo=UTC),
        files=tuple(map(str, files)),
    )

    strict = people(sequence_by="at", late_changes="quarantine", quality={"max_rejected_ratio": 1})
    load(9, *[timed(n, 9) for n in range(4)], contract=strict)

    def with_more_executors(read_again, run):
        spark.conf.set("spark.sql.leafNodeDefaultParallelism", "8")
        return read_again(run)

    around(monkeypatch, "read rejected", with_more_executors)
    try:
        done = merge_scd2(spark, strict, batch, table, staging=(tmp_path / "s").as_uri())
    finally:
        spark.conf.unset("spark.sql.leafNodeDefaultParallelism")

    assert done.quarantined == 8
    assert raw(spark, table) == sorted(json.dumps(each) for records in late for each in records)


def test_nothing_is_published_if_a_rejected_record_is_not_kept(
    load, assert_rows, table, monkeypatch
):
    load(1, ANN)
    around(monkeypatch, "rejected", lambda kept, *asked: kept(*asked).limit(1))

    with pytest.raises(InvariantViolatedError, match=r"2 records of run run-2 .* but 1 were found"):
        load(2, ANN, BEN, "not json", "nor this")

    assert_rows((1, "Ann", "Oslo", 1, None, True))


def test_a_run_that_comes_again_after_long_is_quarantined_once(load, spark, table, monkeypatch):
    """A crash came before its commit, and since then the quarantine's snapshots have expired."""
    load(1, "neither is this", ANN, run_id="other")
    with monkeypatch.context() as crash, pytest.raises(ZeroDivisionError):
        around(crash, "publish", lambda *_: 1 / 0)
        load(2, BEN, "not json", run_id="a")
    load(2, ANN, "and this", run_id="between")
    spark.sql(EXPIRE.format(table.removeprefix("lake.")))

    load(2, ANN, BEN, "not json", run_id="a", extract="incremental")

    assert raw(spark, table) == ["and this", "neither is this", "not json"]
