"""Reads the body of an answer: unzipped, within a bound, to its last byte, a large one on disk."""

import tempfile
import zlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, BinaryIO, cast

from lakekit.errors import SourceShapeError

if TYPE_CHECKING:
    from urllib3 import BaseHTTPResponse

MEGABYTE = 1_000_000
# Of a body that is kept in memory.
MOST_IN_MEMORY = 8 * MEGABYTE
_CHUNK = 64 * 1024


class BrokenBodyError(Exception):
    """A body ends before its end, or is no gzip where it says so."""


def read_body(raw: "BaseHTTPResponse", most: int) -> bytes | BinaryIO:
    """Return a body, or the file that it is in if it is large, at its beginning.

    Args:
        raw: The answer, of which nothing is read so far.
        most: The most bytes that it may have, unzipped.

    Raises:
        BrokenBodyError: It is not whole.
        SourceShapeError: It has more bytes than that, or an encoding that was not asked for.
    """
    held, size, file = bytearray(), 0, None
    for chunk in _decoded(raw):
        size += len(chunk)
        if size > most:
            if file:
                file.close()
            raise SourceShapeError(
                f"the answer has more than {most // MEGABYTE} MB; ask for smaller pages, or raise "
                "max_response_mb of the source"
            )
        if file is None and size > MOST_IN_MEMORY:
            file = cast(BinaryIO, tempfile.TemporaryFile())  # noqa: SIM115 - the caller's
            file.write(held)
            held.clear()
        if file is None:
            held += chunk
        else:
            file.write(chunk)
    if file is None:
        return bytes(held)
    file.seek(0)
    return file


def _decoded(raw: "BaseHTTPResponse") -> Iterator[bytes]:
    encoding = raw.headers.get("Content-Encoding", "").strip().lower()
    chunks = raw.stream(_CHUNK, decode_content=False)
    if encoding in ("", "identity"):
        return chunks
    if encoding in ("gzip", "x-gzip"):
        return unzipped(chunks, zlib.MAX_WBITS | 16)
    if encoding == "deflate":
        return unzipped(chunks, zlib.MAX_WBITS)
    raise SourceShapeError(f"Content-Encoding {encoding} is not one that was asked for")


def unzipped(chunks: Iterator[bytes], window: int) -> Iterator[bytes]:
    """Yield the bytes of one or more zipped streams, in small pieces however well they were zipped.

    Raises:
        BrokenBodyError: A stream does not end, or is none.
    """
    inflater, begun = zlib.decompressobj(window), False
    try:
        for chunk in chunks:
            data, piece = chunk, b"begin"
            while data or piece:
                if inflater.eof:
                    if not data:
                        break
                    inflater = zlib.decompressobj(window)
                begun = True
                piece = inflater.decompress(data, _CHUNK)
                data = inflater.unconsumed_tail or inflater.unused_data
                if piece:
                    yield piece
    except zlib.error as error:
        raise BrokenBodyError(f"cannot be unzipped: {error}") from None
    if begun and not inflater.eof:
        raise BrokenBodyError("its zipped form is cut short")
