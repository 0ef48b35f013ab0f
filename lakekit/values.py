"""How a value of a table is written: as JSON, as the text of a cell, and for a terminal. Pure.

There is one rule for each value, whichever engine has read it. A value that JSON has no form for is
a text. A struct is a mapping with its names, a map one with any keys.
"""

import json
import math
import re
from base64 import b64encode
from collections.abc import Iterable, Mapping
from datetime import UTC, date, datetime
from decimal import Decimal
from math import isfinite, isnan
from struct import Struct
from typing import Any

from lakekit.errors import InvalidStepInputError

# What a terminal obeys in place of showing it: control characters, ends of lines, changes of the
# direction of text; and halves of surrogate pairs, which no UTF-8 has.
_OBEYED = "\\x00-\\x1f\\x7f-\\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff"
_UNPRINTABLE = re.compile(f"[{_OBEYED}]")
_FLOAT = Struct("f")
_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def to_json(value: Any) -> str:
    """Return a value as JSON (RFC 8259) in one line, other characters than ASCII as they are.

    Example:
        >>> to_json({"ratio": float("nan"), "price": Decimal("1.10"), "names": ["Zoë"]})
        '{"ratio": "NaN", "price": "1.10", "names": ["Zoë"]}'
    """
    text = json.dumps(_plain(value), ensure_ascii=False, allow_nan=False)
    return _UNPRINTABLE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def to_text(value: Any) -> str:
    """Return a value as the text of a cell; a nested one as JSON.

    Example:
        >>> [to_text(value) for value in (None, True, "a", b"a", {1: [None]})]
        ['null', 'true', 'a', 'YQ==', '{"1": [null]}']
    """
    if value is None or isinstance(value, bool | Mapping | list | tuple):
        return to_json(value)
    if isinstance(value, float):
        return repr(value) if isfinite(value) else _not_finite(value)
    if isinstance(value, Decimal):
        return f"{value:f}"
    if isinstance(value, bytes | bytearray):
        return b64encode(value).decode()
    return value.isoformat() if isinstance(value, date) else str(value)


def shortest_float(value: float) -> float:
    """Return what a `float` of 32 bits, read as one of 64, is in its shortest form.

    Example:
        >>> shortest_float(0.10000000149011612)
        0.1
    """
    if not isfinite(value):
        return value
    texts = (f"{value:.{digits}g}" for digits in range(1, 10))
    return next((float(t) for t in texts if _as_float32(float(t)) == value), value)


def parse_time(option: str, text: str) -> datetime:
    """Return a time with its zone, in UTC.

    Args:
        option: How messages call it.
        text: Such as 2026-01-01T00:00:00Z.

    Raises:
        InvalidStepInputError: It is no time, or has no zone.
    """
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        raise InvalidStepInputError(
            f"{option} {text}: not a time like 2026-01-01T00:00:00Z"
        ) from None
    if time.tzinfo is None:
        raise InvalidStepInputError(f"{option} {text}: has no time zone; append Z for UTC")
    try:
        return time.astimezone(UTC)
    except OverflowError:
        raise InvalidStepInputError(f"{option} {text}: outside the years 1 to 9999") from None


def printable(text: str) -> str:
    r"""Return a text for a terminal: characters that it would obey are shown as escapes.

    Example:
        >>> printable("\x1b[31m red\n")
        '\\x1b[31m red\\n'
    """
    return _UNPRINTABLE.sub(_escaped, text)


def unique_names(names: Iterable[str]) -> list[str]:
    """Return names for the fields of one object: a name that comes again gets a number.

    Example:
        >>> unique_names(["a", "a", "a_2", "a"])
        ['a', 'a_3', 'a_2', 'a_4']
    """
    known, unique = list(names), list[str]()
    for name in known:
        own, number = name, 2
        while own in unique or (own != name and own in known):
            own, number = f"{name}_{number}", number + 1
        unique.append(own)
    return unique


def _plain(value: Any) -> Any:
    """Return a value in the types of JSON."""
    if isinstance(value, Mapping):
        return {to_text(key): _plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    if value is None or isinstance(value, str | int):
        return value
    return value if isinstance(value, float) and isfinite(value) else to_text(value)


def _as_float32(value: float) -> float:
    try:
        found: float = _FLOAT.unpack(_FLOAT.pack(value))[0]
    except OverflowError:
        return math.inf
    return found


def _not_finite(value: float) -> str:
    if isnan(value):
        return "NaN"
    return "Infinity" if value > 0 else "-Infinity"


def _escaped(found: re.Match[str]) -> str:
    character = found[0]
    code = ord(character)
    return _SHORT.get(character) or (f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}")
