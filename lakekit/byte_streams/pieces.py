"""Pieces of bytes, read as the file that they are of."""

import io
from collections.abc import Iterator
from typing import Any

CHUNK = 64 * 1024


def file_of(pieces: Iterator[bytes], buffer: int = CHUNK) -> io.BufferedReader:
    """Return a file that is read from pieces of its bytes, each when it is wanted.

    Args:
        pieces: In their order; an empty one is passed over. What they raise, the reader raises.
        buffer: The bytes that it holds.
    """
    return io.BufferedReader(_Pieces(pieces), buffer)


class _Pieces(io.RawIOBase):
    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = pieces
        self._rest = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._rest:
            piece = next(self._pieces, None)
            if piece is None:
                return 0
            self._rest = memoryview(piece)
        size = min(len(buffer), len(self._rest))
        buffer[:size], self._rest = self._rest[:size], self._rest[size:]
        return size
