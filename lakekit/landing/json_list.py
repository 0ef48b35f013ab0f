"""The items of a JSON list of any length, one after the other, each as the text it came with."""

import io
import json
from collections.abc import Iterator
from typing import IO

from lakekit.errors import SourceShapeError
from lakekit.json_text.lines import BLANK, LONGEST_LINE

# Only where a value ends is looked at. `lakekit.json_text.lines` decides whether it is a record.
_VALUES = json.JSONDecoder(parse_float=len, parse_int=len, parse_constant=len, strict=False)
_SURROGATES = "surrogateescape"
_BLOCK = 1 << 20


def list_items(stream: IO[bytes]) -> Iterator[bytes]:
    """Yield the JSON text of each item of a list.

    Raises:
        SourceShapeError: It is no list, or an item has no end, or is longer than one may be.
    """
    text = io.TextIOWrapper(stream, "utf-8-sig", errors=_SURROGATES, newline="")
    try:
        yield from _items(_Window(text))
    finally:
        text.detach()  # the stream's owner closes it


def _items(window: "_Window") -> Iterator[bytes]:
    if window.sign() != "[":
        raise SourceShapeError("not a JSON list: it does not begin with [")
    window.at += 1
    sign = window.sign()
    while sign != "]":
        yield window.value().encode(errors=_SURROGATES)
        window.items += 1
        sign = window.sign()
        if sign not in (",", "]"):
            what = f"{sign} stands where , or ] should" if sign else "it ends early"
            raise SourceShapeError(f"not a JSON list: {what}, after item {window.items}")
        window.at += sign == ","
    window.at += 1
    if window.sign():
        raise SourceShapeError(f"something follows the JSON list, after item {window.items}")


class _Window:
    """The part of a text that is in memory; `at` is how much of it was read."""

    def __init__(self, text: IO[str]) -> None:
        self._text = text
        self._part = ""
        self._ended = False
        self.at = 0
        self.items = 0

    def sign(self) -> str:
        """Return the next sign that is not blank, or nothing at the end; it stays unread."""
        while True:
            while self.at < len(self._part):
                if (sign := self._part[self.at]) not in BLANK:
                    return sign
                self.at += 1
            if self._ended:
                return ""
            self._grow()

    def value(self) -> str:
        """Read one value; return its text."""
        self.sign()
        while True:
            try:
                _, end = _VALUES.raw_decode(self._part, self.at)
            except (ValueError, RecursionError):
                end = None
            # At the end of the window, digits may follow.
            if end is not None and (end < len(self._part) or self._ended):
                start, self.at = self.at, end
                return self._part[start:end]
            if self._ended or len(self._part) - self.at > LONGEST_LINE:
                raise SourceShapeError(
                    f"item {self.items + 1} of the JSON list is no JSON, or has more than "
                    f"{LONGEST_LINE >> 20} MiB"
                )
            self._grow()

    def _grow(self) -> None:
        block = self._text.read(_BLOCK)
        self._ended = not block
        self._part, self.at = self._part[self.at :] + block, 0
