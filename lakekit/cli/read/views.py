"""What the readers show of what they have read, as columns and rows. Pure."""

from collections.abc import Iterator, Sequence
from typing import Any

from lakekit.cli.formats import Changes, Row
from lakekit.duckdb.reader import Answer
from lakekit.duckdb.tables import TECHNICAL
from lakekit.values import to_json

Shown = tuple[Sequence[str], Iterator[Row]]
_VALIDITY = ("_valid_from", "_valid_to")


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
