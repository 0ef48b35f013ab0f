"""Manifest and records against contract → verdict."""

import gzip
import io
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from typing import IO, Any, BinaryIO, cast

from lakekit.contract.contract import Contract
from lakekit.errors import LandingCorruptError, SourceShapeError
from lakekit.json_text.lines import bounded_lines, is_blank, read_fields
from lakekit.landing.census import Census, Verdict
from lakekit.landing.parquet import read_footer
from lakekit.landing.writer import Manifest, Part
from lakekit.ports import ObjectNotFoundError, ObjectStore

_BROKEN_GZIP = (gzip.BadGzipFile, EOFError, zlib.error)


class Tally(io.RawIOBase):
    """Passes a stream on and measures it: `size` and `digest` of what was read so far."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self.size = 0
        self.digest = sha256()

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read what the buffer holds, and measure it."""
        data = self._stream.read(len(buffer))
        buffer[: len(data)] = data
        self.size += len(data)
        self.digest.update(data)
        return len(data)


def validate_landing(store: ObjectStore, manifest: Manifest, contract: Contract) -> Verdict:
    """Read every object of a manifest once and say what is in those that a merge reads.

    Of a file that was converted only the bytes are compared with the manifest.

    Raises:
        LandingCorruptError: An object is missing, or its bytes or rows differ from the manifest.
        SourceShapeError: A record is longer than one may be.
    """
    census, merged = Census(contract), {*manifest.merged}
    for part in dict.fromkeys((*manifest.parts, *manifest.merged)):
        counts = part in merged
        before = census.rows
        with _naming(part), store.open(part.key) as stream:
            tally = Tally(stream)
            buffered = io.BufferedReader(tally)
            if counts and manifest.format == "parquet":
                census.add_footer(read_footer(cast(IO[bytes], buffered)))
            elif counts:
                for record in _records(_unpacked(buffered, part.key)):
                    census.add(record)
            while buffered.read(1 << 20):
                pass
        if (tally.size, tally.digest.hexdigest()) != (part.bytes, part.sha256):
            raise LandingCorruptError(f"{part.key}: bytes or sha256 differ from the manifest")
        if counts and (rows := census.rows - before) != part.rows:
            raise LandingCorruptError(f"{part.key}: {rows} rows, the manifest says {part.rows}")
    if census.rows != manifest.rows:
        raise LandingCorruptError(f"{manifest.prefix}: {census.rows} rows, not {manifest.rows}")
    return census.verdict(manifest.run_id, manifest.source, manifest.endpoint)


@contextmanager
def _naming(part: Part) -> Iterator[None]:
    """Let an error name the object that is read."""
    try:
        yield
    except ObjectNotFoundError:
        raise LandingCorruptError(f"{part.key}: missing") from None
    except SourceShapeError as error:
        raise SourceShapeError(f"{part.key}: {error}") from None
    except _BROKEN_GZIP as error:
        raise LandingCorruptError(f"{part.key}: broken gzip: {error}") from error


def _unpacked(stream: IO[bytes], key: str) -> IO[bytes]:
    return cast(IO[bytes], gzip.GzipFile(fileobj=stream)) if key.endswith(".gz") else stream


def _records(stream: IO[bytes]) -> Iterator[dict[str, bytes] | None]:
    for line in bounded_lines(stream):
        if not is_blank(line):
            yield read_fields(line)
