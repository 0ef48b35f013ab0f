"""Cuts the records out of a body that is too large for memory, window by window."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any, BinaryIO

from lakekit.errors import SourceShapeError
from lakekit.extract.http.messages import Answer
from lakekit.json_text.lines import BLANK, BYTE_ORDER_MARK, refuse_long

WINDOW = 1024 * 1024
# Of what is around the records.
MOST_AROUND = 8 * 1024 * 1024
_BLANKS = BLANK.encode()
_BLANK = re.compile(rb"[ \t\r\n]*+")
_STRING = re.compile(rb'"(?:[^"\\]++|\\.)*+"', re.DOTALL)
_SCALAR = re.compile(rb"[^ \t\r\n,\]}]++")
# All that is no bracket, with whole strings; it ends at a bracket or at a string without an end.
_NO_BRACKET = re.compile(rb'(?:[^"\[\]{}]++|"(?:[^"\\]++|\\.)*+")*+', re.DOTALL)
_OPENING, _QUOTE = b"[{", ord('"')


# Cuts the text of a JSON list into the texts of its items.
Split = Callable[[bytes], list[bytes]]


class LargeRecords:
    """The records of one body in their order, read from its file as often as they are wanted.

    digest: of all of them, as that of the records of other pages. last: the last one, if any.
    """

    def __init__(self, read: Callable[[], Iterator[bytes]]) -> None:
        self._read = read
        self._count, digest = 0, sha256()
        self.last = b""
        for record in self:
            self._count += 1
            self.last = record
            digest.update(len(record).to_bytes(8, "big") + record)
        self.digest = digest.hexdigest()[:32]

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[bytes]:
        return self._read()


def split_large(answer: Answer, steps: Sequence[str], split: Split) -> tuple[Answer, LargeRecords]:
    """Take the records out of an answer whose body is in a file.

    Returns:
        The answer with an empty list in place of its records, in memory; and the records.

    Args:
        answer: What came; its body is JSON in UTF-8.
        steps: Names of the fields on the way to the list of records; none if it is all of it.
        split: Cuts the text of a JSON list into those of its items.

    Raises:
        SourceShapeError: The body is not JSON, has no list there, has a record longer than one may
            be, or much that is no record.
    """
    if answer.large is None:
        raise ValueError("the body of this answer is in memory")
    file = answer.large
    file.seek(0)
    before = _before_list(file, steps)
    found = _List(file, len(before))
    windows = [*found.windows()]
    file.seek(found.end)
    after = file.read(MOST_AROUND + 1)
    if len(after) > MOST_AROUND:
        raise _too_much()
    around = (before + b"[" + after).removeprefix(BYTE_ORDER_MARK.encode())
    _refuse_twice(around, steps)
    records = LargeRecords(lambda: _read_windows(file, windows, split))
    return replace(answer, body=around, large=None), records


def _read_windows(
    file: BinaryIO, windows: Iterable[tuple[int, int]], split: Split
) -> Iterator[bytes]:
    for number, (begin, end) in enumerate(windows):
        file.seek(begin)
        text = file.read(end - begin).lstrip(_BLANKS)
        if number:  # the comma after the records of the window before
            if not text.startswith(b","):
                raise _no_json()
            text = text[1:].lstrip(_BLANKS)
            if not text:
                raise _no_json()
        yield from split(b"[" + text + b"]")


def _refuse_twice(text: bytes, steps: Sequence[str]) -> None:
    """Refuse what is around the records if it is not JSON, or has their field twice."""

    def check(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        names = [name for name, _ in pairs]
        for name in steps:
            if names.count(name) > 1:
                raise SourceShapeError(f"the answer has '{name}' twice in one object")
        return dict(pairs)

    try:
        json.loads(text, object_pairs_hook=check)
    except (ValueError, RecursionError):
        raise _no_json() from None


def _no_json() -> SourceShapeError:
    return SourceShapeError("the answer is not JSON, or ends before its end")


def _too_much() -> SourceShapeError:
    return SourceShapeError(
        f"the answer has more than {MOST_AROUND >> 20} MiB that are not in its list of records"
    )


class _MoreError(Exception):
    """The text ends before what is looked for."""


def _before_list(file: BinaryIO, steps: Sequence[str]) -> bytes:
    """Return the text up to the bracket of the list, without it."""
    text = b""
    while len(text) <= MOST_AROUND:
        chunk = file.read(WINDOW)
        text += chunk
        try:
            return text[: _find_list(text, steps)]
        except _MoreError:
            if not chunk:
                raise _no_json() from None
    raise _too_much()


def _find_list(text: bytes, steps: Sequence[str]) -> int:
    place = len(BYTE_ORDER_MARK.encode()) if text.startswith(BYTE_ORDER_MARK.encode()) else 0
    for step in steps:
        place = _find_field(text, place, step)
    if _next(text, place)[1] != b"[":
        raise SourceShapeError(
            "an answer of so many bytes must have its records in one list; there is none"
        )
    return _next(text, place)[0]


def _find_field(text: bytes, place: int, name: str) -> int:
    """Return the place of a field's value in the object that begins at or after a place."""
    place, mark = _next(text, place)
    if mark != b"{":
        raise SourceShapeError(f"the answer has no object around '{name}'")
    place += 1
    while True:
        place, mark = _next(text, place)
        if mark == b"}":
            raise SourceShapeError(f"the answer has no '{name}' on the way to its records")
        if mark == b",":
            place += 1
            continue
        key, place = _whole(_STRING, text, place)
        place, mark = _next(text, place)
        if mark != b":":
            raise _no_json()
        if _text(key) == name:
            return place + 1
        place = _skip(text, place + 1)


