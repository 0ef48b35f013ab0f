"""What the steps of a local run have at hand: bucket, leases, runs and tables of one warehouse."""

import fcntl
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from lakekit import layout
from lakekit.aws.lease import Leases
from lakekit.contract.contract import Contract
from lakekit.errors import InvalidStepInputError, TableBusyError
from lakekit.local.catalog import LocalCatalog
from lakekit.local.landing import CONTRACT
from lakekit.local.run.store import FolderObjectStore
from lakekit.ports import Flow

BUCKET = "bucket"
LEASE = timedelta(hours=12)


def utc_now() -> datetime:
    """Return the time."""
    return datetime.now(UTC)


class Runs:
    """The runs of `load_source` here, one after the other; see `lakekit.ports.Executions`."""

    def __init__(self, store: FolderObjectStore, *, starts: bool = True) -> None:
        self._store, self._starts = store, starts
        self.current = ""
        self.waiting: deque[tuple[str, dict[str, Any]]] = deque()

    def start(self, name: str, payload: dict[str, Any]) -> bool:
        """Let a run follow this one; false if that name was used before, or if nothing runs."""
        if not self._starts or self.is_running(name) or self._store.head(layout.run_key(name)):
            return False
        self.waiting.append((name, payload))
        return True

    def is_running(self, name: str) -> bool:
        """Say whether a run is at work; as only one process works here, all others have ended."""
        return name == self.current or name in (each for each, _ in self.waiting)


class Tables:
    """The metadata of tables; see `lakekit.ports.TableCatalog`."""

    def __init__(self, warehouse: Path) -> None:
        self._warehouse = warehouse

    def metadata(self, table: str) -> Mapping[str, Any] | None:
        """Return the table's current metadata document, or None if there is no table."""
        if not (self._warehouse / "catalog.db").is_file():
            return None
        catalog = LocalCatalog(self._warehouse)
        location = catalog.locations().get(table)
        return catalog.document(location) if location else None


@dataclass(frozen=True)
class LocalPlace:
    """A warehouse with a landing bucket next to its tables.

    watched: by a person, who starts no run by a decision.
    """

    warehouse: Path
    watched: bool = False
    store: FolderObjectStore = field(init=False)
    runs: Runs = field(init=False)

    def __post_init__(self) -> None:
        store = FolderObjectStore(self.warehouse / BUCKET)
        object.__setattr__(self, "store", store)
        object.__setattr__(self, "runs", Runs(store, starts=not self.watched))

    @property
    def flow(self) -> Flow:
        """What moves a run along."""
        leases = Leases(self.store, utc_now, lifetime=LEASE, is_running=self._is_running)
        return Flow(self.store, leases, self.runs, utc_now)

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Keep other runs out of the warehouse.

        Raises:
            TableBusyError: One is at work.
            OSError: The folder cannot be written.
        """
        self.warehouse.mkdir(parents=True, exist_ok=True)
        with (self.warehouse / ".run.lock").open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise TableBusyError(
                    f"{self.warehouse}: another `lakekit run` is at work here; wait for its end"
                ) from None
            yield

    def _is_running(self, owner: str) -> bool:
        return self.runs.is_running(owner.removeprefix(layout.MAINTENANCE))


def refuse_merged(warehouse: Path, contracts: tuple[Contract, ...]) -> None:
    """Refuse tables of which `lakekit merge` keeps the landing: a rebuild would miss runs.

    Raises:
        InvalidStepInputError: There is one.
    """
    for contract in contracts:
        if (warehouse / "landing" / contract.contract / CONTRACT).is_file():
            raise InvalidStepInputError(
                f"{contract.contract}: `lakekit merge` has made this table in {warehouse}; "
                "load it into another warehouse: --warehouse FOLDER"
            )


def refuse_loaded(warehouse: Path, contract: Contract) -> None:
    """Refuse a table that `lakekit run` has loaded, for the same reason.

    Raises:
        InvalidStepInputError: It is one.
    """
    if source_of(warehouse, contract.contract):
        raise InvalidStepInputError(
            f"{contract.contract}: `lakekit run` loads this table in {warehouse}; "
            "merge files into another warehouse"
        )


def source_of(warehouse: Path, table: str) -> str | None:
    """Return the source from which `lakekit run` has loaded a table, if it has."""
    store = FolderObjectStore(warehouse / BUCKET)
    for source in store.folders("tables/"):
        if any(store.list(layout.table_runs_prefix(source, table), limit=1)):
            return source
    return None
