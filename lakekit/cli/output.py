"""What the commands print: rows, sentences, errors. All output is made here."""

import os
import shutil
import sys
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Any

from lakekit.cli.formats import Changes, Row, Screen, render, within
from lakekit.values import printable

# How many rows a terminal shows of a table, if nobody says how many.
MOST_ROWS = 100


def say(text: str, *, err: bool = False) -> None:
    """Print lines for a person; whatever they quote, a terminal obeys none of it.

    What goes to standard error is read, not copied into a program: a terminal gets it broken
    between words.
    """
    text = lines(text)
    if err and sys.stderr.isatty():
        text = "\n".join(map(_fitted, text.split("\n")))
    write(f"{text}\n", err=err)


def _fitted(line: str) -> str:
    indent = line[: len(line) - len(line.lstrip())]
    width = shutil.get_terminal_size().columns
    return "\n".join(textwrap.wrap(
        line, width, subsequent_indent=f"{indent}  ", break_long_words=False,
        break_on_hyphens=False, replace_whitespace=False,
    ))  # fmt: skip


def lines(text: str) -> str:
    """Return lines with escapes for all else that a terminal would obey."""
    return "\n".join(map(printable, text.split("\n")))


def write(text: str, *, err: bool = False) -> None:
    """Print a text as it is; other ways to print it would drop what looks like colours."""
    stream = sys.stderr if err else sys.stdout
    stream.write(text)
    stream.flush()


def why(error: OSError) -> str:
    """Return what the operating system says of a fault, and of which path if there is one."""
    reason = error.strerror or str(error)
    return f"{error.filename}: {reason}" if error.filename else reason


def screen() -> Screen:
    """Return what standard output is: a terminal with its width, or a file without one."""
    if not sys.stdout.isatty():
        return Screen()
    colours = not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    return Screen(shutil.get_terminal_size().columns, colours)


def show(columns: Sequence[str], rows: Iterable[Row], form: str, limit: int | None = None) -> None:
    """Print rows in a format.

    Args:
        columns: Their names.
        rows: The rows, read once.
        form: One of `lakekit.cli.formats.Format`.
        limit: How many rows at most, 0 for all; None for all but in a table on a terminal.
    """
    here, left = screen(), iter(rows)
    if limit is None and form == "table" and here.width is not None:
        limit = MOST_ROWS
    for part in render(columns, islice(left, limit) if limit else left, form, here):
        sys.stdout.write(part)
    sys.stdout.flush()
    if limit and next(left, None) is not None:
        say(f"the first {limit} rows; --limit 0 shows all", err=True)


def render_samples(samples: Mapping[str, Sequence[Mapping[str, Any]]]) -> str:
    """Return sample rows of a plan as one table per kind."""
    parts = []
    for kind, rows in samples.items():
        columns = list(rows[0])
        cells = [[_sample(column, row[column]) for column in columns] for row in rows]
        parts.append(f"{kind}\n{''.join(render(columns, cells, 'table', screen()))}")
    return "".join(parts)


def say_rebuilt(done: Mapping[str, Any]) -> str:
    """Return a rebuild's result as a sentence; its runs as a number."""
    state = f"snapshot {done['snapshot_id']}" if done["committed"] else "nothing to commit"
    counts = f"{done['missing']} rows missing, {done['wrong']} wrong"
    if done["journal_missing"] or done["journal_wrong"]:
        counts += f"; journal: {done['journal_missing']} missing, {done['journal_wrong']} wrong"
    return f"{done['table']}: {done['runs']} runs; {counts}; {state}"


def _sample(column: str, value: Any) -> Any:
    """Return a cell: a key or a row as k=v, a change as old → new."""
    if not isinstance(value, Mapping):
        return value
    if column == "changes":
        return Changes(value)
    return ", ".join(f"{name}={within(part)}" for name, part in value.items())
