"""What a landed line must be, and how a parser that refuses half pairs gets past them."""

import json
import re

from hypothesis import given
from hypothesis import strategies as st

from lakekit.json_text.lines import (
    HALF_PAIR,
    WHOLE_PAIRS,
    is_blank,
    read_fields,
)
from tests.lines import BLANK, NO_RECORDS, RECORDS


def test_a_line_is_a_record_or_none() -> None:
    assert [line[:60] for line in RECORDS if read_fields(line) is None] == []
    assert [line[:60] for line in NO_RECORDS if read_fields(line) is not None] == []


def test_blank_is_what_json_takes_for_blank() -> None:
    assert all(map(is_blank, BLANK))
    assert not any(map(is_blank, RECORDS + NO_RECORDS))


def test_a_field_keeps_its_text() -> None:
    assert read_fields(b'\xef\xbb\xbf{"a":1.10, "b": null}') == {"a": b"1.10", "b": b"null"}


ESCAPES = st.lists(st.sampled_from(["\\\\", "\\n", "\\ud83d", "\\uDE00", "ud83d", "<half pair 0>"]))


@given(ESCAPES)
def test_a_half_pair_is_what_the_expressions_say(parts: list[str]) -> None:
    text = f'{{"v":"{"".join(parts)}"}}'
    value = json.loads(text)["v"]
    cannot_be_utf8 = any("\ud800" <= each <= "\udfff" for each in value)

    found = re.search(HALF_PAIR, re.sub(WHOLE_PAIRS, "_", text)) is not None

    assert found == cannot_be_utf8 == (read_fields(text.encode()) is None)
