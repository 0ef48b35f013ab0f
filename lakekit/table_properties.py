"""Every `lakekit.*` property of an Iceberg table and of its snapshots: name, shape, reader, writer.

A table has six properties, each one JSON value. A table that Lakekit did not make has none of
them, and each reader says what that means. What the contract adds under `table.properties` is the
user's own.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Generic, TypeVar

from pydantic import AwareDatetime, ConfigDict, TypeAdapter

from lakekit.documents import refuse_newer
from lakekit.errors import SchemaMismatchError
from lakekit.models import Model

# Snapshot properties: the run that made a snapshot, and its extraction time (ISO, UTC).
RUN_ID = "lakekit.run-id"
EXTRACTION_TIME = "lakekit.extraction-time"
# A rebuild, and a pass over several landings, publish many runs at once: their ids as a JSON list,
# in the order of their merges.
RUN_IDS = "lakekit.run-ids"
# Snapshot properties of a job's merge: what it had used for the table when it wrote, by the time
# and its workers. What Glue has charged is in the result of the run.
DPU_SECONDS = "lakekit.dpu-seconds"
COST_USD = "lakekit.cost-usd"
# Only a rebuild's shadow has this table property: the table whose shadow it is.
SHADOW_OF = "lakekit.shadow-of"
# What the values have that name no `schema_version`; a higher one is refused.
_VERSION = 1

Value = TypeVar("Value")


class _Stored(Model):
    """A JSON value of a property; fields that a newer Lakekit has added are ignored."""

    model_config = ConfigDict(extra="ignore")


class ContractProperty(_Stored):
    """The parts of its contract by which a table was made, and the version of the contract.

    Example:
        `{"version": 1, "mode": "scd2", "keys": ["id"], "sequence_by": "at", "deletes": "close",
        "ignore_null_updates": false}`; `sequence_by` is null where versions begin at the extraction
        times of their runs.
    """

    version: int
    mode: str
    keys: tuple[str, ...]
    sequence_by: str | None
    deletes: str
    ignore_null_updates: bool


class AddedColumnProperty(_Stored):
    """A column that was added later, until its backfill ends.

    Example:
        `{"added_after": "2026-01-05T00:00:00", "scopes": […]}`: `added_after` (UTC) is the newest
        extraction time in the table when the column was added; `scopes` are those of which a full
        extract with the column has been merged, each a JSON object as text (see `sql.scopes`).
    """

    added_after: datetime
    scopes: tuple[str, ...] = ()


class LineDigestsProperty(_Stored):
    """By which rules the digests of landed lines in a table were made.

    Example:
        `{"fingerprint": "5f0c…", "renewed_at": "2026-01-05T00:00:00", "schema_changes": 2}`:
        `fingerprint` names the way in which lines became rows (see `sql.line_hash`), null if the
        digests hold for none; `renewed_at` (UTC) is the extraction time of the run that computed
        them all again, null if none did; `schema_changes` counts how often CreateTables changed
        the columns.
    """

    fingerprint: str | None = None
    renewed_at: datetime | None = None
    schema_changes: int = 0


class MaintenanceProperty(_Stored):
    """What maintenance left, by which it does nothing twice to a table that has not changed.

    Example:
        `{"uncompacted": [-71], "manifests": 120, "orphans_removed": "2026-01-05T00:00:00Z"}`:
        `uncompacted` are the fingerprints of partitions that still asked for a compaction after
        one (see `lakekit.health`), `manifests` how many there were after they were rewritten, and
        `orphans_removed` is when the table was listed for orphan files, null if it never was.
    """

    uncompacted: tuple[int, ...] = ()
    manifests: int = 0
    orphans_removed: AwareDatetime | None = None


@dataclass(frozen=True)
class Property(Generic[Value]):
    """One table property, whose text is one JSON value."""

    name: str
    _adapter: TypeAdapter[Value]

    def read(self, properties: Mapping[str, str]) -> Value | None:
        """Return the value among the properties of a table, None if it has none.

        Raises:
            SchemaMismatchError: The text is not of the property's shape.
            NewerDocumentError: A newer release wrote it in a form that this one cannot read.
        """
        text = properties.get(self.name)
        if not text:
            return None
        try:
            refuse_newer(json.loads(text), _VERSION, name=f"table property {self.name}")
            return self._adapter.validate_json(text)
        except ValueError as error:  # ValidationError is one
            raise SchemaMismatchError(
                f"table property {self.name} was changed by hand and cannot be read: {error}"
            ) from None

    def write(self, value: Value) -> dict[str, str]:
        """Return the property with a value, as name and text."""
        return {self.name: self._adapter.dump_json(value).decode()}


CONTRACT = Property("lakekit.contract", TypeAdapter(ContractProperty))
# Column to type: what the row hashes of a table cover.
TRACKED = Property("lakekit.tracked", TypeAdapter(dict[str, str]))
# Column to AddedColumnProperty, in the order in which they were added.
ADDED_COLUMNS = Property("lakekit.added-columns", TypeAdapter(dict[str, AddedColumnProperty]))
# Old to new name in lower case, of each step in which columns were renamed; the oldest come first.
RENAMES = Property("lakekit.renames", TypeAdapter(list[dict[str, str]]))
LINE_DIGESTS = Property("lakekit.line-digests", TypeAdapter(LineDigestsProperty))
# The change journal and the quarantine have this one too.
MAINTENANCE = Property("lakekit.maintenance", TypeAdapter(MaintenanceProperty))


def line_digests(properties: Mapping[str, str]) -> LineDigestsProperty:
    """Return what the properties of a table say of its line digests."""
    return LINE_DIGESTS.read(properties) or LineDigestsProperty()


def runs_in(summary: Any) -> list[str]:
    """Return the runs that a snapshot published, by its summary (anything with `get`).

    Example:
        >>> runs_in({"lakekit.run-id": "r-1"}), runs_in({"lakekit.run-ids": '["a", "b"]'})
        (['r-1'], ['a', 'b'])
    """
    own = summary.get(RUN_ID)
    several = summary.get(RUN_IDS)
    return json.loads(several) if several else [own] if own else []
