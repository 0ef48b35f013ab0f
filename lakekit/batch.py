"""What one run hands to a merge, and what the merge says it did."""

from datetime import UTC, datetime
from typing import Literal

from pydantic import AwareDatetime

from lakekit.contract.contract import Contract
from lakekit.errors import InvalidStepInputError
from lakekit.models import Model

Extract = Literal["full", "incremental", "changes"]


class Batch(Model):
    """The landed records of one run for one table.

    `run_id` and the table identify a batch; `files` are addresses that Spark reads, in order.
    `bytes` is the size of their records, unpacked, if it is known. `approved`: a person has let it
    pass the guards against mass deletes and too many rejected records. `merged_until` is the
    extraction time of a younger landing that was merged before, if there is one: the table does not
    show it if it changed nothing.
    """

    run_id: str
    extract: Extract
    extraction_time: AwareDatetime
    files: tuple[str, ...]
    bytes: int | None = None
    approved: bool = False
    merged_until: AwareDatetime | None = None


class MergeMetrics(Model):
    """What one merge did, counted in versions and records.

    opened: versions that records of this run opened. closed: versions that got a `_valid_to`,
    deletes among them. deleted: versions closed because their key is deleted. unchanged: records
    that repeat the content of a version. duplicates: records equal to the one that was kept for
    their key and event time. quarantined: rejected records. superseded: records that lost against
    another content. deletes: records that delete. restored: versions written again because a late
    change cut them.

    Records in = opened + unchanged + duplicates + superseded + deletes + quarantined.
    """

    opened: int = 0
    closed: int = 0
    deleted: int = 0
    unchanged: int = 0
    duplicates: int = 0
    quarantined: int = 0
    superseded: int = 0
    deletes: int = 0
    restored: int = 0

    @property
    def records(self) -> int:
        """The records that came in."""
        return (
            self.opened + self.unchanged + self.duplicates + self.superseded + self.deletes
            + self.quarantined
        )  # fmt: skip


class MergeResult(MergeMetrics):
    """The metrics of one merge, its table and run, and the commit that made it visible.

    snapshot_id: of that commit, None without one. committed: whether this call made it.
    pass_id: the pass that merged the landing with others, if one did; see `lakekit.passes`.
    """

    table: str
    run_id: str
    snapshot_id: int | None = None
    committed: bool = False
    pass_id: str | None = None


def refuse_extract(contract: Contract, extract: Extract) -> None:
    """Refuse an extract whose nulls its contract would misread, whatever asked for its merge.

    Raises:
        InvalidStepInputError: It is full, and the contract has partial records.
    """
    if extract == "full" and contract.history.ignore_null_updates:
        raise InvalidStepInputError(
            f"{contract.contract}: a null in a full extract is a value, but history."
            "ignore_null_updates takes it for no change; merge it as incremental or changes"
        )


def naive_utc(time: datetime) -> datetime:
    """Return a time as control columns hold it: UTC, without zone.

    Example:
        >>> naive_utc(datetime.fromisoformat("2026-01-01T01:00:00+01:00"))
        datetime.datetime(2026, 1, 1, 0, 0)
    """
    return time.astimezone(UTC).replace(tzinfo=None)
