"""A JSON text is cut into its parts where a parser refuses the whole of it."""

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakekit.json_text.lines import read_fields
from lakekit.json_text.spans import field_spans, item_spans, named_spans, on_one_line

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=8,
)
INDENTS = st.sampled_from([None, 0, 2, "\t"])


@given(st.lists(VALUES), INDENTS, st.booleans())
def test_cuts_a_list_as_a_parser_does(values: list[Any], indent: Any, ascii_only: bool) -> None:
    """NaN and Infinity, which a strict parser refuses, are among the values."""
    text = json.dumps(values, indent=indent, ensure_ascii=ascii_only)

    found = item_spans(text.encode("utf-8", "surrogatepass"))

    parts = [json.loads(each.decode("utf-8", "surrogatepass")) for each in found]
    assert json.dumps(parts) == json.dumps(values)


@given(st.dictionaries(st.text(), VALUES), INDENTS)
def test_cuts_an_object_as_a_parser_does(fields: dict[str, Any], indent: Any) -> None:
    found = field_spans(json.dumps(fields, indent=indent).encode())

    assert json.dumps({name: json.loads(each) for name, each in found.items()}) == json.dumps(
        fields
    )


@given(st.binary() | st.text(alphabet='{}[],:"\\ \nan1').map(str.encode))
def test_no_text_breaks_it(text: bytes) -> None:
    """What a strict parser reads is read the same; all else is cut whole, or refused."""
    try:
        expected = [bytes(each) for each in msgspec.json.decode(text, type=list[msgspec.Raw])]
    except (msgspec.DecodeError, UnicodeDecodeError):
        expected = None
    try:
        found = item_spans(text)
    except ValueError:
        assert expected is None
    else:
        assert expected in (None, found)


@pytest.mark.parametrize(
    "text",
    [b"", b"[", b"[1", b"[1,", b'["a', b'["a\\', b"[1]]", b"[1],", b"[1}", b"{]", b"[,]", b"[1,,2]",
     b"[1,]", b"[{]}]", b"null", b'{"a":1}', b'["a"b"]'],
)  # fmt: skip
def test_refuses_where_the_ends_cannot_be_said(text: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        item_spans(text)


@pytest.mark.parametrize("text", [b"{1:2}", b'{"a"}', b'{"a":}', b'{"a":1,}', b"{a:1}"])
def test_refuses_fields_without_name_or_value(text: bytes) -> None:
    with pytest.raises(ValueError, match=r"field|comma"):
        field_spans(text)


def test_deep_and_wide_texts_take_linear_time() -> None:
    deep = b"[" * 100_000 + b"]" * 100_000
    wide = b"[" + b'{"a":[{"b":"\\""}]},' * 50_000 + b"NaN]"

    assert item_spans(b"[" + deep + b"]") == [deep]
    assert len(item_spans(wide)) == 50_001


def test_names_are_read_with_their_escapes() -> None:
    assert named_spans(b'{"\\u0061" : 1 , "a":2, "\xff": 3, "\\ud83d":4}') == [
        ("a", b"1"), ("a", b"2"), ("\udcff", b"3"), ("\ud83d", b"4"),
    ]  # fmt: skip


@given(VALUES, INDENTS)
def test_one_line_keeps_what_it_is(value: Any, indent: Any) -> None:
    text = json.dumps({"v": value}, indent=indent).encode()

    line = on_one_line(text)

    assert b"\n" not in line
    assert b"\r" not in line
    assert json.dumps(json.loads(line)) == json.dumps({"v": value})


@given(st.text(alphabet='{}",: \n\r\\v1').map(str.encode))
def test_one_line_makes_no_record_of_what_is_none(text: bytes) -> None:
    if read_fields(text) is None:
        assert read_fields(on_one_line(text)) is None
