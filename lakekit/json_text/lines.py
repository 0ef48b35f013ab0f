r"""The rule of a landed line: one object of JSON by RFC 8259, in UTF-8.

Extraction, validation and merge go by it.

RFC 8259 lets an escape name half of a surrogate pair, as `"\ud83d"` does. That is no character, and
UTF-8 cannot hold it: it would become another one, and two keys the same. So such a line is none.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import IO, Any, AnyStr

import msgspec

from lakekit.errors import SourceShapeError

BYTE_ORDER_MARK = "\ufeff"
BLANK = " \t\r\n"
# RFC 8259 leaves these limits to who reads. Levels of a record, itself among them; digits of a
# number, those of its exponent among them.
MOST_LEVELS = 500
MOST_DIGITS = 10_000
# Of a whole line: a record is in memory several times over, and functions have 512 MB.
LONGEST_LINE = 8 * 1024 * 1024
# Of Python and Java. Where a text has no escaped backslash and no whole pair any more, each escape
# of a surrogate is half a pair.
WHOLE_PAIRS = r"\\\\|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
HALF_PAIR = r"\\u[dD][89a-fA-F][0-9a-fA-F]{2}"

_FIELDS = msgspec.json.Decoder(dict[str, msgspec.Raw])
_STRING = re.compile(rb'"(?:[^"\\]|\\.)*"')
_NUMBER = re.compile(rb"[0-9][0-9.eE+-]*")


def bounded_lines(stream: IO[AnyStr]) -> Iterator[AnyStr]:
    """Yield the lines of a stream, of which none is longer than memory allows.

    Raises:
        SourceShapeError: A line is longer than a record may be.
    """
    while line := stream.readline(LONGEST_LINE + 1):
        refuse_long(len(line))
        yield line


def refuse_long(size: int) -> None:
    """Refuse a record of so many bytes.

    Raises:
        SourceShapeError: It has more than a record may have.
    """
    if size > LONGEST_LINE:
        raise SourceShapeError(
            f"a record has more than {LONGEST_LINE >> 20} MiB; each needs a line of its own"
        )


def is_blank(line: bytes) -> bool:
    """Whether a line holds nothing."""
    return not line.strip(BLANK.encode())


def read_fields(line: bytes) -> dict[str, bytes] | None:
    """Return the JSON text of each field of a line, or None if the line is no record.

    Of two values of one name, the last counts.
    """
    try:
        line.decode()  # the parser skips over values and would not see bytes that are no UTF-8
        fields = _FIELDS.decode(line.removeprefix(BYTE_ORDER_MARK.encode()))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    if _is_beyond_limits(line):
        return None
    found: dict[str, Any] = fields
    for name, value in found.items():  # in its place: a line may have millions of fields
        found[name] = bytes(value)
    return found


def value_along(fields: Mapping[str, bytes], steps: Sequence[str]) -> bytes | None:
    """Return the JSON text of a value within the fields of a line, or None if it is absent.

    Example:
        >>> value_along({"a": b'{"b": 1.10}'}, ("a", "b"))
        b'1.10'
    """
    first, *below = steps
    value = fields.get(first)
    for name in below:
        inner = object_fields(value) if value is not None else None
        value = inner.get(name) if inner else None
    return value


def object_fields(text: bytes) -> dict[str, bytes] | None:
    """Return the JSON text of each field of a value of a record, or None if it is no object."""
    try:
        return {name: bytes(value) for name, value in _FIELDS.decode(text).items()}
    except (msgspec.DecodeError, RecursionError):
        return None


def _is_beyond_limits(line: bytes) -> bool:
    levels = line.count(b"[") + line.count(b"{")
    if levels <= MOST_LEVELS and len(line) <= MOST_DIGITS:
        return False
    bare, level = _STRING.sub(b"", line), 0
    for mark in re.finditer(rb"[\[{\]}]", bare):
        level += 1 if mark[0] in b"[{" else -1
        if level > MOST_LEVELS:
            return True
    numbers = (found[0] for found in _NUMBER.finditer(bare))
    return any(
        len(re.sub(rb"[^0-9]", b"", n)) > MOST_DIGITS for n in numbers if len(n) > MOST_DIGITS
    )
