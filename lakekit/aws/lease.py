"""A lease per table by conditional PUT: progress among writers; safety never depends on it."""

from collections.abc import Callable
from datetime import datetime, timedelta

from pydantic import AwareDatetime

from lakekit.documents import Document
from lakekit.errors import LandingCorruptError, TableBusyError
from lakekit.layout import lease_key
from lakekit.ports import Clock, ObjectNotFoundError, ObjectStore, PreconditionFailedError

# Longer than the lease of an environment with the longest time-out of jobs.
LONGEST = timedelta(days=14)
# How often a lease is read again that has changed before it could be written.
_ATTEMPTS = 3


class Lease(Document):
    """Who may work on a table, until when; `epoch` grows with every change of hands."""

    table: str
    owner: str
    epoch: int
    expires_at: AwareDatetime


class Leases:
    """Takes, renews and gives back the leases of tables.

    lifetime: After so long a lease is free by itself: longer than its owner may be at work.
    is_running: Says whether an owner is still at work; the lease of one that is not may be taken
    over before it expires.
    """

    def __init__(
        self,
        store: ObjectStore,
        clock: Clock,
        *,
        lifetime: timedelta,
        is_running: Callable[[str], bool] = lambda _: True,
    ) -> None:
        self._store = store
        self._clock = clock
        self._lifetime = lifetime
        self._is_running = is_running

    def acquire(self, table: str, owner: str) -> Lease:
        """Take the lease, or prolong it for the owner that holds it.

        Raises:
            TableBusyError: Another owner holds it, or was faster.
            LandingCorruptError: It is no lease, or one that would keep others out for ever.
        """
        for _ in range(_ATTEMPTS):
            now = self._clock()
            held, etag = self._read(table)
            ours = held is not None and held.owner == owner and held.expires_at > now
            if held and not ours and self._is_held(held):
                raise _busy(held)
            epoch = held.epoch + (0 if ours else 1) if held else 1
            lease = self._new(table, owner, epoch, now + self._lifetime)
            if self._write(lease, etag):
                return lease
            # Who was faster may have ended, or may be another attempt of the same owner.
        raise _busy(held or lease)

    def release(self, table: str, owner: str) -> None:
        """Give the lease back. One that another owner took meanwhile stays his."""
        for _ in range(_ATTEMPTS):
            held, etag = self._read(table)
            if held is None or held.owner != owner or held.expires_at <= self._clock():
                return
            if self._write(self._new(table, owner, held.epoch, self._clock()), etag):
                return

    def holder(self, table: str) -> str | None:
        """Return who holds the table and is still at work, or None."""
        held, _ = self._read(table)
        return held.owner if held and self._is_held(held) else None

    def _is_held(self, held: Lease) -> bool:
        now = self._clock()
        if held.expires_at <= now or not self._is_running(held.owner):
            return False
        if held.expires_at > now + LONGEST:
            raise LandingCorruptError(
                f"{lease_key(held.table)}: held by {held.owner} until {held.expires_at:%FT%TZ}, "
                "longer than any lease lasts; bring back the version of the object before it"
            )
        return True

    def _read(self, table: str) -> tuple[Lease | None, str | None]:
        # The etag first: if the lease changes in between, the conditional PUT fails.
        info = self._store.head(lease_key(table))
        if info is None:
            return None, None
        try:
            return Lease.parse(self._store.get(lease_key(table)), name=lease_key(table)), info.etag
        except ObjectNotFoundError:
            return None, None

    def _write(self, lease: Lease, etag: str | None) -> bool:
        """Write the lease unless it is not what was read."""
        body = lease.to_json()
        try:
            self._store.put(lease_key(lease.table), body, if_absent=etag is None, if_match=etag)
        except PreconditionFailedError:
            return False
        return True

    @staticmethod
    def _new(table: str, owner: str, epoch: int, expires_at: datetime) -> Lease:
        return Lease(table=table, owner=owner, epoch=epoch, expires_at=expires_at)


def _busy(held: Lease) -> TableBusyError:
    return TableBusyError(f"{held.table}: held by {held.owner} until {held.expires_at:%FT%TZ}")
