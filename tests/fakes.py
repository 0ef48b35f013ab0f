"""Fakes of the ports."""

import io
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from hashlib import md5
from typing import BinaryIO

from lakekit.ports import ObjectInfo, ObjectNotFoundError, PreconditionFailedError


class MemoryObjectStore:
    """An object store in a dictionary."""

    def __init__(self, now: "ManualClock | None" = None) -> None:
        self.objects: dict[str, bytes] = {}
        self.now = now or ManualClock()
        self.modified: dict[str, datetime] = {}

    def uri(self, key: str) -> str:
        return f"memory://{key}"

    def get(self, key: str) -> bytes:
        try:
            return self.objects[key]
        except KeyError:
            raise ObjectNotFoundError(key) from None

    def open(self, key: str) -> BinaryIO:
        return io.BytesIO(self.get(key))

    def head(self, key: str) -> ObjectInfo | None:
        return self._info(key) if key in self.objects else None

    def put(
        self, key: str, body: bytes, *, if_absent: bool = False, if_match: str | None = None
    ) -> str:
        if if_absent and key in self.objects:
            raise PreconditionFailedError(key)
        if if_match is not None and (key not in self.objects or self._info(key).etag != if_match):
            raise PreconditionFailedError(key)
        self.objects[key] = body
        self.modified[key] = self.now()
        return self._info(key).etag

    def put_file(self, key: str, file: BinaryIO, *, if_absent: bool = False) -> str:
        file.seek(0)
        return self.put(key, file.read(), if_absent=if_absent)

    def list(self, prefix: str, *, limit: int | None = None) -> Iterator[ObjectInfo]:
        found = sorted(key for key in self.objects if key.startswith(prefix))
        for key in found[:limit]:
            yield self._info(key)

    def folders(self, prefix: str) -> Iterator[str]:
        below = {key.removeprefix(prefix) for key in self.objects if key.startswith(prefix)}
        yield from sorted({key.partition("/")[0] for key in below if "/" in key})

    def copy(self, source_key: str, key: str) -> None:
        self.objects[key] = self.get(source_key)

    def delete(self, key: str, *, if_match: str | None = None) -> None:
        """Delete an object."""
        if if_match is None or (key in self.objects and self._info(key).etag == if_match):
            self.objects.pop(key, None)

    def _info(self, key: str) -> ObjectInfo:
        body = self.objects[key]
        etag = f'"{md5(body, usedforsecurity=False).hexdigest()}"'
        return ObjectInfo(key, len(body), etag, self.modified.get(key))


class ManualClock:
    """A clock that a test moves."""

    def __init__(self, now: datetime = datetime(2026, 1, 1, tzinfo=UTC)) -> None:
        self.now = now

    def __call__(self) -> datetime:
        return self.now

    def advance(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)
