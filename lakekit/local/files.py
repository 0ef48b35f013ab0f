"""The files of a landed run: looked at when they are given, copied, checked when read again."""

import gzip
import hashlib
import re
import zlib
from collections.abc import Iterable
from pathlib import Path

from lakekit.errors import LandingCorruptError
from lakekit.models import Model

# What the name of converted lines ends in.
CONVERTED = ".converted.ndjson.gz"
_GZIP = b"\x1f\x8b"
# How files begin that hold no lines of JSON in UTF-8.
_OTHERS = {
    b"PK\x03\x04": "a zip archive", b"PK\x05\x06": "a zip archive", b"\x28\xb5\x2f\xfd": "zstd",
    b"\xfd7zXZ\x00": "xz", b"PAR1": "Parquet", b"\xff\xfe": "UTF-16", b"\xfe\xff": "UTF-16",
}  # fmt: skip


class ConvertedFile(Model):
    """The lines that are read in place of a copy."""

    name: str
    bytes: int
    sha256: str


class LandedFile(Model):
    """A copy next to the document of its run, and its first name.

    converted: its records as lines, if a merge does not read them as they were received.
    """

    name: str
    received_as: str
    bytes: int
    sha256: str
    converted: ConvertedFile | None = None

    @property
    def read_as(self) -> str:
        """The name of the file that a merge reads."""
        return self.converted.name if self.converted else self.name


def place_fault(file: Path) -> str | None:
    """Return why there is no file, if there is none."""
    if not file.exists():
        return "no such file"
    if not file.is_file():
        return "is a folder" if file.is_dir() else "is no regular file"
    return None


def form_fault(file: Path) -> str | None:
    """Return what is wrong with a file of lines of JSON, by how it begins.

    Raises:
        OSError: It cannot be read.
    """
    if fault := place_fault(file):
        return fault
    with file.open("rb") as stream:
        begin = stream.read(6)
    for other, name in _OTHERS.items():
        if begin.startswith(other):
            return f"is {name}; give lines of JSON in UTF-8, or such a file packed by gzip"
    packed, named = begin.startswith(_GZIP), file.suffix == ".gz"
    if packed and not named:
        return "is packed by gzip; only a file that is named so, .gz, is unpacked"
    return "is named .gz, but is not packed by gzip" if begin and named and not packed else None


def broken_gzip(files: Iterable[str]) -> str | None:
    """Return which of some files is broken, and how; reads all of those that are packed."""
    for file in files:
        if not file.endswith(".gz"):
            continue
        try:
            with gzip.open(file) as stream:
                while stream.read(1 << 20):
                    pass
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            return f"{file}: broken gzip: {error}"
    return None


def copy_in(file: Path, place: Path, number: int, read: Path) -> LandedFile:
    """Copy a file, and the lines that are read in its place; take the digests of what was written.

    Args:
        file: As it was given.
        place: The folder of its run.
        number: Its place among the files of the run.
        read: What `receive` returned for it.
    """
    is_converted = read.name.endswith(CONVERTED)
    name = file.name if is_converted else read.name
    target = place / f"{number:05d}-{_safe(name)}"
    size, digest = _copy(file, target)
    lines = None
    if is_converted:
        copy = place / f"{number:05d}-{_safe(read.name)}"
        bytes_of_lines, digest_of_lines = _copy(read, copy)
        lines = ConvertedFile(name=copy.name, bytes=bytes_of_lines, sha256=digest_of_lines)
    return LandedFile(
        name=target.name, received_as=str(file), bytes=size, sha256=digest, converted=lines
    )


def verify(path: Path, file: LandedFile) -> None:
    """Refuse a copy that is not what was received.

    Raises:
        LandingCorruptError: It is missing, or has changed.
    """
    _verify(path, file.sha256)
    if file.converted:
        _verify(path.with_name(file.converted.name), file.converted.sha256)


def _verify(path: Path, expected: str) -> None:
    if not path.is_file():
        raise LandingCorruptError(f"{path}: a landed file is missing; nothing can be rebuilt")
    with path.open("rb") as stream:
        found = hashlib.file_digest(stream, "sha256").hexdigest()
    if found != expected:
        raise LandingCorruptError(
            f"{path}: a landed file has changed: its sha256 is {found}, not {expected}"
        )


def _copy(file: Path, target: Path) -> tuple[int, str]:
    digest, size = hashlib.sha256(), 0
    with file.open("rb") as source, target.open("xb") as sink:
        while block := source.read(1 << 20):
            digest.update(block)
            size += sink.write(block)
    return size, digest.hexdigest()


def _safe(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9._-]", "_", name)
