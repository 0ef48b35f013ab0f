"""The footer of a Parquet file says its columns and rows, and what cannot be kept exactly."""

import io
from datetime import UTC, datetime, time
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lakekit.contract.contract import load_contract
from lakekit.errors import SourceShapeError
from lakekit.landing.parquet import read_footer, refuse_footer

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
KEPT: dict[str, tuple[Any, Any]] = {
    "b": (True, pa.bool_()),
    "tiny": (1, pa.int8()),
    "big": (1, pa.uint64()),
    "f": (0.5, pa.float32()),
    "d": (0.5, pa.float64()),
    "s": ("x", pa.string()),
    "bytes": (b"x", pa.binary()),
    "p": (Decimal("1.10"), pa.decimal128(38, 2)),
    "day": (NOON.date(), pa.date32()),
    "ms": (NOON, pa.timestamp("ms", "UTC")),
    "us": (NOON.replace(tzinfo=None), pa.timestamp("us")),
    "list": ([{"x": "y"}], pa.list_(pa.struct({"x": pa.string()}))),
    "map": ([("k", 1)], pa.map_(pa.string(), pa.int32())),
}
CONTRACT = load_contract(
    "contract: e\nsource: s\nendpoint: {path: /e}\nhistory: {keys: [id]}\nschema:\n"
    "  - {name: id, type: bigint}\n  - {name: x, type: string}\n"
)


def parquet(columns: dict[str, tuple[Any, Any]], rows: int = 3, **options: Any) -> bytes:
    table = pa.table({n: pa.array([v] * rows, kind) for n, (v, kind) in columns.items()})
    target = io.BytesIO()
    pq.write_table(table, target, **options)
    return target.getvalue()


@pytest.mark.parametrize(
    "options",
    [{}, {"row_group_size": 1}, {"compression": "gzip", "version": "1.0"}],
    ids=["one group", "groups", "older"],
)
def test_names_columns_and_rows(options: dict[str, Any]) -> None:
    body = parquet(KEPT, **options)

    footer = read_footer(io.BytesIO(body))

    assert (footer.rows, footer.columns) == (3, tuple(KEPT))
    assert footer.binary == {"bytes"}
    assert footer.faults == {}
    assert footer.bytes > 0


def test_a_file_without_rows_or_with_many_columns_is_read() -> None:
    many = {f"c{n}": (n, pa.int64()) for n in range(500)}

    assert read_footer(io.BytesIO(parquet(KEPT, rows=0))).rows == 0
    assert read_footer(io.BytesIO(parquet(many))).columns == tuple(many)


@pytest.mark.parametrize(
    ("value", "kind", "message"),
    [
        (time(1, 2), pa.time64("us"), "x is TIME"),
        (NOON, pa.timestamp("ns", "UTC"), "x is TIMESTAMP of nanoseconds"),
        (b"1234", pa.binary(4), "x is FIXED_LEN_BYTE_ARRAY"),
        (b"x", pa.binary(), "x is binary, the contract says string"),
        ([b"x"], pa.list_(pa.binary()), "is binary within another value"),
        ({"at": NOON}, pa.struct({"at": pa.timestamp("ns")}), "x.at is TIMESTAMP of nanoseconds"),
    ],
)
def test_a_value_that_cannot_be_kept_exactly_is_named(value: Any, kind: Any, message: str) -> None:
    body = parquet({"id": (1, pa.int64()), "x": (value, kind)})

    with pytest.raises(SourceShapeError) as refused:
        refuse_footer(read_footer(io.BytesIO(body)), CONTRACT)

    assert message in str(refused.value)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (["ID", "x"], "the header of the Parquet file lacks id; it has ID, x"),
        (["id", "Id"], "id is there in two cases"),
    ],
)
def test_columns_that_would_be_read_as_others_are_refused(columns: list[str], message: str) -> None:
    body = parquet({name: (1, pa.int64()) for name in columns})

    with pytest.raises(SourceShapeError, match=message):
        refuse_footer(read_footer(io.BytesIO(body)), CONTRACT)


def test_a_file_that_is_cut_or_broken_is_refused() -> None:
    body = parquet({"id": (1, pa.int64())})
    broken = [
        b"",
        b"PAR1",
        b"PAR1PAR1",
        body[:-1],
        body[:100],
        b"x" + body[1:],
        body[:-4] + b"PARE",
    ]
    broken += [body[:-8] + n.to_bytes(4, "little") + b"PAR1" for n in (0, 7, 1 << 31)]
    for at in range(len(body) - 60, len(body) - 8):
        other = bytearray(body)
        other[at] ^= 0xFF
        broken.append(bytes(other))

    for each in broken:
        try:
            footer = read_footer(io.BytesIO(each))
        except SourceShapeError:
            continue
        assert len(each) == len(body), "what is cut is refused"
        assert isinstance(footer.rows, int)
