"""Landed files: their names and order, lines that are no records."""

from datetime import UTC, datetime

import pytest

from lakekit.batch import Batch
from lakekit.spark.merge_scd2 import merge_scd2
from lakekit.spark.read.lines import file_uri
from tests.lines import BLANK, NO_RECORDS, RECORDS
from tests.spark.support.people import PEOPLE, people
from tests.spark.support.readers import read_everywhere
from tests.tiers import long

pytestmark = pytest.mark.usefixtures("planned_as_in_production")


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

    merge_scd2(spark, PEOPLE, batch, table, staging=tmp_path.as_uri())

    row = spark.table(table).first()
    assert (row["name"], row["_source_file"]) == ("1", file_uri(str(files[1])))


@pytest.mark.parametrize(
    "line",
    [
        b'{"id": 2, "name": "\xff\xfe"}',
        *map(long, [b'[{"id": 2}, {"id": 3}]', b"null", b'{"id": 2']),
    ],
)
def test_a_line_that_is_no_record_is_rejected_and_its_neighbours_are_not(
    spark, contract, table, tmp_path, line
):
    done = merge_bytes(spark, contract, table, tmp_path, b'{"id": 1}\n' + line + b'\n{"id": 4}\n')

    assert (done.opened, done.quarantined) == (2, 1)
    assert {row["id"] for row in spark.table(table).collect()} == {1, 4}


ANY = people(base={"v": "string"}, keys=[], mode="append", quality={"max_rejected_ratio": 1})


def test_a_line_is_a_record_where_validation_says_so(spark, table, tmp_path):
    """What is rejected is kept as a text that all engines read, and with its bytes."""
    lines = b"\n".join(BLANK + RECORDS + NO_RECORDS)

    done = merge_bytes(spark, ANY, table, tmp_path, lines)

    kept = read_everywhere(spark, f"{table}_quarantine")
    assert sorted(bytes_of(*row[:2]) for row in kept) == sorted(NO_RECORDS)
    assert (done.opened, done.quarantined) == (len(RECORDS), len(NO_RECORDS))
    assert len(read_everywhere(spark, table)) == len(RECORDS)


def bytes_of(raw, raw_bytes):
    """Return the bytes of a rejected line: those of its text, unless there are others."""
    assert raw_bytes is None or "\ufffd" in raw
    assert raw_bytes != raw.encode()
    return raw_bytes or raw.encode()


def test_a_byte_order_mark_and_blank_lines_are_no_records(spark, contract, table, tmp_path):
    text = b'\xef\xbb\xbf{"id": 1, "name": "\xef\xbf\xbd"}\r\n\r\n \t\n{"id": 2}\n'

    done = merge_bytes(spark, contract, table, tmp_path, text)

    assert (done.opened, done.quarantined) == (2, 0)
    assert {row["name"] for row in spark.table(table).collect()} == {"\ufffd", None}


def merge_bytes(spark, contract, table, folder, text):
    file = folder / "raw.ndjson"
    file.write_bytes(text)
    extraction_time = datetime(2026, 1, 1, tzinfo=UTC)
    batch = Batch(run_id="r", extract="full", extraction_time=extraction_time, files=(str(file),))
    return merge_scd2(spark, contract, batch, table, staging=(folder / "s").as_uri())
