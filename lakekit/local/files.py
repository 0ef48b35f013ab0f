"""The files of a landed run: copied as they were received, checked before they are read again."""

import hashlib
import re
from pathlib import Path

from lakekit.errors import LandingCorruptError
from lakekit.models import Model


class LandedFile(Model):
    """A copy next to the document of its run, and its first name."""

    name: str
    received_as: str
    bytes: int
    sha256: str


def copy_in(file: Path, place: Path, number: int) -> LandedFile:
    """Copy a file and take the digest of what was written."""
    safe = re.sub(r"[^A-Za-z0-9._-]", "_", file.name)
    target = place / f"{number:05d}-{safe}"
    digest, size = hashlib.sha256(), 0
    with file.open("rb") as source, target.open("xb") as sink:
        while block := source.read(1 << 20):
            digest.update(block)
            size += sink.write(block)
    return LandedFile(
        name=target.name, received_as=str(file), bytes=size, sha256=digest.hexdigest()
    )


def verify(path: Path, file: LandedFile) -> None:
    """Refuse a copy that is not what was received.

    Raises:
        LandingCorruptError: It is missing, or has changed.
    """
    if not path.is_file():
        raise LandingCorruptError(f"{path}: a landed file is missing; nothing can be rebuilt")
    with path.open("rb") as stream:
        found = hashlib.file_digest(stream, "sha256").hexdigest()
    if found != file.sha256:
        raise LandingCorruptError(
            f"{path}: a landed file has changed: its sha256 is {found}, not {file.sha256}"
        )
