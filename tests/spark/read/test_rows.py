"""Rows of Parquet files enter a table with all their digits; what does not fit is rejected."""

from datetime import UTC, date, datetime
from decimal import Decimal

import pyarrow as pa
import pyarrow.parquet as pq

from lakekit.batch import Batch
from lakekit.spark.merge_scd2 import merge_scd2
from tests.spark.support.people import people

PRECISE = datetime(2026, 1, 1, 12, 0, 0, 123456, tzinfo=UTC)
MOST = Decimal("12345678901234567890123456789012345.678")
COLUMNS = {
    "id": (pa.int32(), [1, 2, None]),
    "p": (pa.decimal128(38, 3), [MOST, Decimal("0.000"), None]),
    "d": (pa.float64(), [0.1 + 0.2, float("nan"), None]),
    "at": (pa.timestamp("us", "UTC"), [PRECISE, None, None]),
    "local": (pa.timestamp("us"), [PRECISE.replace(tzinfo=None), None, None]),
    "day": (pa.date32(), [date(1500, 1, 1), None, None]),
    "bytes": (pa.binary(), [b"\xff\x00", None, None]),
    "first name": (pa.string(), ['Zoë "x"\n', "b", None]),
    "data": (pa.struct({"tags": pa.list_(pa.string())}), [{"tags": ["a", None]}, None, None]),
}
CONTRACT = people(
    base={},
    columns={
        "id": "int", "p": "decimal(38,3)", "d": "double", "at": "timestamp",
        "local": "timestamp_ntz", "day": "date", "bytes": "binary",
        "name": {"type": "string", "from": "first name"},
        "tags": {"type": "array<string>", "from": "$.data.tags"},
    },
    quality={"max_rejected_ratio": 1},
)  # fmt: skip


def test_each_value_is_kept_exactly(spark, table, tmp_path):
    arrays = {name: pa.array(values, kind) for name, (kind, values) in COLUMNS.items()}
    pq.write_table(pa.table(arrays), tmp_path / "a b.parquet")
    batch = Batch(
        run_id="r", extract="full", extraction_time="2026-01-02T00:00:00Z",
        files=(str(tmp_path / "a b.parquet"),),
    )  # fmt: skip

    done = merge_scd2(spark, CONTRACT, batch, table, staging=(tmp_path / "s").as_uri())

    names = "id, p, d, CAST(at AS string), CAST(local AS string), day, bytes, name, tags"
    (row,) = spark.sql(f"SELECT {names} FROM {table}").collect()
    assert tuple(row) == (
        1, MOST, 0.1 + 0.2, "2026-01-01 12:00:00.123456", "2026-01-01 12:00:00.123456",
        date(1500, 1, 1), bytearray(b"\xff\x00"), 'Zoë "x"\n', ["a", None],
    )  # fmt: skip
    rejected = spark.sql(f"SELECT _raw, _fault FROM {table}_quarantine ORDER BY 1").collect()
    assert (done.opened, [*map(tuple, rejected)]) == (
        1,
        [
            ('{"id":2,"p":0.000,"d":"NaN","first name":"b"}', "d: does not fit double"),
            ("{}", "id: required, but null"),
        ],
    )
