"""Envelopes of Debezium become records of the rows that changes left, or deleted."""

import json

import pytest

from lakekit.errors import SourceShapeError
from lakekit.json_text.lines import read_fields
from lakekit.landing.debezium import row_changes

TIME = 1767268800123
SOURCE = b'{"ts_ms":1767268800123,"lsn":24023128,"table":"t"}'
MORE = b'"source":' + SOURCE + b',"ts_ms":1767268899000'


def read(*lines: bytes) -> list[bytes]:
    return [*row_changes(lines)]


@pytest.mark.parametrize("op", ["c", "u", "r"])
def test_a_change_is_the_row_that_it_left_with_the_text_it_came_with(op: str) -> None:
    line = b'{"before":{"id":0},"after":{"id":1, "p":1.10},"op":"%s",%s}' % (op.encode(), MORE)

    (record,) = read(line)

    assert record.startswith(b'{"id":1, "p":1.10,"__op":')
    fields = read_fields(record)
    assert fields is not None
    assert [*fields] == ["id", "p", "__op", "__source", "__ts_ms", "__time"]
    assert fields["__source"] == SOURCE
    assert json.loads(fields["__time"]) == "2026-01-01T12:00:00.123000Z"


def test_a_deletion_is_the_row_that_was_there() -> None:
    (record,) = read(b'{"before":{"id":1,"name":null},"after":null,"op":"d",%s}' % MORE)

    assert json.loads(record) | {"__source": 0, "__time": 0, "__ts_ms": 0} == {
        "id": 1, "name": None, "__op": "d", "__source": 0, "__time": 0, "__ts_ms": 0,
    }  # fmt: skip


def test_an_envelope_may_come_with_its_schema_and_deletions_with_a_tombstone() -> None:
    line = b'{"schema":{"x":1},"payload":{"before":null,"after":{"id":1},"op":"c","ts_ms":5}}'

    found = read(line, b"null", b' {"schema":null,"payload":null}', b"", b"null\r\n")

    assert found == [b'{"id":1,"__op":"c","__ts_ms":5,"__time":"1970-01-01T00:00:00.005000Z"}']


@pytest.mark.parametrize(
    ("times", "expected"),
    [
        (b'"source":{"ts_ms":5,"ts_us":5001},"ts_ms":9', "1970-01-01T00:00:00.005001Z"),
        (b'"source":{"ts_ms":5},"ts_us":9', "1970-01-01T00:00:00.005000Z"),
        (b'"source":{"ts_ms":null},"ts_ms":9', "1970-01-01T00:00:00.009000Z"),
        (b'"source":null,"ts_ms":9', "1970-01-01T00:00:00.009000Z"),
        (b'"source":{"ts_ms":"5"},"ts_ms":-1', None),
        (b'"source":{"ts_ms":9999999999999999}', None),
        (b'"x":1', None),
    ],
)
def test_the_time_is_that_of_the_source_if_it_has_one(times: bytes, expected: str | None) -> None:
    (record,) = read(b'{"after":{"id":1},"op":"c",%s}' % times)

    assert json.loads(record).get("__time") == expected


@pytest.mark.parametrize(
    "line",
    [
        b'{"id":1}',
        b'{"op":"m","message":"x"}',
        b'{"op":1,"after":{"id":1}}',
        b'{"op":"c","after":null,"before":{"id":1}}',
        b'{"op":"c","after":{}}',
        b'{"op":"u","after":"{\\"id\\":1}"}',
        b'{"op":"d","after":{"id":1},"before":null}',
        b'{"op":"u","after":{"id":1,"text":"__debezium_unavailable_value"}}',
        b'{"payload":5}',
        b'{"op":"c","after":{"id":1}',
        b"5",
        b'{"op":"c","after":{"id":"\\ud83d"}}',
    ],
)
def test_what_says_no_row_goes_on_with_its_text_and_is_no_record(line: bytes) -> None:
    (found,) = read(line)

    assert line in found
    assert read_fields(found) is None


def test_an_emptied_table_is_refused() -> None:
    with pytest.raises(SourceShapeError, match="empties the whole table"):
        read(b'{"before":null,"after":null,"op":"t","ts_ms":1}')
