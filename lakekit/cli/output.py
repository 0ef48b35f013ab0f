"""What the commands print: rows in three forms, sentences, errors. All output is made here."""

import io
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from lakekit.values import printable, to_json, to_text, unique_names

Rows = Sequence[Sequence[Any]]
# Each row is one line, however wide the terminal is: a value that is wrapped is not as it was. Only
# a row that is wider than this is wrapped.
_WIDEST = 100_000


def say(text: str, *, err: bool = False) -> None:
    """Print lines for a person; whatever they quote, a terminal obeys none of it."""
    write(f"{lines(text)}\n", err=err)


def lines(text: str) -> str:
    """Return lines with escapes for all else that a terminal would obey."""
    return "\n".join(map(printable, text.split("\n")))


def write(text: str, *, err: bool = False) -> None:
    """Print a text as it is; other ways to print it would drop what looks like colours."""
    stream = sys.stderr if err else sys.stdout
    stream.write(text)
    stream.flush()


def render(columns: Sequence[str], rows: Rows, form: str) -> str:
    """Return rows as `table`, `ndjson` or `csv` text; nothing for a statement without columns."""
    if not columns:
        return ""
    if form == "ndjson":
        names = unique_names(columns)
        return "".join(f"{to_json(dict(zip(names, row, strict=True)))}\n" for row in rows)
    if form == "csv":
        return "".join(f"{_csv_line(row)}\n" for row in (columns, *rows))
    return _table(columns, rows)


def render_samples(samples: Mapping[str, Sequence[Mapping[str, Any]]]) -> str:
    """Return sample rows of a plan as one table per kind."""
    parts = []
    for kind, rows in samples.items():
        columns = list(rows[0])
        cells = [[_sample(column, row[column]) for column in columns] for row in rows]
        parts.append(f"{kind}\n{render(columns, cells, 'table')}")
    return "".join(parts)


def say_rebuilt(done: Mapping[str, Any]) -> str:
    """Return a rebuild's result as a sentence; its runs as a number."""
    state = f"snapshot {done['snapshot_id']}" if done["committed"] else "nothing to commit"
    counts = f"{done['missing']} rows missing, {done['wrong']} wrong"
    if done["journal_missing"] or done["journal_wrong"]:
        counts += f"; journal: {done['journal_missing']} missing, {done['journal_wrong']} wrong"
    return f"{done['table']}: {done['runs']} runs; {counts}; {state}"


def _table(columns: Sequence[str], rows: Rows) -> str:
    """Return rows as a table; of a plain text rich would take `[…]` and `:…:` for its own."""
    table = Table()
    for column in columns:
        table.add_column(Text(printable(column)), overflow="fold")
    for row in rows:
        table.add_row(*[Text(printable(_cell(value))) for value in row])
    sink = io.StringIO()
    Console(file=sink, width=_WIDEST, color_system=None).print(table)
    return sink.getvalue()


def _cell(value: Any) -> str:
    """Return the text of a cell: nothing for a null, so that an empty text is shown in quotes."""
    if value is None:
        return ""
    return '""' if value == "" else to_text(value)


def _csv_line(row: Sequence[Any]) -> str:
    """Return a row of CSV (RFC 4180), with an empty text in quotes, which a null has not.

    A line with nothing in it would be no row, so a null without neighbours has quotes too.
    """
    return ",".join(map(_csv_cell, row)) or '""'


def _csv_cell(value: Any) -> str:
    text = "" if value is None else to_text(value)
    quoted = value == "" or any(mark in text for mark in '",\r\n')
    return '"' + text.replace('"', '""') + '"' if quoted else text


def _sample(column: str, value: Any) -> Any:
    """Return a cell: a key or a row as k=v, a change as old → new."""
    if not isinstance(value, Mapping):
        return value
    if column == "changes":
        return ", ".join(_change(name, part) for name, part in value.items())
    return ", ".join(f"{name}={_within(part)}" for name, part in value.items())


def _change(name: str, part: Mapping[str, Any]) -> str:
    if "old" in part:
        return f"{name}: {_within(part['old'])} → {_within(part['new'])}"
    return f"{name}={_within(part['new'])}"


def _within(value: Any) -> str:
    """Return a value among others; a text that would not be read as one text is in quotes."""
    if isinstance(value, str) and (value in ("", "null") or any(m in value for m in ',=→"\n')):
        return to_json(value)
    return to_text(value)
