"""What one run hands to a merge, and what the merge says it did."""

import json
from datetime import UTC, datetime
from typing import Any, Literal

from pydantic import AwareDatetime

from lakekit.models import Model

# What a snapshot says of the run that made it.
RUN_ID = "lakekit.run-id"
# A rebuild publishes many runs at once: their ids as a JSON list, in the order of their merges.
REBUILT_RUNS = "lakekit.rebuilt-runs"
Extract = Literal["full", "incremental", "changes"]


class Batch(Model):
    """The landed records of one run for one table.

    `run_id` and the table identify a batch; `files` are addresses that Spark reads, in order.
    `bytes` is the size of their records, unpacked, if it is known. `merged_until` is the extraction
    time of a younger landing that was merged before, if one is known: the table does not show it
    if it changed nothing.
    """

    run_id: str
    extract: Extract
    extraction_time: AwareDatetime
    files: tuple[str, ...]
    bytes: int | None = None
    merged_until: AwareDatetime | None = None


class MergeResult(Model):
    """What one merge did, in versions and records.

    opened: versions that records of this run opened. closed: versions that got a `_valid_to`,
    deletes among them. deleted: versions closed because their key is gone. unchanged: records
    that say what was known. duplicates: records beside the one that was kept for their key and
    moment. superseded: records that lost against another content. deletes: records that delete.
    restored: versions written again because a late change cut them. quarantined: rejected records.

    Records in = opened + unchanged + duplicates + superseded + deletes + quarantined.
    """

    table: str
    run_id: str
    opened: int = 0
    closed: int = 0
    deleted: int = 0
    unchanged: int = 0
    duplicates: int = 0
    quarantined: int = 0
    snapshot_id: int | None = None
    committed: bool = False
    superseded: int = 0
    deletes: int = 0
    restored: int = 0


def runs_in(summary: Any) -> list[str]:
    """Return the runs that a snapshot published, by its summary (anything with `get`).

    Example:
        >>> runs_in({"lakekit.run-id": "r-1"}), runs_in({"lakekit.rebuilt-runs": '["a", "b"]'})
        (['r-1'], ['a', 'b'])
    """
    own = summary.get(RUN_ID)
    return [*([own] if own else []), *json.loads(summary.get(REBUILT_RUNS) or "[]")]


def naive_utc(moment: datetime) -> datetime:
    """Return a moment as control columns hold it: UTC, without zone.

    Example:
        >>> naive_utc(datetime.fromisoformat("2026-01-01T01:00:00+01:00"))
        datetime.datetime(2026, 1, 1, 0, 0)
    """
    return moment.astimezone(UTC).replace(tzinfo=None)
