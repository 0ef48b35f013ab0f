"""Which columns may be the natural key: unique and never null in all that was seen."""

import re
from collections.abc import Sequence
from itertools import combinations
from typing import Any, NamedTuple

from lakekit.contract.checks import NOT_KEYS
from lakekit.discover.columns import ColumnGuess

Row = dict[str, Any]
_MOST_COLUMNS = 4
_MOST_IN_COMBINATIONS = 12
_PARTS = re.compile(
    r".*(_?id|uuid|guid|key|code|no|nr|number|num|line|seq|position|index|year|month|week|day|date|"
    r"hour|region|country|currency|lang|language|locale|type|name|version)",
    re.IGNORECASE,
)


class KeyGuess(NamedTuple):
    """A key, and what speaks for it."""

    columns: tuple[str, ...]
    saw: str


def propose_keys(columns: Sequence[ColumnGuess], rows: Sequence[Row], table: str) -> list[KeyGuess]:
    """Return keys that are unique and never null, the likeliest first.

    Args:
        columns: Those of the table.
        rows: The typed values of each record that is not rejected, each record once.
        table: The table's name: `customer_id` is the key of `customers`.
    """
    able = [
        column.name for column in columns
        if column.type.name not in NOT_KEYS
        and all(row.get(column.name) not in (None, "") for row in rows)
    ]  # fmt: skip
    if not rows:
        return []
    saw = f"unique and never null in {len(rows)} {'record' if len(rows) == 1 else 'records'}"
    ranked = sorted(able, key=lambda name: _rank(name, table))
    types = {column.name: column.type.name for column in columns}
    singles = [name for name in ranked if _is_unique((name,), rows)]
    good = [name for name in singles if _rank(name, table) <= 2]
    found = [KeyGuess((name,), saw) for name in good]
    if not found and len(rows) > 1:
        parts = [name for name in ranked if _PARTS.fullmatch(name)][:_MOST_IN_COMBINATIONS]
        found += [KeyGuess(each, saw) for each in _combined(parts, rows)]
    if len(rows) > 1:
        others = [name for name in singles if name not in good and types[name] in _LIKELY]
        found += [KeyGuess((name,), f"{saw}, but not called a key") for name in others]
    return found


_LIKELY = ("string", "bigint", "int", "decimal")


def _combined(names: Sequence[str], rows: Sequence[Row]) -> list[tuple[str, ...]]:
    for size in range(2, _MOST_COLUMNS + 1):
        if found := [each for each in combinations(names, size) if _is_unique(each, rows)]:
            return found[:3]
    return []


def _is_unique(names: tuple[str, ...], rows: Sequence[Row]) -> bool:
    return len({tuple(row[name] for name in names) for row in rows}) == len(rows)


def _rank(name: str, table: str) -> int:
    """Return how likely a column is a key by its name; the least is the likeliest."""
    plain, singular = name.lower().replace("_", ""), re.sub(r"(es|s)$", "", table.replace("_", ""))
    if plain in ("id", "uuid", "guid", f"{singular}id", f"{table}id"):
        return 0
    if plain in ("key", "code", "sku", "isbn", "ean", "iban", "slug", "number", "icao", "iata"):
        return 1
    if plain in (f"{singular}{end}" for end in ("code", "key", "no", "number", "nr", "name")):
        return 1
    if re.search(r"(id|uuid|guid|code|number|nr|no|key)$", plain):
        return 2
    return 3
