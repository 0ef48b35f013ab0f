"""What the core needs from outside, as protocols: `lakekit.aws` implements, tests fake them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, BinaryIO, Protocol


class ObjectNotFoundError(KeyError):
    """No object has this key."""


class PreconditionFailedError(Exception):
    """A conditional PUT lost: the object exists, or is not the one that was read."""


class Schedules(Protocol):
    """The schedules of sources."""

    def states(self) -> dict[str, bool]:
        """Return whether each schedule is switched on, by name."""

    def switch(self, name: str, *, on: bool) -> None:
        """Switch a schedule on or off."""


@dataclass(frozen=True)
class ObjectInfo:
    """What the store knows of an object without reading it; `size` in bytes.

    version: only of a `head`, where the bucket keeps versions.
    """

    key: str
    size: int
    etag: str
    modified: datetime | None = None
    version: str | None = None


class ObjectStore(Protocol):
    """One bucket. Keys carry no leading slash."""

    def uri(self, key: str) -> str:
        """Return the address Spark reads the object by, such as `s3://bucket/key`."""

    def get(self, key: str) -> bytes:
        """Return the object's bytes, or raise ObjectNotFoundError."""

    def open(self, key: str) -> BinaryIO:
        """Return a stream over the object's bytes, or raise ObjectNotFoundError."""

    def head(self, key: str) -> ObjectInfo | None:
        """Return what is known of the object, or None if there is none."""

    def put(
        self, key: str, body: bytes, *, if_absent: bool = False, if_match: str | None = None
    ) -> str:
        """Write the object and return its etag, or raise PreconditionFailedError."""

    def put_file(self, key: str, file: BinaryIO, *, if_absent: bool = False) -> str:
        """Write what a file holds from its beginning, piece by piece; otherwise as `put`."""

    def list(self, prefix: str, *, limit: int | None = None) -> Iterator[ObjectInfo]:
        """Yield the objects below a prefix in key order, the first `limit` of them."""

    def folders(self, prefix: str) -> Iterator[str]:
        """Yield the names that stand between a prefix and the next slash, in order, each once."""

    def delete(self, key: str, *, if_match: str | None = None) -> None:
        """Remove an object; an absent one is no error. Only for keys below `index/`.

        if_match: Its etag; another object that has replaced it stays, which is no error either.
        """

    def copy(self, source_key: str, key: str) -> None:
        """Copy an object inside the bucket, server-side."""


class TableCatalog(Protocol):
    """Read-only view of Iceberg tables without Spark."""

    def metadata(self, table: str) -> Mapping[str, Any] | None:
        """Return the table's current Iceberg metadata document, or None if there is no table."""


class TableFinder(Protocol):
    """Where the tables of one place are, for a reader that needs no catalog of its own."""

    def locations(self) -> Mapping[str, str]:
        """Return the address of each table's current metadata document, by the table's name."""

    def document(self, location: str) -> Mapping[str, Any]:
        """Return the metadata document at an address."""


class HeldLease(Protocol):
    """A lease that was taken."""

    @property
    def epoch(self) -> int:
        """How often the table has changed hands: later owners have higher ones."""


class TableLeases(Protocol):
    """Who may work on a table now: progress among writers, not safety."""

    def acquire(self, table: str, owner: str) -> HeldLease:
        """Take or prolong the lease, or raise TableBusyError."""

    def release(self, table: str, owner: str) -> None:
        """Give the lease back; one that another owner holds stays his."""

    def holder(self, table: str) -> str | None:
        """Return who holds the table and is still at work, or None."""


class Executions(Protocol):
    """The runs of `load_source`."""

    def start(self, name: str, payload: dict[str, Any]) -> bool:
        """Start a run under a name; false if that name was used before."""

    def is_running(self, name: str) -> bool:
        """Say whether a run is at work; one that is unknown counts as such."""


@dataclass(frozen=True)
class ExecutionInfo:
    """One run as the service lists it; `status` is one of Step Functions'."""

    name: str
    status: str
    started_at: datetime
    ended_at: datetime | None = None


@dataclass(frozen=True)
class ExecutionDetails:
    """What a run was started with, and the error that ended it, or what it returned."""

    request: Mapping[str, Any]
    error: str | None = None
    cause: str | None = None
    output: Any = None


class ExecutionLog(Protocol):
    """What the service knows of the runs of `load_source`."""

    def newest(self, limit: int) -> Iterator[ExecutionInfo]:
        """Yield runs, the newest first, at most so many."""

    def details(self, name: str) -> ExecutionDetails:
        """Return what is known of one run."""


@dataclass(frozen=True)
class JobUse:
    """What some job runs have used: DPU seconds, and what these cost in US dollars."""

    dpu_seconds: float = 0
    cost_usd: float = 0


class Clock(Protocol):
    """The time, UTC and aware. Only leases, deadlines and defaults at the door may ask for it."""

    def __call__(self) -> datetime:
        """Return the current time."""


@dataclass(frozen=True)
class Flow:
    """What moves runs along: the landing bucket, leases, the runs of `load_source`, the time."""

    store: ObjectStore
    leases: TableLeases
    executions: Executions
    clock: Clock
