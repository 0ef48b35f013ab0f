"""What is rejected is kept, all of it and once, whatever the cluster does and however late."""

import json
from datetime import UTC, datetime

import pytest

from lakekit.batch import Batch
from lakekit.contract.contract import load_contract
from lakekit.errors import InvariantViolatedError
from lakekit.spark import merge_scd2 as scd2
from lakekit.spark.write import quarantine
from tests.spark.people import ANN, BEN, CONTRACT

TIES = load_contract(CONTRACT.replace("keys: [id]", "keys: [id], tie_break: quarantine"))
EXPIRE = (
    "CALL lake.system.expire_snapshots(table => '{}_quarantine', retain_last => 1, "
    "older_than => TIMESTAMP '2999-01-01 00:00:00')"
)


def raw(spark, table):
    found = spark.sql(f"SELECT _raw FROM {table}_quarantine ORDER BY _raw").collect()
    return [row[0] for row in found]


def test_rejected_records_are_found_again_by_executors_that_come_meanwhile(
    spark, table, tmp_path, monkeypatch
):
    """Lines are numbered by tasks, and each executor would have Spark cut the files anew."""
    files = [tmp_path / f"part-{n}.ndjson" for n in range(4)]
    said = [[{"id": n, "name": name} for name in ("a", "b")] for n in range(4)]
    for file, records in zip(files, said, strict=True):
        file.write_text("".join(json.dumps(each) + "\n" for each in records))
    batch = Batch(
        run_id="r",
        extract="full",
        extraction_time=datetime(2026, 1, 1, tzinfo=UTC),
        files=tuple(map(str, files)),
    )
    read_again = quarantine.read_batch

    def with_more_executors(merge):
        spark.conf.set("spark.sql.leafNodeDefaultParallelism", "8")
        return read_again(merge)

    monkeypatch.setattr(quarantine, "read_batch", with_more_executors)
    loose = TIES.model_copy(
        update={"quality": TIES.quality.model_copy(update={"max_rejected_ratio": 1})}
    )
    try:
        done = scd2.merge_scd2(spark, loose, batch, table, staging=(tmp_path / "s").as_uri())
    finally:
        spark.conf.unset("spark.sql.leafNodeDefaultParallelism")

    assert done.quarantined == 8
    assert raw(spark, table) == sorted(json.dumps(each) for records in said for each in records)


def test_nothing_is_published_if_a_rejected_record_is_not_kept(load, rows, table, monkeypatch):
    load(1, ANN)
    kept = quarantine.rejected
    monkeypatch.setattr(quarantine, "rejected", lambda merge, plan: kept(merge, plan).limit(1))

    with pytest.raises(InvariantViolatedError, match=r"2 records of run run-2 .* but 1 were found"):
        load(2, ANN, BEN, "not json", "nor this")

    assert rows() == [(1, "Ann", "Oslo", 1, None, True)]


def test_a_run_that_comes_again_after_long_is_quarantined_once(load, spark, table, monkeypatch):
    """A crash came before its commit, and since then the quarantine's snapshots have expired."""
    load(1, "neither is this", ANN, run_id="other")
    with monkeypatch.context() as crash:
        crash.setattr(scd2, "publish", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            load(2, BEN, "not json", run_id="a")
    load(2, ANN, "and this", run_id="between")
    spark.sql(EXPIRE.format(table.removeprefix("lake.")))

    load(2, ANN, BEN, "not json", run_id="a", extract="incremental")

    assert raw(spark, table) == ["and this", "neither is this", "not json"]
