"""The reason of a rejected record names the column, and a refused run names the first lines."""

import json

import pytest

from lakekit.batch import Batch
from lakekit.errors import TooManyRejectedError
from lakekit.spark.merge_scd2 import merge_scd2
from tests.landed_lines import OF_TYPES as CONTRACT
from tests.landed_lines import OF_TYPES_FAULTS as FAULTS
from tests.landed_lines import UNREADABLE
from tests.spark.support.people import people
from tests.tiers import long


def test_the_reason_names_the_column_of_a_value_of_another_type(load, spark, table):
    done = load(1, {"id": 99, "home": {"street": "x"}}, *FAULTS, contract=CONTRACT)

    found = spark.sql(f"SELECT _raw, _fault FROM {table}_quarantine").collect()
    assert dict(map(tuple, found)) == FAULTS
    assert (done.opened, done.quarantined) == (1, len(FAULTS))


@pytest.mark.parametrize("mode", [long("append"), "scd2"])
@pytest.mark.parametrize("bytes_of_a_task", [long("1g"), "6k"])
def test_a_refused_run_names_its_first_lines_by_their_numbers(
    spark, table, tmp_path, load, mode, bytes_of_a_task
):
    """The lines of a file are read by several tasks, and a task reads several files."""
    good = [json.dumps({"id": n, "name": "x" * 50}) for n in range(200)]
    one, two = tmp_path / "z.ndjson", tmp_path / "a.ndjson"
    one.write_text("\n".join([*good[:100], "", " ", *good[100:], '{"id":201,"name":1,"city":}']))
    two.write_text("\n".join(["", '{"id":"x"}', *good, '{"name":"a"}', "not json", ""]))
    batch = Batch(
        run_id="r", extract="incremental", extraction_time="2026-01-01T00:00:00Z",
        files=(str(one), str(two)),
    )  # fmt: skip
    strict = people(mode=mode, quality={"max_rejected_ratio": 0})

    spark.conf.set("spark.sql.files.maxPartitionBytes", bytes_of_a_task)
    try:
        with pytest.raises(TooManyRejectedError, match="4 of 404 records of run r") as refused:
            merge_scd2(spark, strict, batch, table, staging=(tmp_path / "s").as_uri())
    finally:
        spark.conf.unset("spark.sql.files.maxPartitionBytes")

    assert str(refused.value).endswith(
        f"max_rejected_ratio allows 0.0: {one} line 203: {UNREADABLE}; "
        f"{two} line 2: id: does not fit int; line 203: id: required, but null"
    )
    assert [each.raw for each in refused.value.rejected][1:] == ['{"id":"x"}', '{"name":"a"}']


@pytest.mark.long
def test_a_null_in_a_key_is_named_where_it_fails_the_run(load):
    strict = people(null_keys="fail")

    with pytest.raises(TooManyRejectedError, match=r"fail: \S+ line 2: id: required, but null$"):
        load(1, {"id": 1}, {"name": "a"}, {"id": 3}, contract=strict)
