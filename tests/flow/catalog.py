"""Tables without rows: snapshots that carry the ids of the landings that were merged."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from lakekit.batch import Batch
from lakekit.contract.contract import CONTROL_COLUMNS, Contract
from lakekit.sql.tables import table_properties
from lakekit.table_properties import EXTRACTION_TIME, RUN_ID, RUN_IDS, runs_in

_TYPES = {"bigint": "long", "timestamp": "timestamptz"}
_FILE = 1_000_000
# How long a snapshot lives at least: longer than a job.
LIFE = timedelta(hours=2.5)


class ConflictError(Exception):
    """Another commit came first."""


@dataclass(frozen=True)
class Commit:
    """One landing, merged by one run."""

    batch: str
    run_id: str
    extraction_time: datetime
    at: datetime


@dataclass
class Table:
    """One Iceberg table: the snapshots that are not expired, and all that ever was committed."""

    contract: Contract
    snapshots: list[dict[str, Any]] = field(default_factory=list)
    commits: list[Commit] = field(default_factory=list)
    # Landings whose merge changed nothing.
    repeated: list[Commit] = field(default_factory=list)
    last: int = 0

    @property
    def head(self) -> int | None:
        """The snapshot that main points at."""
        return self.snapshots[-1]["snapshot-id"] if self.snapshots else None

    def published(self) -> dict[str, int]:
        """Return the landings that main shows, with their snapshots."""
        found = {}
        for each in self.snapshots:
            found |= dict.fromkeys(runs_in(each["summary"]), each["snapshot-id"])
        return found

    def newest(self) -> str:
        """Return the newest extraction time that main shows, as snapshots have it."""
        return max(
            (each["summary"].get(EXTRACTION_TIME, "") for each in self.snapshots), default=""
        )

    def commit(
        self, batch: Batch, landings: Sequence[Batch], run_id: str, base: int | None, at: datetime
    ) -> int:
        """Publish a landing, or a pass over several; or raise ConflictError."""
        if self.head != base:
            raise ConflictError
        self.commits += [Commit(each.run_id, run_id, each.extraction_time, at) for each in landings]
        extracted = batch.extraction_time.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        summary = {RUN_ID: batch.run_id, EXTRACTION_TIME: extracted}
        if len(landings) > 1:
            summary[RUN_IDS] = json.dumps([each.run_id for each in landings])
        return self._append(summary, self._files() + 1, at)

    def compact(self, at: datetime, keep: int, is_complete: Callable[[str], bool]) -> None:
        """Rewrite the files into one, and expire all but the newest snapshots.

        Snapshots live for days: by then no job is at work that began before them, and what they
        have committed is complete.
        """
        self._append({"operation": "replace"}, 1, at)
        edge = (at - LIFE).timestamp() * 1000
        while len(self.snapshots) > keep and self.snapshots[0]["timestamp-ms"] < edge:
            if not all(map(is_complete, runs_in(self.snapshots[0]["summary"]))):
                return
            del self.snapshots[0]

    def metadata(self) -> Mapping[str, Any]:
        """Return the metadata document, as Iceberg writes it."""
        columns = {each.name: each.type for each in self.contract.columns}
        fields = [
            {"id": number, "name": name, "required": False, "type": _TYPES.get(kind, kind)}
            for number, (name, kind) in enumerate(
                {**columns, **dict.fromkeys(CONTROL_COLUMNS, "string")}.items(), 1
            )
        ]
        current = next(each["id"] for each in fields if each["name"] == "_is_current")
        spec = {"name": "_is_current", "transform": "identity", "source-id": current}
        properties = table_properties(self.contract)
        return {
            "format-version": int(properties.pop("format-version")),
            "last-updated-ms": self.snapshots[-1]["timestamp-ms"] if self.snapshots else 0,
            "current-schema-id": 0,
            "schemas": [{"schema-id": 0, "type": "struct", "fields": fields}],
            "default-spec-id": 0,
            "partition-specs": [{"spec-id": 0, "fields": [spec]}],
            "properties": properties,
            "current-snapshot-id": self.head or -1,
            "refs": {"main": {"snapshot-id": self.head, "type": "branch"}} if self.head else {},
            "snapshots": [*self.snapshots],
        }

    def _files(self) -> int:
        return int(self.snapshots[-1]["summary"]["total-data-files"]) if self.snapshots else 0

    def _append(self, summary: dict[str, str], files: int, at: datetime) -> int:
        self.last += 1
        size = {"total-data-files": str(files), "total-files-size": str(files * _FILE)}
        snapshot: dict[str, Any] = {
            "snapshot-id": self.last,
            "timestamp-ms": int(at.timestamp() * 1000),
            "summary": {"added-data-files": "1", "added-files-size": str(_FILE), **size, **summary},
        }
        if self.snapshots:
            snapshot["parent-snapshot-id"] = self.head
        self.snapshots.append(snapshot)
        return self.last
