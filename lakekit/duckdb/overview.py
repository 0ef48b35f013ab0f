"""What a table is, for a person: its kind, its rows, its columns and their roles. Pure."""

from collections.abc import Iterator, Sequence
from typing import Any

from lakekit.duckdb.reader import Counts
from lakekit.duckdb.tables import TECHNICAL, Table

Shown = tuple[Sequence[str], Iterator[Sequence[Any]]]


def listed(tables: Sequence[Table], counts: Sequence[Counts]) -> Shown:
    """Return a row for each table."""
    columns = ("table", "kind", "rows", "current", "committed_at")
    rows = (
        (table.name, table.kind, count.rows, count.current, table.changed_at)
        for table, count in zip(tables, counts, strict=True)
    )
    return columns, rows


def summary(table: Table, counts: Counts) -> str:
    """Return what a table is, in lines for a person."""
    current = "" if counts.current is None else f", {counts.current:,} of them current"
    rows = "unknown" if counts.rows is None else f"{counts.rows:,}"
    about = {
        "key": ", ".join(table.keys),
        "rows": f"{rows}{current}",
        "partitioned by": ", ".join(table.partition),
        "committed at": table.changed_at.isoformat() if table.changed_at else "",
    }
    lines = [f"{table.name}: {table.kind}"]
    if table.comment:
        lines.append(table.comment)
    return "\n".join([*lines, *(f"{name}: {text}" for name, text in about.items() if text), ""])


def described(table: Table, *, every: bool) -> Shown:
    """Return a row for each column of a table."""
    rows = (
        (column.name, column.type, _role(table, column.name), column.description or None)
        for column in table.columns
        if every or column.name not in TECHNICAL
    )
    return ("column", "type", "role", "description"), rows


def _role(table: Table, name: str) -> str | None:
    """Return what a column is in its history; nothing for one that is a value and no more."""
    if name in table.keys:
        return "key"
    if name.startswith("_"):
        return "control"
    if table.contract and table.contract.sequence_by == name:
        return "sequence"
    return "tracked" if name.lower() in table.tracked else None
