"""The records of a JSON text that is too large for memory, and what is around them."""

import re
from collections.abc import Callable, Iterator
from typing import IO, Any

from lakekit.contract.endpoint.paths import Every, Step
from lakekit.errors import SourceShapeError
from lakekit.extract.content.json_paths import JsonText, Steps, not_json
from lakekit.extract.content.large import LargeRecords, Tally
from lakekit.extract.content.payload import Open, ranges_of
from lakekit.json_text.spans import name_of
from lakekit.json_text.stream import WINDOW, Parts

# Of what is around the records.
MOST_AROUND = 8 * 1024 * 1024
_BLANK = re.compile(rb"[ \t\r\n]*+")
_STRING = re.compile(rb'"(?:[^"\\]++|\\.)*+"', re.DOTALL)
_SCALAR = re.compile(rb"[^ \t\r\n,\]}]++")
# All that is no bracket, with whole strings; it ends at a bracket or at a string without an end.
_NO_BRACKET = re.compile(rb'(?:[^"\[\]{}]++|"(?:[^"\\]++|\\.)*+")*+', re.DOTALL)
_OPENING, _QUOTE = b"[{", ord('"')
# Makes records of the items of a list, or of the fields of an object.
Make = Callable[[Any], list[bytes]]


class ElsewhereError(Exception):
    """Where the path leads there is no list, or no object: what there is."""


def split_json(open_: Open, steps: Steps, make: Make, of: bytes) -> tuple[JsonText, LargeRecords]:
    """Take the records out of a text.

    Args:
        open_: Opens the text, in UTF-8.
        steps: The way to the list of records, or to the object whose values they are.
        make: Makes records of some items of the list, or of some fields of the object.
        of: The brackets of the list or the object.

    Returns:
        The text with nothing between these brackets; and the records.

    Raises:
        ElsewhereError: They are not there.
        UnreadableError: The text is not JSON, or ends early.
        SourceShapeError: A record is longer than one may be, there is much that is no record, or a
            name on the way is there twice.
    """
    file, tally = open_(), Tally()
    before, behind = _before(file, steps, of)
    parts = Parts(file, behind, of=of, place=len(before) + 1)
    try:
        for each in parts:
            tally.add(make(each))
    except ValueError as error:
        raise not_json(error) from None
    after = parts.rest + file.read(MOST_AROUND + 1)
    if len(before) + len(after) > MOST_AROUND:
        raise _too_much()
    around = JsonText(before + of + after)
    if around.at(steps) != of:  # which finds a name that is there twice
        raise not_json("something follows its records")

    def read() -> Iterator[list[bytes]]:
        for text in ranges_of(open_, parts.windows):
            yield make(parts.cut(text))

    return around, LargeRecords(read, tally)


def _too_much() -> SourceShapeError:
    return SourceShapeError(
        f"the answer has more than {MOST_AROUND >> 20} MiB that are not in its records"
    )


class _MoreError(Exception):
    """The text ends before what is looked for."""


def _before(file: IO[bytes], steps: Steps, of: bytes) -> tuple[bytes, bytes]:
    """Return the text up to the bracket, without it, and what was read beyond it."""
    text = b""
    while len(text) <= MOST_AROUND:
        block = file.read(max(WINDOW, len(text)))
        text += block
        try:
            place = _find(text, steps, of[:1])
        except _MoreError:
            if not block:
                raise not_json("it ends before its records") from None
        else:
            return text[:place], text[place + 1 :]
    raise _too_much()


def _find(text: bytes, steps: Steps, bracket: bytes) -> int:
    place = 0
    for step in steps:
        place = _within(text, place, step)
    place, mark = _next(text, place)
    if mark != bracket:
        raise ElsewhereError(f"there is no {'list' if bracket == b'[' else 'object'} of records")
    return place


def _within(text: bytes, place: int, step: Step | type[Every]) -> int:
    """Return the place of the value of a step in the object or list at or after a place."""
    place, mark = _next(text, place)
    if mark != (b"[" if isinstance(step, int) else b"{"):
        raise ElsewhereError(f"there is no {step!r} on the way to its records")
    at, place = 0, place + 1
    while True:
        place, mark = _next(text, place)
        if mark in (b"}", b"]"):
            raise ElsewhereError(f"there is no {step!r} on the way to its records")
        if mark == b",":
            place += 1
            continue
        name: Any = at
        if not isinstance(step, int):
            key, place = _whole(_STRING, text, place)
            place, mark = _next(text, place)
            if mark != b":":
                raise not_json("a name without a value")
            name, place = _text(key), place + 1
        if name == step:
            return place
        at, place = at + 1, _skip(text, place)


def _skip(text: bytes, place: int) -> int:
    """Return the place after a value."""
    place, mark = _next(text, place)
    if mark == b'"':
        return _whole(_STRING, text, place)[1]
    if mark not in (b"[", b"{"):
        return _whole(_SCALAR, text, place)[1]
    depth = 0
    while True:
        place = _end(_NO_BRACKET, text, place)
        if place == len(text) or text[place] == _QUOTE:
            raise _MoreError
        depth += 1 if text[place] in _OPENING else -1
        place += 1
        if depth == 0:
            return place


def _next(text: bytes, place: int) -> tuple[int, bytes]:
    """Return the place of the next character that is no blank, and the character."""
    place = _end(_BLANK, text, place)
    if place == len(text):
        raise _MoreError
    return place, text[place : place + 1]


def _whole(pattern: re.Pattern[bytes], text: bytes, place: int) -> tuple[bytes, int]:
    found = pattern.match(text, place)
    if found is None:
        if text[place : place + 1] == b'"':
            raise _MoreError
        raise not_json("a value is missing")
    if found.end() == len(text):
        raise _MoreError
    return found[0], found.end()


def _text(key: bytes) -> str:
    try:
        return name_of(key)
    except ValueError:
        raise not_json("a name is no text") from None


def _end(pattern: re.Pattern[bytes], text: bytes, place: int) -> int:
    found = pattern.match(text, place)
    return found.end() if found else place
