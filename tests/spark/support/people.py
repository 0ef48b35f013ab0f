"""The contract of people of most tests, its variants, and three of these people."""

from collections.abc import Mapping
from typing import Any

import yaml

from lakekit.contract.contract import Contract, load_contract

COLUMNS = {"id": "int", "name": "string", "city": "string"}
# A column by its type, or by all that its contract says; None takes one out.
Column = str | Mapping[str, Any] | None


def people(
    *,
    base: Mapping[str, str] = COLUMNS,
    columns: Mapping[str, Column] | None = None,
    rename: Mapping[str, str] | None = None,
    quality: Mapping[str, Any] | None = None,
    table: Mapping[str, Any] | None = None,
    maintenance: Mapping[str, Any] | None = None,
    version: int = 1,
    **history: Any,
) -> Contract:
    """Return the contract of people, which is validated as a file is.

    Args:
        base: the columns that it has before any change.
        columns: columns that come, that change, or that go.
        rename: new names of the first columns, each by its old one.
        quality: that section; likewise `table` and `maintenance`.
        version: of the contract.
        history: the options of that section. `sequence_by` brings its column along.
    """
    sequence = history.get("sequence_by")
    # Records of full extracts are never partial.
    extract = "changes" if history.get("ignore_null_updates") else "full"
    known = dict(base) if sequence is None else {**base, sequence: base.get(sequence, "timestamp")}
    schema = {name: {"type": kind} for name, kind in known.items()}
    for old, new in (rename or {}).items():
        schema[old] |= {"name": new, "renamed_from": old}
    schema = {column.get("name", name): column for name, column in schema.items()}
    for name, column in (columns or {}).items():
        if column is None:
            del schema[name]
        else:
            schema[name] = {"type": column} if isinstance(column, str) else dict(column)
    document = {
        "contract": "people",
        "version": version,
        "source": "people_api",
        "endpoint": {"path": "/people", "extract": extract},
        "schema": [{"name": name, **column} for name, column in schema.items()],
        "history": {"keys": ["id"], "max_deleted_ratio": 1, **history},
        "quality": quality or {"max_rejected_ratio": 0.6},
        "table": table or {},
        "maintenance": maintenance or {},
    }
    return load_contract(yaml.safe_dump(document, sort_keys=False))


def renamed(old: str, kind: str = "string") -> dict[str, str]:
    """Return a column that had another name before."""
    return {"type": kind, "renamed_from": old}


PEOPLE = people()
TIMED = people(sequence_by="at")
# A record that repeats the current content changes no version; only the journal records it.
SILENT = people(sequence_by="at", untracked="ignore")
REFUSED = people(sequence_by="at", late_changes="quarantine", apply_as_deletes="name = 'deleted'")

ANN = {"id": 1, "name": "Ann", "city": "Oslo"}
BEN = {"id": 2, "name": "Ben", "city": "Bonn"}
CAT = {"id": 3, "name": "Cat", "city": "Rome"}
# The versions after Ann has moved on the second day.
MOVED = [
    (1, "Ann", "Oslo", 1, 2, False),
    (1, "Ann", "Rome", 2, None, True),
    (2, "Ben", "Bonn", 1, None, True),
]
