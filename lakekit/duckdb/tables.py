"""What the metadata document of a table says to a reader of it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from difflib import get_close_matches
from functools import cached_property
from typing import Any

from lakekit import layout
from lakekit.errors import InvalidStepInputError, SchemaMismatchError
from lakekit.runs.table_metadata import (
    TableColumn,
    current_columns,
    main_ancestry,
    partition_fields,
)
from lakekit.table_properties import CONTRACT, TRACKED, ContractProperty

# What a person seldom asks for: how a version came into the table, and what a merge compares.
TECHNICAL = (
    "_ingested_at", "_source_file", "_is_current", "_row_hash", "_line_hash", "_line_check",
)  # fmt: skip
_NAMED_AT_MOST = 20


@dataclass(frozen=True)
class Table:
    """One table as it is now."""

    name: str
    location: str
    metadata: Mapping[str, Any]

    @cached_property
    def columns(self) -> list[TableColumn]:
        """The columns, in their order."""
        return current_columns(self.metadata)

    @cached_property
    def types(self) -> dict[str, str]:
        """The types by the columns' names."""
        return {column.name: column.type for column in self.columns}

    @cached_property
    def contract(self) -> ContractProperty | None:
        """What the table says of its contract; a journal or a quarantine says nothing."""
        return CONTRACT.read(self.metadata.get("properties", {}))

    @property
    def keys(self) -> tuple[str, ...]:
        """The natural key, as the columns are written now."""
        keys = self.contract.keys if self.contract else ()
        written = {name.lower(): name for name in self.types}
        return tuple(written.get(key.lower(), key) for key in keys)

    @property
    def tracked(self) -> set[str]:
        """The columns whose changes open versions, in lower case."""
        tracked = TRACKED.read(self.metadata.get("properties", {})) or {}
        return {name.lower() for name in tracked}

    @property
    def kind(self) -> str:
        """What the table is: the mode of its contract, or journal or quarantine of another one."""
        if self.contract:
            return self.contract.mode
        for kind, named in (("journal", layout.journal_table("")),
                            ("quarantine", layout.quarantine_table(""))):  # fmt: skip
            if self.name.endswith(named):
                return kind
        return "other"

    @property
    def marked(self) -> bool:
        """Whether it has versions that say deleted."""
        return "_is_deleted" in self.types

    @property
    def partition(self) -> list[str]:
        """By what it is partitioned."""
        return list(partition_fields(self.metadata))

    @property
    def changed_at(self) -> datetime | None:
        """When main was last committed to, UTC without zone; None if it never was."""
        newest = next(iter(main_ancestry(self.metadata)), None)
        if newest is None:
            return None
        seconds = newest["timestamp-ms"] // 1000
        return datetime.fromtimestamp(seconds, UTC).replace(tzinfo=None)

    @property
    def comment(self) -> str:
        """What the contract says of the table."""
        return str(self.metadata.get("properties", {}).get("comment", ""))

    def refuse_without_keys(self) -> None:
        """Raise if the table does not say what its keys are.

        Raises:
            SchemaMismatchError: It does not.
        """
        if not self.keys:
            raise SchemaMismatchError(
                f"{self.name}: no keys in its property {CONTRACT.name}; bring it to its contract "
                "once (a merge does)"
            )


def refuse_unknown(names: Iterable[str], known: Iterable[str]) -> None:
    """Raise if there is no table of a name, in whichever case.

    Raises:
        InvalidStepInputError: There is none; the message names those that there are.
    """
    there = list(known)
    for name in names:
        if name.lower() not in {each.lower() for each in there}:
            raise InvalidStepInputError(f"no table '{name}'; {_those(name, there)}")


def _those(name: str, known: list[str]) -> str:
    if not known:
        return "there are none yet"
    near = get_close_matches(name.lower(), known, n=1)
    asked = f"did you mean {near[0]}? " if near else ""
    more = f" and {len(known) - _NAMED_AT_MOST} more" if len(known) > _NAMED_AT_MOST else ""
    return f"{asked}there {'is' if len(known) == 1 else 'are'} {_listed(known)}{more}"


def _listed(names: list[str]) -> str:
    return ", ".join(names[:_NAMED_AT_MOST])
