"""What the readers show of what they have read, as columns and rows. Pure."""

from collections.abc import Iterator, Sequence
from typing import Any

from lakekit.cli.formats import Changes, Row
from lakekit.duckdb.reader import Answer, Counts
from lakekit.duckdb.tables import TECHNICAL, Table
from lakekit.values import to_json

Shown = tuple[Sequence[str], Iterator[Row]]
_VALIDITY = ("_valid_from", "_valid_to")


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


def versions(answer: Answer, *, every: bool) -> Shown:
    """Return versions; their validity comes first, as most tables are wider than a screen."""
    shown = [name for name in answer.columns if every or name not in TECHNICAL]
    names = sorted(shown, key=lambda name: name not in _VALIDITY)
    places = [answer.columns.index(name) for name in names]
    return names, (tuple(row[place] for place in places) for row in answer.rows)


def changes(answer: Answer, keys: Sequence[str], *, every: bool) -> Shown:
    """Return changes: their keys, and of the other columns what differs, old → new.

    An insertion has values that are new, and a deletion those that are old, each but nulls.
    """
    hidden = {"_change", "_changed_at", "_old", "_is_deleted", *keys, *_VALIDITY}
    compared = [
        name for name in answer.columns if name not in hidden and (every or name not in TECHNICAL)
    ]

    def rows() -> Iterator[Row]:
        for row in answer.rows:
            found = dict(zip(answer.columns, row, strict=True))
            about = (found["_change"], found["_changed_at"], *(found[key] for key in keys))
            yield (*about, Changes(_changed(found, compared)))

    return ("_change", "_changed_at", *keys, "_changes"), rows()


def _changed(found: dict[str, Any], compared: Sequence[str]) -> dict[str, dict[str, Any]]:
    old = found["_old"]
    if old is not None:
        return {
            name: {"old": old[name], "new": found[name]}
            for name in compared
            if to_json(old[name]) != to_json(found[name])
        }
    side = "old" if found["_change"] == "deleted" else "new"
    return {name: {side: found[name]} for name in compared if found[name] is not None}


def _role(table: Table, name: str) -> str | None:
    """Return what a column is in its history; nothing for one that is a value and no more."""
    if name in table.keys:
        return "key"
    if name.startswith("_"):
        return "control"
    if table.contract and table.contract.sequence_by == name:
        return "sequence"
    return "tracked" if name.lower() in table.tracked else None
