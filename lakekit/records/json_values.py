"""A JSON text as Python values that keep what decides their types: digits, and names that repeat.

Spark writes a value of another type into a `string` column as JSON of its own; so does `as_text`.
"""

import json
import re
from collections.abc import Iterable
from decimal import Decimal
from math import isfinite
from typing import Any

_ESCAPES = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r",
            "\t": "\\t"}  # fmt: skip
_ESCAPED = re.compile(r'["\\\x00-\x1f]')
_WHOLE = re.compile(r"-?[0-9]+")


class Number(str):
    """The text of a number."""

    __slots__ = ()

    @property
    def is_whole(self) -> bool:
        """Whether it has neither a point nor an exponent."""
        return bool(_WHOLE.fullmatch(self))


class Fields(tuple[tuple[str, Any], ...]):
    """The names and values of an object, in their order; a name may be there twice."""

    __slots__ = ()

    def named(self) -> dict[str, Any]:
        """Return the value of each name; of two of one name, the last."""
        return dict(self)


_DECODER = json.JSONDecoder(
    object_pairs_hook=Fields, parse_int=Number, parse_float=Number, parse_constant=Number
)


def parsed(text: bytes) -> Any:
    """Return a JSON text as values: numbers as `Number`, objects as `Fields`.

    Raises:
        ValueError: It is no JSON, or has too many levels.
    """
    try:
        return _DECODER.decode(text.decode())
    except RecursionError:
        raise ValueError("too many levels") from None


def as_text(value: Any) -> str:
    """Return a value as Spark keeps it in a `string`.

    Example:
        >>> [as_text(parsed(text)) for text in (b'"a"', b"1.50", b"10", b'{"a": [1e22, null]}')]
        ['a', '1.5', '10', '{"a":[1.0E22,null]}']
    """
    if isinstance(value, str) and not isinstance(value, Number):
        return value
    return _json(value)


def _json(value: Any) -> str:
    if isinstance(value, Number):
        return str(int(value)) if value.is_whole and len(value) < 4000 else _number(value)
    if isinstance(value, str):
        return f'"{_ESCAPED.sub(_escaped, value)}"'
    if isinstance(value, Fields):
        return _within("{}", (f"{_json(name)}:{_json(each)}" for name, each in value))
    if isinstance(value, list):
        return _within("[]", map(_json, value))
    return "null" if value is None else str(value).lower()


def _number(value: Number) -> str:
    return str(value) if value.is_whole else java_double(float(value))


def _within(brackets: str, parts: Iterable[str]) -> str:
    return f"{brackets[0]}{','.join(parts)}{brackets[1]}"


def _escaped(found: re.Match[str]) -> str:
    return _ESCAPES.get(found[0]) or f"\\u{ord(found[0]):04X}"


def java_double(value: float) -> str:
    """Return a double as Java writes it.

    Example:
        >>> [java_double(value) for value in (0.5, 100.0, 1e7, 1.25e-5)]
        ['0.5', '100.0', '1.0E7', '1.25E-5']
    """
    if not isfinite(value):
        return '"Infinity"' if value > 0 else '"-Infinity"'
    if value == 0 or 1e-3 <= abs(value) < 1e7:
        return f"{Decimal(repr(value)):f}"
    sign, digits, exponent = Decimal(repr(value)).as_tuple()
    shown = "".join(map(str, digits)).rstrip("0") or "0"
    power = int(exponent) + len(digits) - 1
    return f"{'-' if sign else ''}{shown[0]}.{shown[1:] or '0'}E{power}"
