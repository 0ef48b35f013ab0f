"""Parts of a list or an object that is read forward are those of the same text in memory."""

import io
import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakekit.errors import SourceShapeError
from lakekit.json_text import stream
from lakekit.json_text.stream import Parts, fields_of, items_of, list_items

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=12,
)


@pytest.fixture(autouse=True)
def small_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream, "WINDOW", 5)


def parts(text: bytes, of: bytes = b"[]") -> tuple[Parts, list[Any]]:
    found = Parts(io.BytesIO(text[1:]), of=of, place=1)
    return found, [*found]


@given(st.lists(VALUES, max_size=6), st.sampled_from([None, 1]))
def test_items_are_those_of_the_whole_list(values: list[Any], indent: int | None) -> None:
    text = json.dumps(values, indent=indent).encode()
    found, windows = parts(text)

    items = [item for window in windows for item in window]
    assert items == items_of(text)
    assert [i for b, e in found.windows for i in found.cut(text[b:e])] == items
    assert found.count == len(items)


@given(st.dictionaries(st.text(max_size=3), VALUES, max_size=6))
def test_fields_are_those_of_the_whole_object(values: dict[str, Any]) -> None:
    text = json.dumps(values, ensure_ascii=False).encode(errors="replace")
    _, windows = parts(text, b"{}")

    fields: dict[str, bytes] = {}
    for window in windows:
        fields |= window
    assert fields == fields_of(text)


def test_what_follows_is_not_taken() -> None:
    found, windows = parts(b'[{"a":1}], "next": 2}')

    assert windows == [[b'{"a":1}']]
    assert b', "next": 2}'.startswith(found.rest)


def test_blanks_of_any_length_are_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lakekit.json_text.lines.LONGEST_LINE", 100)
    blanks = b" " * 1000

    assert [*list_items(io.BytesIO(blanks + b"[" + blanks + b"1," + blanks + b"2]" + blanks))] == [
        b"1", b"2",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (b"", "does not begin"), (b"{}", "does not begin"), (b"[1", "ends early, after item 0"),
        (b"[1,2,", "ends early, after item 2"), (b"[1,,2]", "a comma too many"),
        (b"[,]", "a comma too many"), (b"[1}", "brackets do not match"),
        (b"[1]]", "something follows the JSON list, after item 1"), (b'["a', "ends early"),
        (b'["' + b"a" * 300 + b'"]', "a record has more than"),
    ],
)  # fmt: skip
def test_what_is_no_list_is_refused(
    text: bytes, fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lakekit.json_text.lines.LONGEST_LINE", 200)

    with pytest.raises(SourceShapeError, match=fault):
        [*list_items(io.BytesIO(text))]


def test_items_before_a_fault_come_first() -> None:
    items: Iterator[bytes] = list_items(io.BytesIO(b'[{"a": 1}, {"a": 2}, {"a": 3'))

    assert [next(items), next(items)] == [b'{"a": 1}', b'{"a": 2}']
    with pytest.raises(SourceShapeError):
        next(items)