def _skip(text: bytes, place: int) -> int:
    """Return the place after a value."""
    place, mark = _next(text, place)
    if mark == b'"':
        return _whole(_STRING, text, place)[1]
    if mark not in (b"[", b"{"):
        return _whole(_SCALAR, text, place)[1]
    depth = 0
    while True:
        place = _no_bracket(text, place)
        if place == len(text) or text[place] == _QUOTE:
            raise _MoreError
        depth += 1 if text[place] in _OPENING else -1
        place += 1
        if depth == 0:
            return place


def _next(text: bytes, place: int) -> tuple[int, bytes]:
    """Return the place of the next character that is no blank, and the character."""
    found = _BLANK.match(text, place)
    place = found.end() if found else place
    if place == len(text):
        raise _MoreError
    return place, text[place : place + 1]


def _whole(pattern: re.Pattern[bytes], text: bytes, place: int) -> tuple[bytes, int]:
    found = pattern.match(text, place)
    if found is None:
        if text[place : place + 1] == b'"':
            raise _MoreError
        raise _no_json()
    if found.end() == len(text):
        raise _MoreError
    return found[0], found.end()


def _text(key: bytes) -> Any:
    try:
        return json.loads(key)
    except ValueError:
        raise _no_json() from None


def _no_bracket(text: bytes, place: int) -> int:
    found = _NO_BRACKET.match(text, place)
    return found.end() if found else place


@dataclass
class _List:
    """A list that begins at a place of a file; `end` is that of its closing bracket."""

    file: BinaryIO
    begin: int
    end: int = 0

    def windows(self) -> Iterator[tuple[int, int]]:
        """Yield places in the file between which whole records are, with commas between them."""
        self.file.seek(self.begin + 1)
        base, text = self.begin + 1, b""
        cut = scanned = depth = 0  # in `text`: after the last whole record; up to where it is known
        while True:
            scanned = _no_bracket(text, scanned)
            if scanned < len(text) and text[scanned] != _QUOTE:
                depth += 1 if text[scanned] in _OPENING else -1
                scanned += 1
                if depth == 0:
                    cut = scanned
                elif depth < 0:
                    break
                continue
            if cut:
                yield base, base + cut
            refuse_long(len(text) - cut)
            chunk = self.file.read(WINDOW)
            if not chunk:
                raise _no_json()
            text, scanned, base, cut = text[cut:] + chunk, scanned - cut, base + cut, 0
        self.end = base + scanned - 1
        if text[: scanned - 1].strip(_BLANKS):
            yield base, self.end
