"""Rows as text: a table or blocks for people, JSON, CSV and Markdown for programs and pages. Pure.

All commands that show rows have the same `--format`.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from itertools import chain
from typing import Annotated, Any, Literal, NamedTuple

import typer
from rich.cells import cell_len, chop_cells

from lakekit.values import printable, to_json, to_text, unique_names

Format = Literal["table", "json", "ndjson", "csv", "markdown"]
FormatOption = Annotated[
    Format,
    typer.Option("--format", metavar="FORMAT", help="table, json, ndjson, csv or markdown."),
]
Row = Sequence[Any]
# A block of a narrow terminal has at least so many cells for a value.
_NARROWEST = 20
_MARKED = re.compile(r"([\\`*_|<>\[\]~&])")
_COLOURS = {"inserted": "32", "updated": "33", "deleted": "31"}


class Change(NamedTuple):
    """A value that became another one, or only appeared (`new`) or went (`old`)."""

    column: str
    sides: dict[str, Any]

    def __str__(self) -> str:
        if len(self.sides) == 1:
            (value,) = self.sides.values()
            return f"{self.column}={within(value)}"
        return f"{self.column}: {within(self.sides['old'])} → {within(self.sides['new'])}"


class Changes(dict[str, Any]):
    """What changed in a row: by column its old and its new value; JSON as it is."""

    def texts(self) -> list[str]:
        """Return a text for each column."""
        return [str(Change(column, sides)) for column, sides in self.items()]


class Screen(NamedTuple):
    """What text is made for: cells of a line, None for as many as it takes, and colours."""

    width: int | None = None
    colours: bool = False


def render(
    columns: Sequence[str], rows: Iterable[Row], form: str, screen: Screen | None = None
) -> Iterator[str]:
    """Yield the text of rows, in parts; nothing for a statement without columns."""
    if not columns:
        return
    if form == "json":
        yield from _json(columns, rows)
    elif form == "ndjson":
        yield from (f"{line}\n" for line in _objects(columns, rows))
    elif form == "csv":
        yield from (f"{_csv_line(row)}\n" for row in chain([columns], rows))
    elif form == "markdown":
        yield from _markdown(columns, rows)
    else:
        yield from _for_people(columns, rows, screen or Screen())


def within(value: Any) -> str:
    """Return a value among others; a text that would not be read as one text is in quotes."""
    if isinstance(value, str) and (value in ("", "null") or any(m in value for m in ',=→"\n')):
        return to_json(value)
    return to_text(value)


def _objects(columns: Sequence[str], rows: Iterable[Row]) -> Iterator[str]:
    names = unique_names(columns)
    return (to_json(dict(zip(names, row, strict=True))) for row in rows)


def _json(columns: Sequence[str], rows: Iterable[Row]) -> Iterator[str]:
    """Yield one array, with a line for each row."""
    before = "[\n"
    for line in _objects(columns, rows):
        yield f"{before}  {line}"
        before = ",\n"
    yield "[]\n" if before == "[\n" else "\n]\n"


def _csv_line(row: Row) -> str:
    """Return a row of CSV (RFC 4180), with an empty text in quotes, which a null has not.

    A line with nothing in it would be no row, so a null without neighbours has quotes too.
    """
    return ",".join(map(_csv_cell, row)) or '""'


def _csv_cell(value: Any) -> str:
    text = "" if value is None else to_text(value)
    quoted = value == "" or any(mark in text for mark in '",\r\n')
    return '"' + text.replace('"', '""') + '"' if quoted else text


def _markdown(columns: Sequence[str], rows: Iterable[Row]) -> Iterator[str]:
    yield _markdown_line(map(printable, columns))
    yield f"|{'---|' * len(columns)}\n"
    for row in rows:
        yield _markdown_line(map(_cell, row))


def _markdown_line(cells: Iterable[str]) -> str:
    escaped = (_MARKED.sub(r"\\\1", cell) for cell in cells)
    return f"| {' | '.join(escaped)} |\n"


def _for_people(columns: Sequence[str], rows: Iterable[Row], screen: Screen) -> Iterator[str]:
    """Yield a table whose last column is folded, if it must be; or blocks, if that is too wide."""
    found = list(rows)
    heads = [printable(column) for column in columns]
    cells = [[_cell(value) for value in row] for row in found]
    widths = [max(map(cell_len, column)) for column in zip(heads, *cells, strict=True)]
    if screen.width is not None:
        room = screen.width - sum(widths[:-1]) - 3 * (len(widths) - 1)
        if room < min(widths[-1], _NARROWEST):
            yield from _blocks(heads, found, screen)
            return
        widths[-1] = min(widths[-1], room)
    right = [_is_numeric(row[place] for row in found) for place in range(len(heads))]
    yield f"{_bold(_line(heads, widths, right), screen)}\n"
    yield f"{'─┼─'.join('─' * width for width in widths)}\n"
    for row, texts in zip(found, cells, strict=True):
        folded = _lines_of(row[-1], widths[-1]) if cell_len(texts[-1]) > widths[-1] else texts[-1:]
        line = _line([*texts[:-1], folded[0]], widths, right)
        if heads[0] == "_change":
            line = f"{_coloured(texts[0], screen)}{line[len(texts[0]) :]}"
        yield f"{line}\n"
        for more in folded[1:]:
            yield f"{_line([*[''] * (len(texts) - 1), more], widths, right)}\n"


def _line(cells: Sequence[str], widths: Sequence[int], right: Sequence[bool]) -> str:
    padded = (
        f"{' ' * (width - cell_len(cell))}{cell}" if to_right else
        f"{cell}{' ' * (width - cell_len(cell))}"
        for cell, width, to_right in zip(cells, widths, right, strict=True)
    )  # fmt: skip
    return " │ ".join(padded).rstrip()


def _is_numeric(values: Iterable[Any]) -> bool:
    known = [value for value in values if value is not None]
    return bool(known) and all(
        isinstance(value, int | float | Decimal) and not isinstance(value, bool) for value in known
    )


def _blocks(heads: Sequence[str], rows: Sequence[Row], screen: Screen) -> Iterator[str]:
    """Yield a line for each column of a row; a value that is too long goes on below itself."""
    width = max(map(cell_len, heads))
    room = max((screen.width or 0) - width - 3, _NARROWEST)
    for number, row in enumerate(rows, 1):
        title = f"── {number} of {len(rows)} "
        yield f"{_bold(title.ljust(min(width + 3 + room, screen.width or 80), '─'), screen)}\n"
        for head, value in zip(heads, row, strict=True):
            shown = f"{head}{' ' * (width - cell_len(head))}"
            for text in _lines_of(value, room):
                said = _coloured(text, screen) if head == "_change" else text
                yield f"{shown} │ {said}".rstrip() + "\n"
                shown = " " * width


def _lines_of(value: Any, room: int) -> list[str]:
    texts = value.texts() if isinstance(value, Changes) else [_text(value)]
    return [line for text in texts for line in _folded(printable(text), room)] or [""]


def _folded(text: str, room: int) -> Iterator[str]:
    """Yield a text in lines, broken between words where that is possible."""
    line = ""
    for word in re.findall(r"\S*\s+|\S+", text):
        if cell_len(line) + cell_len(word.rstrip()) <= room:
            line += word
            continue
        if line:
            yield line
        *whole, line = chop_cells(word, room)
        yield from whole
    yield line


def _cell(value: Any) -> str:
    return printable(_text(value))


def _text(value: Any) -> str:
    """Return the text of a cell: nothing for a null, so that an empty text is shown in quotes."""
    if value is None:
        return ""
    if isinstance(value, Changes):
        return ", ".join(value.texts())
    return '""' if value == "" else to_text(value)


def _coloured(word: str, screen: Screen) -> str:
    """Return a word, in a colour if it names a change."""
    known = screen.colours and word in _COLOURS
    return f"\x1b[{_COLOURS[word]}m{word}\x1b[0m" if known else word


def _bold(text: str, screen: Screen) -> str:
    return f"\x1b[1m{text}\x1b[0m" if screen.colours else text
