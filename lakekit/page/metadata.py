"""What the metadata of a table say for its page: files, snapshots, added columns. Pure."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from lakekit.contract.contract import Maintenance
from lakekit.duckdb.tables import Table
from lakekit.health import SMALL
from lakekit.page.model import Files, Snapshot
from lakekit.runs.table_metadata import main_ancestry
from lakekit.table_properties import runs_in

# How many snapshots a page draws of a table.
MOST_SNAPSHOTS = 40
_TARGET = "write.target-file-size-bytes"


def files_of(table: Table) -> Files:
    """Return the files of a table by its newest snapshot, and whether they ask for a compaction."""
    head = next(iter(main_ancestry(table.metadata)), {})
    totals = head.get("summary", {})
    found = Files(
        data=int(totals.get("total-data-files", 0)),
        deletes=int(totals.get("total-delete-files", 0)),
        bytes=int(totals.get("total-files-size", 0)),
        snapshots=len(table.metadata.get("snapshots", [])),
    )
    return found.model_copy(update={"fault": _fault(table, found)})


def snapshots_of(table: Table) -> tuple[Snapshot, ...]:
    """Return the newest commits on main, oldest first."""
    newest = main_ancestry(table.metadata)[:MOST_SNAPSHOTS]
    return tuple(_snapshot(each) for each in reversed(newest))


def added_columns(table: Table) -> dict[str, datetime]:
    """Return when columns were added that the first schema lacked, by the commits that are left."""
    schemas = sorted(table.metadata.get("schemas", []), key=lambda each: each["schema-id"])
    current = table.metadata.get("current-schema-id")
    fields: list[Any] = next(
        (each["fields"] for each in schemas if each["schema-id"] == current), []
    )
    known = {field["id"] for field in schemas[0]["fields"]} if schemas else set()
    commits = list(reversed(main_ancestry(table.metadata)))
    found = {}
    for field in fields:
        if field["id"] in known:
            continue
        first = next(
            each["schema-id"]
            for each in schemas
            if field["id"] in {one["id"] for one in each["fields"]}
        )
        for commit in commits:
            if commit.get("schema-id", 0) >= first:
                found[field["name"]] = _time(commit)
                break
    return found


def _fault(table: Table, files: Files) -> str | None:
    """Return what maintenance would do, by the limits that a contract has if it gives none.

    Of a table with partitions the metadata do not say how small the files of each are.
    """
    if files.deletes > files.data:
        return "compaction due"
    target = int(table.metadata.get("properties", {}).get(_TARGET, 128 << 20))
    many = files.data >= Maintenance().small_files_threshold
    small = files.data and files.bytes / files.data < SMALL * target
    return "compaction due" if many and small and not table.partition else None


def _snapshot(commit: Mapping[str, Any]) -> Snapshot:
    summary = commit.get("summary", {})
    return Snapshot(
        at=_time(commit),
        operation=summary.get("operation", "commit"),
        added=int(summary.get("added-records", 0)),
        rows=int(summary.get("total-records", 0)),
        runs=tuple(runs_in(summary)),
    )


def _time(commit: Mapping[str, Any]) -> datetime:
    return datetime.fromtimestamp(commit["timestamp-ms"] // 1000, UTC)
