"""The columns of a table, by the fields of the records of a sample."""

import re
import unicodedata
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from lakekit.contract.contract import RESERVED
from lakekit.contract.endpoint.paths import path_of
from lakekit.contract.fields import field_steps
from lakekit.contract.sqltypes import SqlType
from lakekit.discover.types import guess_type
from lakekit.records.json_values import Fields

_TAKEN = {"__seal", "_corrupt_record"}


@dataclass(frozen=True)
class ColumnGuess:
    """One column: where it is read from, its type, and what was seen of its values."""

    name: str
    type: SqlType
    steps: tuple[str, ...]
    saw: str
    nulls: int
    total: int

    @property
    def field(self) -> str | None:
        """What `from` says, if the field has another name."""
        if self.steps == (self.name,):
            return None
        only = self.steps[0]
        is_name = len(self.steps) == 1 and not only.startswith("$")
        return only if is_name else path_of(self.steps)


@dataclass(frozen=True)
class Columns:
    """The columns, and the fields that no column reads, each with the reason."""

    found: tuple[ColumnGuess, ...] = ()
    left_out: tuple[tuple[str, str], ...] = ()


def nested_fields(records: Sequence[Fields]) -> list[str]:
    """Return the fields that are objects wherever they are not null."""
    seen: dict[str, bool] = {}
    for record in records:
        for name, value in record:
            if value is not None:
                seen[name] = seen.get(name, True) and isinstance(value, Fields)
    return [name for name, is_object in seen.items() if is_object]


def propose_columns(
    records: Sequence[Fields], *, flatten: Collection[str] = (), are_texts: bool = False
) -> Columns:
    """Return a column for each field of the records that any type keeps.

    Args:
        records: Parsed records.
        flatten: Objects whose fields become columns of their own, read with `from`.
        are_texts: Whether all values are texts, as in CSV and XML.
    """
    steps: dict[tuple[str, ...], None] = {}
    for record in records:
        for name, value in record:
            if name not in flatten:
                steps[name,] = None
            elif isinstance(value, Fields):
                steps |= {(name, inner): None for inner, _ in value}
    found: list[ColumnGuess] = []
    left_out: list[tuple[str, str]] = []
    taken: set[str] = set()
    named = [record.named() for record in records]
    for path in steps:
        values = [_along(record, path) for record in named]
        guess = guess_type(values, path[-1], are_texts=are_texts)
        if guess is None:
            left_out.append((".".join(path), "numbers beyond a double, which no type keeps"))
        elif not _can_be_read(path):
            left_out.append((".".join(path), "a name that no column can be read from"))
        else:
            name = column_name(path, taken)
            taken.add(name.lower())
            nulls = sum(value is None for value in values)
            found.append(ColumnGuess(name, guess.type, path, guess.saw, nulls, len(values)))
    return Columns(tuple(found), tuple(left_out))


def _along(record: dict[str, Any], path: tuple[str, ...]) -> Any:
    value = record.get(path[0])
    for name in path[1:]:
        value = value.named().get(name) if isinstance(value, Fields) else None
    return value


def _can_be_read(path: tuple[str, ...]) -> bool:
    try:
        field_steps(path_of(path))
    except ValueError:
        return False
    return all(path) and path[0].lower() not in _TAKEN and len(path_of(path)) <= 900


def column_name(path: tuple[str, ...], taken: Collection[str]) -> str:
    """Return a name that a column may have and that no other one has; case does not count.

    Example:
        >>> [column_name((name,), {"id"}) for name in ("Größe in m²", "ID", "_row_hash", "2nd")]
        ['Grosse_in_m2', 'ID_2', 'row_hash', 'n2nd']
    """
    name = _plain(path[-1])
    if name.lower() in taken and len(path) > 1:
        name = _plain("_".join(path))
    name, number, own = name[:120], 2, name[:120]
    while own.lower() in taken:
        own, number = f"{name}_{number}", number + 1
    return own


def _plain(text: str) -> str:
    plain = unicodedata.normalize("NFKD", text.replace("ß", "ss")).encode("ascii", "ignore")
    name = re.sub(r"[^A-Za-z0-9_]+", "_", plain.decode())
    if name != text:
        name = name.strip("_")
    if name.lower() in RESERVED or name.startswith("__"):
        name = name.strip("_")
    if not name:
        return "column"
    name = f"n{name}" if name[0].isdigit() else name
    return f"{name}_" if name.lower() in RESERVED else name
