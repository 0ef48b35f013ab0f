"""Query results as text."""

import csv
import io
import json
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from rich.console import Console
from rich.table import Table


def render(columns: Sequence[str], rows: Sequence[Sequence[Any]], form: str) -> str:
    """Return rows as `table`, `ndjson` or `csv` text."""
    if form == "ndjson":
        lines = [dict(zip(columns, row, strict=True)) for row in rows]
        return "".join(json.dumps(x, default=_plain, ensure_ascii=False) + "\n" for x in lines)
    if form == "csv":
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows([["" if v is None else _text(v) for v in row] for row in rows])
        return text.getvalue()
    table = Table(*columns)
    for row in rows:
        table.add_row(*["" if value is None else _text(value) for value in row])
    console = Console(file=io.StringIO(), width=200)
    console.print(table)
    return console.file.getvalue()  # type: ignore[attr-defined,no-any-return]


def to_json(value: Any) -> str:
    """Return one line of JSON; times as ISO text, what else is unknown as its text."""
    return json.dumps(value, default=_plain, ensure_ascii=False)


def render_samples(samples: Mapping[str, Sequence[Mapping[str, Any]]]) -> str:
    """Return sample rows of a plan as one table per kind."""
    parts = []
    for kind, rows in samples.items():
        columns = list(rows[0])
        cells = [[_sample(column, row[column]) for column in columns] for row in rows]
        parts.append(f"{kind}\n{render(columns, cells, 'table')}")
    return "".join(parts)


def _sample(column: str, value: Any) -> Any:
    """Return a cell: a key or a row as k=v, a change as old → new."""
    if not isinstance(value, Mapping):
        return value
    if column == "changes":
        return ", ".join(_change(name, part) for name, part in value.items())
    return ", ".join(f"{name}={_text(part)}" for name, part in value.items())


def _change(name: str, part: Mapping[str, Any]) -> str:
    if "old" in part:
        return f"{name}: {_text(part['old'])} → {_text(part['new'])}"
    return f"{name}={_text(part['new'])}"


def _plain(value: Any) -> Any:
    if isinstance(value, datetime | date):
        return value.isoformat()
    if hasattr(value, "asDict"):
        return value.asDict(recursive=True)
    return str(value)


def _text(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str | int | float | Decimal):
        return str(value)
    plain = _plain(value) if not isinstance(value, list | dict) else value
    return plain if isinstance(plain, str) else json.dumps(plain, default=_plain)


def say_rebuilt(done: Mapping[str, Any]) -> str:
    """Return a rebuild's result as a sentence; its runs as a number."""
    state = f"snapshot {done['snapshot_id']}" if done["committed"] else "nothing to commit"
    counts = f"{done['missing']} rows missing, {done['wrong']} wrong"
    if done["journal_missing"] or done["journal_wrong"]:
        counts += f"; journal: {done['journal_missing']} missing, {done['journal_wrong']} wrong"
    return f"{done['table']}: {done['runs']} runs; {counts}; {state}"
