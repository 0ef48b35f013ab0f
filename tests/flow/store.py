"""The landing bucket: each request takes time, may fail, and lets others go first."""

import io
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from datetime import datetime
from typing import BinaryIO

from lakekit.ports import ObjectInfo
from tests.fakes import MemoryObjectStore

# Signs for the sweeper's alarms: no step of the flow reads them, so they take no time here.
WATCH = "watch/"
# Says what is asked for; what is inside happens at one time.
Request = Callable[[str], AbstractContextManager[None]]
# Returns a body as its writer writes it.
Written = Callable[[bytes], bytes]


class SlowStore(MemoryObjectStore):
    """A bucket over the objects of another store."""

    def __init__(
        self, plain: MemoryObjectStore, request: Request, written: Written, page: int
    ) -> None:
        super().__init__(plain.now)
        self._written = written
        self.objects, self.modified = plain.objects, plain.modified
        self._request, self._page = request, page
        # When what was written, and what was deleted: that has no body.
        self.log: list[tuple[datetime, str, bytes | None]] = []

    def get(self, key: str) -> bytes:
        with self._request(f"GET {key}"):
            return super().get(key)

    def open(self, key: str) -> BinaryIO:
        return io.BytesIO(self.get(key))

    def head(self, key: str) -> ObjectInfo | None:
        with self._request(f"HEAD {key}"):
            return super().head(key)

    def put(
        self, key: str, body: bytes, *, if_absent: bool = False, if_match: str | None = None
    ) -> str:
        if key.startswith(WATCH):
            return super().put(key, body)
        body = self._written(body)
        with self._request(f"PUT {key}"):
            etag = super().put(key, body, if_absent=if_absent, if_match=if_match)
            self._note(key, body)
            return etag

    def list(self, prefix: str, *, limit: int | None = None) -> Iterator[ObjectInfo]:
        """Yield page after page: what is written in between may appear."""
        after, left = "", limit
        while left is None or left > 0:
            size = self._page if left is None else min(self._page, left)
            with self._request(f"LIST {prefix}"):
                keys = sorted(key for key in self.objects if key.startswith(prefix) and key > after)
                found = [self._info(key) for key in keys[:size]]
            yield from found
            if len(keys) <= size:
                return
            after, left = keys[size - 1], None if left is None else left - size

    def folders(self, prefix: str) -> Iterator[str]:
        with self._request(f"LIST {prefix}*/"):
            found = [*super().folders(prefix)]
        yield from found

    def copy(self, source_key: str, key: str) -> None:
        with self._request(f"COPY {key}"):
            MemoryObjectStore.put(self, key, MemoryObjectStore.get(self, source_key))

    def delete(self, key: str, *, if_match: str | None = None) -> None:
        with self._request(f"DELETE {key}"):
            super().delete(key, if_match=if_match)
            if key not in self.objects:
                self._note(key, None)

    def _note(self, key: str, body: bytes | None) -> None:
        self.log.append((self.now(), key, body))
