"""What is printed is what the data holds, for people and for programs."""

import csv
import io
import json
import re
from datetime import datetime
from typing import Any, get_args

import pytest
from rich.cells import cell_len

from lakekit.cli import formats
from lakekit.cli.output import render_samples, say, write
from lakekit.values import to_json

FIRST, LAST = datetime.min, datetime.max
SEEN = {"at": FIRST, "by": {"x": LAST}}
# Texts that a program for tables, colours or logs may take for its own.
TEXTS = [
    "[draft] Plan", "see [/b] here", "[bold]x[/bold]", "[link=http://x]y[/link]", "[[a]]", "[",
    ":smile:", "http://x.example/?a=b", "'a' 1.5 True None", "a  b   c", "| a | b |", "100 %",
    "C:\\new", "${x}", "{x}", "Zoë 日本 😀", "null", "x" * 300,
]  # fmt: skip


def render(columns: Any, rows: Any, form: str, screen: formats.Screen | None = None) -> str:
    return "".join(formats.render(columns, rows, form, screen))


def cells(table: str) -> list[list[str]]:
    """Return the cells of the lines with values, without the blanks around them."""
    return [[cell.strip() for cell in line.split("│")] for line in table.splitlines()[2:]]


def test_a_table_shows_texts_as_they_are() -> None:
    shown = render(["[red]name[/]", ":a:"], [(text, text) for text in TEXTS], "table")

    assert cells(shown) == [[text, text] for text in TEXTS]
    assert "[red]name[/]" in shown
    assert ":a:" in shown
    assert "\x1b" not in shown


def test_each_row_is_one_line_of_a_table_and_of_json() -> None:
    row = ("a\nb\r\n\tc", "\x1b[2J\x9b31m", "\u202e\u2028")

    assert cells(render("abc", [row], "table")) == [
        [r"a\nb\r\n\tc", r"\x1b[2J\x9b31m", r"\u202e\u2028"]
    ]
    (line,) = render("abc", [row], "ndjson").splitlines()
    assert json.loads(line) == dict(zip("abc", row, strict=True))
    assert "\x9b" not in line


def test_a_null_an_empty_text_and_the_text_null_are_three_things() -> None:
    rows = [(None, 1), ("", 2), ("null", 3)]

    assert cells(render(["a", "n"], rows, "table")) == [["", "1"], ['""', "2"], ["null", "3"]]
    assert render(["a", "n"], rows, "csv") == 'a,n\n,1\n"",2\nnull,3\n'
    assert [json.loads(line)["a"] for line in render(["a", "n"], rows, "ndjson").splitlines()] == [
        None, "", "null",
    ]  # fmt: skip


@pytest.mark.parametrize("columns", [["a"], ["a", "b"]])
def test_csv_is_read_again_as_it_was(columns: list[str]) -> None:
    texts = [*TEXTS, 'say "x"', "a,b", "\r", "a\nb", " \x1b[31m ", "\x00"]

    text = render(columns, [[each] * len(columns) for each in [*texts, None]], "csv")

    assert [*csv.reader(io.StringIO(text, newline=""))] == [
        columns, *([each] * len(columns) for each in [*texts, ""]),
    ]  # fmt: skip


def test_of_two_columns_of_one_name_none_is_lost() -> None:
    columns, rows = ["a", "a", "a_2"], [(1, 2, 3)]

    assert json.loads(render(columns, rows, "ndjson")) == {"a": 1, "a_3": 2, "a_2": 3}
    assert render(columns, rows, "csv") == "a,a,a_2\n1,2,3\n"
    assert cells(render(columns, rows, "table")) == [["1", "2", "3"]]


def test_a_nested_value_is_json_in_every_form() -> None:
    value = {"name": "Zoë", "tags": [None, float("nan"), b"\xff"]}
    text = '{"name": "Zoë", "tags": [null, "NaN", "/w=="]}'

    assert render(["v"], [(value,)], "ndjson") == f'{{"v": {text}}}\n'
    assert cells(render(["v"], [(value,)], "table")) == [[text]]
    assert [*csv.reader(io.StringIO(render(["v"], [(value,)], "csv")))][1] == [text]


@pytest.mark.parametrize("form", get_args(formats.Format))
def test_a_statement_without_a_result_prints_nothing(form: str) -> None:
    assert render([], [], form) == ""


def test_a_message_keeps_its_lines_and_escapes_what_it_quotes(
    capsys: pytest.CaptureFixture[str],
) -> None:
    say("[b]one[/b]\ntwo \x1b[31m", err=True)
    write("\x1b[31m\n")

    assert capsys.readouterr() == ("\x1b[31m\n", "[b]one[/b]\ntwo \\x1b[31m\n")


@pytest.mark.parametrize(
    ("row", "shown"),
    [
        ({"key": {"born": FIRST}, "at": LAST}, ["born=0001-01-01T00:00:00", LAST.isoformat()]),
        ({"changes": {"born": {"old": None, "new": FIRST}}}, ["born: null → 0001-01-01T00:00:00"]),
        ({"changes": {"born": {"new": FIRST}}}, ["born=0001-01-01T00:00:00"]),
        ({"changes": {"a": {"old": "null", "new": "[b]x[/b]"}}}, ['a: "null" → [b]x[/b]']),
        ({"key": {"a": "x, b=1", "b": ""}}, ['a="x, b=1", b=""']),
        (
            {"changes": {"seen": {"old": {"by": {}}, "new": SEEN}}},
            ['seen: {"by": {}} → {"at": "0001-01-01T00:00:00", "by": {"x": "9999-12-31T23:59:59.'],
        ),
        (
            {"row": {"born": FIRST, "seen": SEEN, "tags": {"old": 1, "new": 2}}},
            [
                'born=0001-01-01T00:00:00, seen={"at": "0001-01-01T00:00:00",',
                '{"old": 1, "new": 2}',
            ],
        ),
    ],
)
def test_sample_rows_are_tables_of_their_values(row: dict[str, Any], shown: list[str]) -> None:
    text = render_samples({"opened": [row]})

    assert all(each in text for each in shown)


def test_times_at_every_depth_are_iso_texts() -> None:
    parsed = json.loads(to_json({"changes": {"seen": {"new": SEEN}}}))

    assert parsed["changes"]["seen"]["new"] == {
        "at": "0001-01-01T00:00:00", "by": {"x": "9999-12-31T23:59:59.999999"},
    }  # fmt: skip


def test_json_is_one_array_with_a_line_for_each_row() -> None:
    text = render(["a"], [(1,), ("x",)], "json")

    assert text == '[\n  {"a": 1},\n  {"a": "x"}\n]\n'
    assert json.loads(render(["a"], [], "json")) == []


def test_markdown_shows_texts_as_they_are() -> None:
    text = render(["_a_"], [("a|b",), ("[x](y) <b>*`~&\\",), (None,)], "markdown")

    assert text.splitlines() == [
        r"| \_a\_ |", "|---|", r"| a\|b |", r"| \[x\](y) \<b\>\*\`\~\&\\ |", "|  |",
    ]  # fmt: skip


def test_numbers_are_on_the_right_and_wide_characters_take_two_cells() -> None:
    assert render(
        ["name", "n"], [("日本", 1), ("a", 10.5), (None, None)], "table"
    ).splitlines() == [
        "name │    n",
        "─────┼─────",
        "日本 │    1",
        "a    │ 10.5",
        "     │",
    ]


def test_a_table_that_is_too_wide_becomes_a_block_for_each_row() -> None:
    wide = formats.Screen(width=30)
    rows = [(1, "x" * 30, "one"), (2, None, "two words that go on and on")]

    text = render(["id", "long", "text"], rows, "table", wide)

    assert text.splitlines() == [
        "── 1 of 2 ────────────────────",
        "id   │ 1",
        "long │ " + "x" * 23,
        "     │ " + "x" * 7,
        "text │ one",
        "── 2 of 2 ────────────────────",
        "id   │ 2",
        "long │",
        "text │ two words that go on",
        "     │ and on",
    ]


def test_a_last_column_that_is_too_long_is_folded_below_itself() -> None:
    text = render(["id", "text"], [(1, "two words that go on and on")], "table", formats.Screen(28))

    assert text.splitlines() == [
        "id │ text",
        "───┼────────────────────────",
        " 1 │ two words that go on",
        "   │ and on",
    ]


def test_of_changes_each_has_a_line_if_they_do_not_fit_into_one() -> None:
    changes = formats.Changes(name={"old": "ann", "new": "anna"}, city={"new": "Oslo, by the sea"})
    shown = 'name: ann → anna, city="Oslo, by the sea"'

    assert cells(render(["_change", "_changes"], [("updated", changes)], "table")) == [
        ["updated", shown]
    ]
    assert cells(render(["c", "_changes"], [("x", changes)], "table", formats.Screen(34))) == [
        ["x", "name: ann → anna"], ["", 'city="Oslo, by the sea"'],
    ]  # fmt: skip
    assert json.loads(render(["c"], [(changes,)], "ndjson"))["c"]["name"] == {
        "old": "ann", "new": "anna",
    }  # fmt: skip


@pytest.mark.parametrize("columns", [2, 18, 200])
@pytest.mark.parametrize("width", [20, 80, 200])
def test_no_line_is_wider_than_the_terminal(columns: int, width: int) -> None:
    names = [f"column_{number}" for number in range(columns)]
    rows = [["x" * (number % 50) for number in range(columns)], ["日本 " * 30] * columns]

    text = render(names, rows, "table", formats.Screen(width))

    longest = max(map(cell_len, text.splitlines()))
    assert longest <= max(width, len("column_199 │ ") + 20)


def test_colours_are_for_a_screen_that_wants_them() -> None:
    row = [("updated", 1)]

    plain = render(["_change", "n"], row, "table", formats.Screen(80))
    coloured = render(["_change", "n"], row, "table", formats.Screen(80, colours=True))

    assert "\x1b" not in plain
    assert "\x1b[33mupdated\x1b[0m" in coloured
    assert re.sub(r"\x1b\[\d+m", "", coloured) == plain
