"""A JSON list or object of any length, read forward: its parts, each as the text it came with.

Where a part ends is said by brackets, commas and strings alone, as in `lakekit.json_text.spans`.
`lakekit.json_text.lines` decides whether it is a record.
"""

import re
from collections.abc import Callable, Iterator
from typing import IO, Any

import msgspec

from lakekit.errors import SourceShapeError
from lakekit.json_text.lines import BLANK, BYTE_ORDER_MARK, refuse_long
from lakekit.json_text.spans import LIST, MARK, OBJECT, STRING, field_spans, item_spans

WINDOW = 256 * 1024
# Of what is read at once where a part is longer than a window.
_LARGEST_WINDOW = 2 * 1024 * 1024
_BLANKS, _MARK_BYTES = BLANK.encode(), BYTE_ORDER_MARK.encode()
_BETWEEN = rb'[^"{}\[\],]*+'
# Whole parts with the comma after each, as far as they have no more than three levels.
_PARTS = re.compile(
    b"(?:" + _BETWEEN + b"(?:(?:" + STRING + b"|" + OBJECT + b"|" + LIST + b")" + _BETWEEN
    + b")*+,)*+",
    re.DOTALL,
)  # fmt: skip
_COMMA = ord(",")
_ITEMS = msgspec.json.Decoder(list[msgspec.Raw])
_FIELDS = msgspec.json.Decoder(dict[str, msgspec.Raw])
_UNREADABLE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)


def items_of(text: bytes) -> list[bytes]:
    """Return the text of each item of a list.

    Raises:
        ValueError: The text is no list, or where its items end cannot be said.
    """
    try:
        return [bytes(each) for each in _ITEMS.decode(text)]
    except _UNREADABLE:
        return item_spans(text)


def fields_of(text: bytes) -> dict[str, bytes]:
    """Return the text of each field of an object; of two of one name, the last; see `items_of`."""
    try:
        found = _FIELDS.decode(text)
    except _UNREADABLE:
        return field_spans(text)
    return {name: bytes(value) for name, value in found.items()}


class Parts:
    """What is between the brackets of a list or an object, in windows.

    count: of the parts so far. windows: where their texts begin and end. rest: what was read beyond
    the closing bracket, at the end.
    """

    def __init__(
        self, stream: IO[bytes], text: bytes = b"", *, of: bytes = b"[]", place: int = 0
    ) -> None:
        """Begin behind the opening bracket.

        Args:
            stream: What comes after `text`.
            text: What was read already.
            of: Both brackets.
            place: Where `text` begins.
        """
        self._stream, self._text, self._place = stream, text, place
        self.windows: list[tuple[int, int]] = []
        self._opening, self._closing = of[:1], of[1:]
        self._cut: Callable[[bytes], Any] = items_of if of == b"[]" else fields_of
        self.count = 0
        self.rest = b""

    def __iter__(self) -> Iterator[Any]:
        """Yield the parts of one window after the other: a list of items, a dict of fields.

        Raises:
            ValueError: The text ends early, or a comma or bracket is out of place.
            SourceShapeError: A part is longer than a record may be.
        """
        text, self._text = self._text, b""
        while True:
            size = len(text)
            whole, end = _ends(text)
            if end is not None:
                yield from self._last(text[:end], text[end : end + 1])
                self.rest = text[end + 1 :]
                return
            if whole:
                yield self._parts(text[: whole - 1])
            text = text[whole:].lstrip(_BLANKS)
            self._place += size - len(text)
            refuse_long(len(text))
            block = self._stream.read(min(max(WINDOW, len(text)), _LARGEST_WINDOW))
            if not block:
                raise ValueError(f"it ends early, after item {self.count}")
            text += block

    def cut(self, text: bytes) -> Any:
        """Return the parts of one of the windows."""
        return self._cut(self._opening + text + self._closing)

    def _parts(self, text: bytes) -> Any:
        try:
            found = self.cut(text)
        except ValueError as error:
            raise ValueError(f"{error}, after item {self.count}") from None
        if not found:
            raise ValueError(f"a comma too many, after item {self.count}")
        self.count += len(found)
        self.windows.append((self._place, self._place + len(text)))
        return found

    def _last(self, text: bytes, bracket: bytes) -> Iterator[Any]:
        if bracket != self._closing:
            raise ValueError(f"brackets do not match, after item {self.count}")
        if text.strip(_BLANKS) or self.count:
            yield self._parts(text)


def _ends(text: bytes) -> tuple[int, int | None]:
    """Return the place after the last comma between parts, and that of the closing bracket."""
    at = 0
    while True:
        found = _PARTS.match(text, at)
        at = found.end() if found else at
        end = _end_of_part(text, at)
        if end is None or text[end] != _COMMA:
            return at, end
        at = end + 1


def _end_of_part(text: bytes, at: int) -> int | None:
    """Return the place of the comma or bracket after the part that begins at a place."""
    depth = 0
    for found in MARK.finditer(text, at):
        mark = found[0]
        if mark == b'"':  # of a string without an end
            return None
        if mark in (b"[", b"{"):
            depth += 1
        elif depth == 0 and mark in (b"]", b"}", b","):
            return found.start()
        elif mark in (b"]", b"}"):
            depth -= 1
    return None


def list_items(stream: IO[bytes]) -> Iterator[bytes]:
    """Yield the text of each item of a list.

    Raises:
        SourceShapeError: It is no list, or an item has no end, or is longer than one may be.
    """
    begin = stream.read(len(_MARK_BYTES)).removeprefix(_MARK_BYTES)
    while not (begin := begin.lstrip(_BLANKS)):
        begin = stream.read(WINDOW)
        if not begin:
            break
    if not begin.startswith(b"["):
        raise SourceShapeError("not a JSON list: it does not begin with [")
    parts = Parts(stream, begin[1:])
    try:
        for items in parts:
            yield from items
    except ValueError as error:
        raise SourceShapeError(f"not a JSON list: {error}") from None
    rest = parts.rest
    while not rest.strip(_BLANKS):
        rest = stream.read(WINDOW)
        if not rest:
            return
    raise SourceShapeError(f"something follows the JSON list, after item {parts.count}")
