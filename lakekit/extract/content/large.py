"""Records that are too many for memory: read from their text as often as they are wanted."""

from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from hashlib import sha256

from lakekit.json_text.stream import WINDOW

Batches = Iterator[list[bytes]]


class Tally:
    """What is known of records that went by: how many, the last one, and a digest of all."""

    def __init__(self) -> None:
        self.count, self.last = 0, b""
        self._digest = sha256()

    def add(self, records: list[bytes]) -> None:
        """Count some more."""
        if records:
            self.count += len(records)
            self.last = records[-1]
            self._digest.update(b"\n".join([*records, b""]))

    @property
    def digest(self) -> str:
        """The digest of all records; empty without any."""
        return self._digest.hexdigest()[:32] if self.count else ""


class LargeRecords:
    """The records of one body in their order, some at a time."""

    def __init__(self, read: Callable[[], Batches], tally: Tally | None = None) -> None:
        """Take how they are read, and what is known of them already."""
        self._read = read
        if tally:
            self.tally = tally

    @cached_property
    def tally(self) -> Tally:
        """What is known of all of them, once they were read."""
        found = Tally()
        for records in self.batches():
            found.add(records)
        return found

    def batches(self) -> Batches:
        """Yield the records, as many at a time as memory allows."""
        return self._read()

    def __len__(self) -> int:
        """Return how many there are."""
        return self.tally.count

    def __iter__(self) -> Iterator[bytes]:
        """Yield one after the other."""
        for records in self.batches():
            yield from records


Records = list[bytes] | LargeRecords


def digest_of(records: Records) -> str:
    """Return a digest of all records; empty without any."""
    if isinstance(records, LargeRecords):
        return records.tally.digest
    tally = Tally()
    tally.add(records)
    return tally.digest


def batches_of(records: Iterable[bytes]) -> Iterable[Iterable[bytes]]:
    """Return records in lists, as far as they are some."""
    return records.batches() if isinstance(records, LargeRecords) else [records]


def in_batches(records: Iterable[bytes]) -> Batches:
    """Yield records in lists of about a window."""
    batch, size = list[bytes](), 0
    for record in records:
        batch.append(record)
        size += len(record)
        if size >= WINDOW:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch
