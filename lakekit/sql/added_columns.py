"""Columns that were added after a table's first version, and when their backfill ends. Pure.

A null that was extracted before the table had a column means unknown. The first value is backfilled
in place, until a full extract has said of every key what the column holds.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from lakekit.sql.scopes import are_among, with_new_names
from lakekit.table_properties import ADDED_COLUMNS, AddedColumnProperty


@dataclass(frozen=True)
class AddedColumn:
    """A column whose backfill has not ended.

    added_after: the newest extraction time in the table when it was added, UTC; runs that were
    extracted later have the column.
    """

    name: str
    added_after: datetime

    def predates(self, extracted: datetime) -> bool:
        """Whether the column was there when a run was extracted."""
        return self.added_after < extracted


def added_columns(properties: Mapping[str, str]) -> tuple[AddedColumn, ...]:
    """Return the added columns of a table whose backfill has not ended, the oldest first."""
    entries = ADDED_COLUMNS.read(properties) or {}
    return tuple(AddedColumn(name, each.added_after) for name, each in entries.items())


def with_added(
    properties: Mapping[str, str],
    added: Sequence[str],
    renames: Mapping[str, str],
    newest: datetime,
) -> dict[str, str]:
    """Return the property once some columns are renamed and some are added; nothing if none is.

    Args:
        properties: Those of the table.
        added: The columns that are added. What the property says of columns that had these names
            is dropped.
        renames: The columns that are renamed: old to new name.
        newest: The newest extraction time in the table, UTC.
    """
    entries = ADDED_COLUMNS.read(properties) or {}
    if not added and not (entries and renames):
        return {}
    kept = {
        # The columns of a scope may be among the renamed, too.
        renames.get(name, name): each.model_copy(
            update={"scopes": tuple(with_new_names(text, renames) for text in each.scopes)}
        )
        for name, each in entries.items()
    }
    kept = {name: each for name, each in kept.items() if name not in added}
    return ADDED_COLUMNS.write(kept | dict.fromkeys(added, AddedColumnProperty(added_after=newest)))


def ended_by_full(
    properties: Mapping[str, str],
    extracted: datetime,
    *,
    scopes: Collection[str] = (),
    held: Collection[str] = (),
) -> dict[str, str]:
    """Return the property once a full extract is merged; nothing if it stays.

    The extract ends the backfill of the columns that it has. Where absence counts within scopes
    only, the backfill of a column ends with the last of the scopes that the table holds.

    Args:
        properties: Those of the table.
        extracted: Extraction time of the extract, UTC.
        scopes: The scopes of the extract; none if absence counts everywhere.
        held: The scopes of the table's current keys.
    """
    entries = ADDED_COLUMNS.read(properties) or {}
    now: dict[str, AddedColumnProperty] = {}
    for name, each in entries.items():
        if extracted <= each.added_after:
            now[name] = each
            continue
        covered = tuple(sorted({*each.scopes, *scopes}))
        if not are_among(held, covered):
            now[name] = each.model_copy(update={"scopes": covered})
    return {} if now == entries else ADDED_COLUMNS.write(now)
