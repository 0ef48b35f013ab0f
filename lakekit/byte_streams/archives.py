"""Zip archives, of which each broken one raises the same error."""

import lzma
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import IO, BinaryIO

from lakekit.byte_streams.pieces import CHUNK

# What zipfile and its packers raise for bytes that are none of theirs.
_BROKEN = (
    zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error,
    EOFError, OSError, RuntimeError, ValueError,
)  # fmt: skip


class BrokenArchiveError(Exception):
    """An archive cannot be read, or not with what Python has."""


def archive_files(archive: IO[bytes]) -> list[zipfile.ZipInfo]:
    """Return the files that a zip archive says it has, without its folders.

    Raises:
        BrokenArchiveError: It is broken.
    """
    with _faults(), zipfile.ZipFile(archive) as opened:
        return [each for each in opened.infolist() if not each.is_dir()]


def has_password(file: zipfile.ZipInfo) -> bool:
    """Say whether a file of an archive needs a password."""
    return bool(file.flag_bits & 1)


def unpacked(open_: Callable[[], BinaryIO | IO[bytes]], file: zipfile.ZipInfo) -> Iterator[bytes]:
    """Yield the bytes of a file of an archive in pieces; they are checked against its digest.

    Args:
        open_: Opens the archive; it is not closed.
        file: The file, which has no password.

    Raises:
        BrokenArchiveError: It is broken, or packed by a method that Python does not know.
    """
    with _faults():
        archive = zipfile.ZipFile(open_())
    with archive:
        with _faults():
            member = archive.open(file)
        with member:
            while True:
                with _faults():
                    piece = member.read(CHUNK)
                if not piece:
                    return
                yield piece


@contextmanager
def _faults() -> Iterator[None]:
    try:
        yield
    except _BROKEN as error:
        raise BrokenArchiveError(str(error) or type(error).__name__) from None
