import gzip
import json
from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakekit import layout
from lakekit.errors import LandingCorruptError, SourceShapeError
from lakekit.json_text.lines import LONGEST_LINE, read_fields
from lakekit.landing.index import PENDING, oldest, remove_entry
from lakekit.landing.writer import (
    LandingWriter,
    Manifest,
    Part,
    Request,
    one_line,
    publish,
)
from tests.fakes import MemoryObjectStore

PREFIX = "raw/s/e/20260101_000000/"


def manifest(parts: tuple[Part, ...] = (), day: int = 1, **changes: Any) -> Manifest:
    fields: dict[str, Any] = {
        "run_id": "run-1", "source": "s", "endpoint": "e", "contract_version": 1,
        "extract": "full", "extraction_time": datetime(2026, 1, day, tzinfo=UTC),
        "request": Request(url="https://a.org/e"), "pages": 1,
        "rows": sum(part.rows for part in parts), "parts": parts,
    }  # fmt: skip
    return Manifest(**fields | changes)


def test_lands_every_record_with_its_exact_text() -> None:
    store = MemoryObjectStore()
    writer = LandingWriter(store, PREFIX)

    writer.write([b'{"b": 1.10, "a":123456789012345678901234567890}', b'{"x":\r\n 1e400}'])
    (part,) = writer.flush()

    lines = b'{"b": 1.10, "a":123456789012345678901234567890}\n{"x":1e400}\n'
    assert gzip.decompress(store.get(part.key)) == lines
    assert (part.rows, part.uncompressed_bytes) == (2, len(lines))
    assert part.bytes == len(store.get(part.key))


def test_lands_a_record_that_is_no_text_on_one_line() -> None:
    assert one_line(b'{"a":\n"\\ud83d\\ud83d\\ude00\xff"}') == b'{"a": "\\ud83d\\ud83d\\ude00\xff"}'


def test_cuts_parts_at_their_uncompressed_size() -> None:
    writer = LandingWriter(MemoryObjectStore(), PREFIX, max_part_bytes=10)

    writer.write([b"[1,2]", b"[3]", b"[4]", b'"longer than a whole part"', b"[5]"])

    assert [(part.rows, part.uncompressed_bytes) for part in writer.flush()] == [
        (2, 10), (1, 4), (1, 27), (1, 4),
    ]  # fmt: skip


def test_makes_the_same_bytes_of_the_same_records() -> None:
    first, second = MemoryObjectStore(), MemoryObjectStore()
    for store in (first, second):
        writer = LandingWriter(store, PREFIX)
        writer.write([b"[1]"])
        writer.flush()

    assert first.objects == second.objects
    assert next(iter(first.objects.values()))[4:8] == b"\0\0\0\0"


def test_goes_on_behind_the_parts_of_an_earlier_call() -> None:
    store = MemoryObjectStore()
    writer = LandingWriter(store, PREFIX)
    writer.write([b"[1]"])
    parts = writer.flush()

    later = LandingWriter(store, PREFIX, parts=parts)
    later.write([b"[2]"])

    assert [part.key for part in later.flush()] == [
        layout.part_key(PREFIX, 0), layout.part_key(PREFIX, 1),
    ]  # fmt: skip


def test_never_rewrites_an_object_of_an_attempt_that_died() -> None:
    store = MemoryObjectStore()
    store.put(layout.part_key(PREFIX, 0), b"foreign")
    writer = LandingWriter(store, PREFIX)
    writer.write([b"[1]"])

    (part,) = writer.flush()

    assert part.key == layout.part_key(PREFIX, 1)
    assert store.get(layout.part_key(PREFIX, 0)) == b"foreign"


def test_takes_over_an_equal_object_of_an_attempt_that_died() -> None:
    store = MemoryObjectStore()
    for _ in range(2):
        writer = LandingWriter(store, PREFIX)
        writer.write([b"[1]"])
        (part,) = writer.flush()

    assert list(store.objects) == [part.key] == [layout.part_key(PREFIX, 0)]


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text()
    | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(
    json_values, st.integers(-(10**40), 10**40), st.sampled_from(["1.10", "-0", "1E+5", "1e999"])
)
def test_pulls_any_record_into_one_line_without_touching_a_token(
    value: Any, number: int, literal: str
) -> None:
    pretty = f'{{"v":\n  {json.dumps(value, indent=2)},\r\n "n": {number}, "l": {literal}\n}}'

    line = one_line(pretty.encode())

    assert b"\n" not in line
    assert b"\r" not in line
    fields = msgspec.json.decode(line, type=dict[str, msgspec.Raw])
    assert bytes(fields["n"]) == str(number).encode()
    assert bytes(fields["l"]) == literal.encode()
    assert json.loads(bytes(fields["v"])) == value


@pytest.mark.parametrize(
    ("record", "line"),
    [
        (b'{"a":\n nope}', b'{"a": nope}'),
        (b'{"a": 1\r\n2}', b'{"a": 1 2}'),
        (b'{"a": "x\r\ny"\n}', b'{"a": "x\v\vy" }'),
        (b'{"a": NaN,\n\n "b": "\\"\n"}', b'{"a": NaN, "b": "\\"\v"}'),
    ],
)
def test_what_is_no_record_is_none_on_one_line_either(record: bytes, line: bytes) -> None:
    assert one_line(record) == line
    assert read_fields(line) is None


def test_publishes_the_manifest_then_its_marker_then_the_index_and_again_without_harm() -> None:
    store = MemoryObjectStore()

    publish(store, manifest())
    publish(store, manifest())

    key = layout.manifest_key(PREFIX)
    assert list(store.objects) == [key, layout.pending_key(PREFIX), layout.index_key(PENDING, key)]


def test_a_manifest_that_another_release_wrote_with_more_fields_is_the_same() -> None:
    store = MemoryObjectStore()
    key = publish(store, manifest())
    store.put(key, store.get(key).replace(b"{", b'{"colour": "red",', 1))

    assert publish(store, manifest()) == key


def test_refuses_another_manifest_at_the_same_place() -> None:
    store = MemoryObjectStore()
    publish(store, manifest())

    with pytest.raises(LandingCorruptError, match="another manifest"):
        publish(store, manifest(run_id="run-2"))


def test_does_not_mark_a_complete_landing_as_pending_again() -> None:
    store = MemoryObjectStore()
    publish(store, manifest())
    store.put(layout.complete_key(PREFIX), b"")
    remove_entry(store, layout.manifest_key(PREFIX))

    publish(store, manifest())

    assert list(oldest(store, PENDING, "s", "e")) == []


def test_a_record_that_is_too_long_for_memory_is_refused() -> None:
    with pytest.raises(SourceShapeError, match="a record has more than 8 MiB"):
        LandingWriter(MemoryObjectStore(), PREFIX).write([b'"' + b"x" * LONGEST_LINE + b'"'])
