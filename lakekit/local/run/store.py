"""An object store in a folder; see `lakekit.ports.ObjectStore`. For one process at a time."""

import os
import uuid
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from shutil import copyfileobj
from threading import Lock
from typing import BinaryIO

from lakekit.ports import ObjectInfo, ObjectNotFoundError, PreconditionFailedError

# Objects that are still written; no key begins with a dot.
_PARTS = ".parts"


class FolderObjectStore:
    """Keys are paths below a folder; an object appears whole or not at all."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder.resolve()
        self._writing = Lock()

    def uri(self, key: str) -> str:
        """Return the path of an object, which Spark reads on this machine."""
        return str(self._folder / key)

    def get(self, key: str) -> bytes:
        """Return the object's bytes."""
        with self.open(key) as stream:
            return stream.read()

    def open(self, key: str) -> BinaryIO:
        """Return a stream over the object's bytes."""
        try:
            return (self._folder / key).open("rb")
        except (FileNotFoundError, IsADirectoryError, NotADirectoryError):
            raise ObjectNotFoundError(key) from None

    def head(self, key: str) -> ObjectInfo | None:
        """Return what is known of the object."""
        path = self._folder / key
        return self._info(key, path) if path.is_file() else None

    def put(
        self, key: str, body: bytes, *, if_absent: bool = False, if_match: str | None = None
    ) -> str:
        """Write the object; conditions hold among the threads of this process."""
        part = self._part()
        part.write_bytes(body)
        return self._place(part, key, if_absent=if_absent, if_match=if_match)

    def put_file(self, key: str, file: BinaryIO, *, if_absent: bool = False) -> str:
        """Write what a file holds."""
        file.seek(0)
        part = self._part()
        with part.open("wb") as stream:
            copyfileobj(file, stream)
        return self._place(part, key, if_absent=if_absent)

    def list(self, prefix: str, *, limit: int | None = None) -> Iterator[ObjectInfo]:
        """Yield the objects below a prefix in key order, the first `limit` of them."""
        below = self._folder / prefix.rpartition("/")[0]
        keys = (path.relative_to(self._folder).as_posix() for path in _files(below))
        for key in sorted(key for key in keys if key.startswith(prefix))[:limit]:
            # It may have been deleted meanwhile.
            if found := self.head(key):
                yield found

    def folders(self, prefix: str) -> Iterator[str]:
        """Yield the names that stand between a prefix and the next slash, in order."""
        above, _, begin = prefix.rpartition("/")
        folder = self._folder / above
        if folder.is_dir():
            names = (each.name for each in folder.iterdir() if each.is_dir() and _any_file(each))
            yield from sorted(name.removeprefix(begin) for name in names if name.startswith(begin))

    def delete(self, key: str, *, if_match: str | None = None) -> None:
        """Remove an object, if it is the one of an etag."""
        with self._writing, suppress(FileNotFoundError, NotADirectoryError):
            path = self._folder / key
            if if_match is None or self._info(key, path).etag == if_match:
                path.unlink()

    def copy(self, source_key: str, key: str) -> None:
        """Copy an object."""
        with self.open(source_key) as stream:
            self.put_file(key, stream)

    def _part(self) -> Path:
        place = self._folder / _PARTS
        place.mkdir(parents=True, exist_ok=True)
        return place / uuid.uuid4().hex

    def _place(
        self, part: Path, key: str, *, if_absent: bool = False, if_match: str | None = None
    ) -> str:
        path = self._folder / key
        with self._writing:
            found = self.head(key)
            lost = (if_absent and found) or (if_match and (not found or found.etag != if_match))
            if lost:
                part.unlink()
                raise PreconditionFailedError(key)
            path.parent.mkdir(parents=True, exist_ok=True)
            part.replace(path)
            return self._info(key, path).etag

    @staticmethod
    def _info(key: str, path: Path) -> ObjectInfo:
        known = path.stat()
        # A new object is a new file, so that no two states of a key have one number and time.
        etag = f'"{known.st_ino}-{known.st_mtime_ns}-{known.st_size}"'
        return ObjectInfo(key, known.st_size, etag, datetime.fromtimestamp(known.st_mtime, UTC))


def _files(folder: Path) -> Iterator[Path]:
    for place, folders, names in os.walk(folder):
        if _PARTS in folders:
            folders.remove(_PARTS)
        yield from (Path(place, name) for name in names)


def _any_file(folder: Path) -> bool:
    return any(True for _ in _files(folder))
