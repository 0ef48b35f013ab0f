"""What single columns may be in a history: the time of the last change, a mark of deletion."""

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from lakekit.contract.checks import SEQUENCES
from lakekit.discover.columns import ColumnGuess

_CHANGED = re.compile(
    r"(last|date|time)?_?(updated?|modified|modification|changed?|lastmod|mtime|systemmodstamp)_?"
    r"(at|on|date|time|datetime|timestamp|ts|utc|stamp)*|system_?mod_?stamp",
    re.IGNORECASE,
)
_DELETED = re.compile(
    r"(is|was|_)?_?(deleted|removed|tombstone)_?(at|on|date|time)?", re.IGNORECASE
)
_PARAM = re.compile(
    r"(updated|modified|changed|last|edited)?_?(modified|updated|changed)?_?"
    r"(since|after|from|gte|gt|min)|(updated|modified|changed)\w*\[(gte?|after|since)\]",
    re.IGNORECASE,
)


class RoleGuess(NamedTuple):
    """A column and what was seen of it; for a deletion, the condition of a deleted record."""

    column: str
    saw: str
    condition: str = ""


def change_time(columns: Sequence[ColumnGuess]) -> RoleGuess | None:
    """Return the column that may hold the time of a record's last change."""
    for column in columns:
        is_time = column.type.name in SEQUENCES
        if is_time and _CHANGED.fullmatch(column.name) and not column.nulls:
            saw = f"a {column.type.name} in each of {column.total} records"
            return RoleGuess(column.name, saw)
    return None


def delete_mark(columns: Sequence[ColumnGuess]) -> RoleGuess | None:
    """Return the column that may mark a record as deleted."""
    for column in columns:
        if not _DELETED.fullmatch(column.name):
            continue
        quoted = f"`{column.name}`"
        if column.type.name == "boolean":
            return RoleGuess(column.name, "true or false", quoted)
        if column.type.name in SEQUENCES or column.nulls:
            saw = f"null in {column.nulls} of {column.total} records"
            return RoleGuess(column.name, saw, f"{quoted} IS NOT NULL")
    return None


def since_param(params: dict[str, Any]) -> str | None:
    """Return the parameter of an address that may say since when records are asked for."""
    return next((name for name in params if _PARAM.fullmatch(name)), None)
