"""Each value has one form in JSON and one as a text, and a terminal obeys none of them."""

import json
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import pytest

from lakekit.values import printable, to_json, to_text, unique_names

NESTED = {"a": [{"b": "Zoë 日本 😀"}], "at": datetime(2026, 1, 1, 6)}


@pytest.mark.parametrize(
    ("value", "in_json", "as_text"),
    [
        (None, "null", "null"),
        ("null", '"null"', "null"),
        ("", '""', ""),
        (True, "true", "true"),
        (9007199254740993, "9007199254740993", "9007199254740993"),
        (0.1, "0.1", "0.1"),
        (-0.0, "-0.0", "-0.0"),
        (float("nan"), '"NaN"', "NaN"),
        (float("inf"), '"Infinity"', "Infinity"),
        (float("-inf"), '"-Infinity"', "-Infinity"),
        (Decimal("1.10"), '"1.10"', "1.10"),
        (Decimal("0E-18"), '"0.000000000000000000"', "0.000000000000000000"),
        (Decimal("1E+3"), '"1000"', "1000"),
        (date(1, 1, 1), '"0001-01-01"', "0001-01-01"),
        (datetime.max, '"9999-12-31T23:59:59.999999"', "9999-12-31T23:59:59.999999"),
        (bytearray(b"\x00\xff"), '"AP8="', "AP8="),
        (b"", '""', ""),
        ("Zoë 日本 😀", '"Zoë 日本 😀"', "Zoë 日本 😀"),
        ([None, "null", float("nan")], '[null, "null", "NaN"]', '[null, "null", "NaN"]'),
        ({}, "{}", "{}"),
        (
            NESTED,
            '{"a": [{"b": "Zoë 日本 😀"}], "at": "2026-01-01T06:00:00"}',
            '{"a": [{"b": "Zoë 日本 😀"}], "at": "2026-01-01T06:00:00"}',
        ),
    ],
)
def test_each_value_has_one_form(value: Any, in_json: str, as_text: str) -> None:
    assert (to_json(value), to_text(value)) == (in_json, as_text)


def test_the_keys_of_a_map_are_the_texts_of_their_values() -> None:
    keys = {"a": 0, 1: 1, 2.5: 2, None: 3, b"\xff": 4, date(2026, 1, 1): 5, Decimal("9.0"): 6}

    assert list(json.loads(to_json(keys))) == ["a", "1", "2.5", "null", "/w==", "2026-01-01", "9.0"]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31mred\x1b[0m", r"\x1b[31mred\x1b[0m"),
        ("a\tb\nc\rd", r"a\tb\nc\rd"),
        ("\x1b]8;;http://x\x07link\x1b]8;;\x07", r"\x1b]8;;http://x\x07link\x1b]8;;\x07"),
        ("\x00\x7f\x85\x9b31m", r"\x00\x7f\x85\x9b31m"),
        ("user\u202etxt.exe\u2066\u2028", r"user\u202etxt.exe\u2066\u2028"),
        ("\ud83d", r"\ud83d"),
        (r"C:\new [b]x[/b] :smile:", r"C:\new [b]x[/b] :smile:"),
        ("Zoë 日本 👨‍👩‍👧 שלום\u200f e\u0301", "Zoë 日本 👨‍👩‍👧 שלום\u200f e\u0301"),
    ],
)
def test_a_terminal_is_shown_what_it_would_obey(text: str, shown: str) -> None:
    assert printable(text) == shown
    written = to_json([text])
    assert json.loads(written) == [text]
    assert printable(written) == written


def test_a_name_that_comes_again_gets_a_number_that_is_free() -> None:
    assert unique_names(["a", "A", "a", "b", "a"]) == ["a", "A", "a_2", "b", "a_3"]
    assert unique_names(["a", "a", "a_2", "a"]) == ["a", "a_3", "a_2", "a_4"]
