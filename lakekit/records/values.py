"""One JSON value in the type of a column, by the rules of `lakekit.spark.read.types`."""

import re
from base64 import b64decode
from binascii import Error as NoBase64
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import ROUND_HALF_UP, Context, Decimal, InvalidOperation
from math import isfinite
from struct import pack, unpack
from typing import Any

from lakekit.contract.sqltypes import SqlType
from lakekit.records.forms import (
    FIRST_SECOND,
    FORMS,
    LAST_SECOND,
    MOST_DIGITS_OF_DECIMALS,
    WHOLE_NUMBER,
)
from lakekit.records.json_values import Fields, Number, as_text
from lakekit.values import shortest_float

_BITS = {"tinyint": 16, "smallint": 16, "int": 32, "bigint": 64}
_FORMS = {name: re.compile(form) for name, form in FORMS.items()}
_PARTS = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:[.](\d+))?)?)?(Z|[+-].*)?", re.ASCII
)
# As Java's DecimalFormat reads it in the locale that Spark parses with.
_DECIMAL_TEXT = re.compile(r"-?([0-9\u2019]+\.?[0-9]*|\.[0-9]+)(E-?[0-9]{1,9})?")
_EXACT = Context(prec=20_000, rounding=ROUND_HALF_UP)
_FARTHEST_OFFSET = timedelta(hours=18)
_EPOCH = datetime(1970, 1, 1)


class NoSuchValueError(Exception):
    """A value is not of its type: Spark does not parse it."""


class BreaksRecordError(NoSuchValueError):
    """A value with which Spark parses nothing of the record."""


# In place of a value that Spark has made another one of, and that is rejected by that.
OTHER: Any = object()


@dataclass(frozen=True)
class Typed:
    """A value in its type.

    misfit: it was parsed, and does not fit; it is None or OTHER then, or holds one of these.
    partial: part of it was not parsed, and is None.
    """

    value: Any
    misfit: bool = False
    partial: bool = False


def typed(value: Any, kind: SqlType) -> Typed:
    """Return a value of `json_values.parsed` in a type.

    Times are those of Python without a zone, in UTC; a struct and a map are dictionaries; a `float`
    has as few digits as it needs, as in `lakekit.spark.schema.display`.

    Raises:
        NoSuchValueError: Spark does not parse it as that type.

    Example:
        >>> typed(Number("1.50"), SqlType("decimal", 4, 2)).value
        Decimal('1.50')
    """
    return Typed(None) if value is None else _READERS[kind.name](value, kind)


def fits(value: Any, kind: SqlType) -> bool:
    """Say whether a value of `json_values.parsed` is kept as it is in a type."""
    try:
        found = typed(value, kind)
    except NoSuchValueError:
        return False
    return not (found.misfit or found.partial)


def _whole(value: Any, kind: SqlType) -> Typed:
    if not (isinstance(value, Number) and value.is_whole and len(value) < 40):
        raise NoSuchValueError
    number, most = int(value), 1 << (_BITS[kind.name] - 1)
    if not -most <= number < most:
        raise NoSuchValueError
    if kind.name == "tinyint" and not -128 <= number < 128:
        return Typed(None, misfit=True)
    return Typed(number)


def _floating(value: Any, kind: SqlType) -> Typed:
    if not isinstance(value, Number):
        raise NoSuchValueError
    number = float(value) + 0.0 if value.is_whole else float(value)  # a whole number has no -0
    if kind.name == "float":
        try:
            number = shortest_float(unpack("f", pack("f", number))[0])
        except OverflowError:
            number = float("inf")
    return Typed(number, misfit=not isfinite(number))


def _boolean(value: Any, _: SqlType) -> Typed:
    if not isinstance(value, bool):
        raise NoSuchValueError
    return Typed(value)


def _text(value: Any, _: SqlType) -> Typed:
    text = as_text(value)
    is_beyond = isinstance(value, Number) and text in ('"Infinity"', '"-Infinity"')
    return Typed(text, misfit=is_beyond or text in ('"Infinity"', '"-Infinity"'))


def _bytes(value: Any, _: SqlType) -> Typed:
    if not isinstance(value, str) or isinstance(value, Number):
        raise NoSuchValueError
    try:
        return Typed(b64decode(value, validate=True))
    except (NoBase64, ValueError):
        # Its parser reads beyond the end of such a text.
        is_cut = len(value) % 4 == 1 and re.fullmatch("[A-Za-z0-9+/]*", value)
        raise (BreaksRecordError if is_cut else NoSuchValueError) from None


def _decimal(value: Any, kind: SqlType) -> Typed:
    if not isinstance(value, str):
        raise NoSuchValueError
    if not isinstance(value, Number) and not _DECIMAL_TEXT.fullmatch(value):
        raise NoSuchValueError
    widest = MOST_DIGITS_OF_DECIMALS - kind.precision + kind.scale
    try:
        read = _rounded(Decimal(value.replace("\u2019", "")), widest, MOST_DIGITS_OF_DECIMALS)
    except InvalidOperation:
        raise NoSuchValueError from None
    if read is None:
        raise NoSuchValueError
    found = _rounded(read, kind.scale, kind.precision)
    if found is None:
        return Typed(None, misfit=True)
    return Typed(found) if found == read else Typed(OTHER, misfit=True)


def _rounded(value: Decimal, scale: int, precision: int) -> Decimal | None:
    """Return a number with so many decimals; None if it has too many digits then."""
    if value and value.adjusted() >= precision - scale:
        return None
    if value and value.adjusted() < -scale - 1:
        value = Decimal(0)
    found = value.quantize(Decimal(1).scaleb(-scale), context=_EXACT)
    return found if len(found.as_tuple().digits) <= precision else None


def _day(value: Any, kind: SqlType) -> Typed:
    text = _form_of(value, kind)
    found = _time(text) if text else None
    return Typed(date(*found.timetuple()[:3]) if found else None, misfit=found is None)


def _local_time(value: Any, kind: SqlType) -> Typed:
    text = _form_of(value, kind)
    found = _time(text) if text else None
    return Typed(found, misfit=found is None)


def _utc_time(value: Any, kind: SqlType) -> Typed:
    if isinstance(value, Number):
        is_second = value.is_whole and len(value) < 20 and FIRST_SECOND <= int(value) <= LAST_SECOND
        found = _EPOCH + timedelta(seconds=int(value)) if is_second else None
        return Typed(found, misfit=found is None)
    if isinstance(value, str) and re.fullmatch(WHOLE_NUMBER, value):
        is_second = len(value) < 20 and FIRST_SECOND <= int(value) <= LAST_SECOND
        return Typed(OTHER if is_second else None, misfit=True)
    text = _form_of(value, kind)
    return _in_utc(text) if text else Typed(None, misfit=True)


def _form_of(value: Any, kind: SqlType) -> str | None:
    """Return a text that has the form of a date or time."""
    is_text = isinstance(value, str) and not isinstance(value, Number)
    return value if is_text and _FORMS[kind.name].fullmatch(value) else None


def _time(text: str) -> datetime | None:
    """Return a text of a form as a time, without its offset; None if there is no such time."""
    parts = _PARTS.fullmatch(text)
    if parts is None:
        return None
    micros = (parts[7] or "")[:6].ljust(6, "0")
    numbers = [int(part or 0) for part in (*parts.groups()[:6], micros)]
    try:
        return datetime(*numbers)  # type: ignore[arg-type]
    except ValueError:
        return None


def _in_utc(text: str) -> Typed:
    local, parts = _time(text), _PARTS.fullmatch(text)
    if local is None or parts is None:
        return Typed(None, misfit=True)
    offset = parts[8]
    if offset in (None, "Z"):
        return Typed(local)
    digits = offset[1:].replace(":", "").ljust(4, "0")
    length = timedelta(hours=int(digits[:2]), minutes=int(digits[2:]))
    if int(digits[2:]) > 59 or length > _FARTHEST_OFFSET:
        return Typed(None, misfit=True)
    try:
        return Typed(local + length if offset[0] == "-" else local - length)
    except OverflowError:
        return Typed(OTHER, misfit=True)


def _list(value: Any, kind: SqlType) -> Typed:
    if not isinstance(value, list):
        raise NoSuchValueError
    parts = [typed(each, kind.fields[0][1]) for each in value]
    return _together([part.value for part in parts], parts)


def _map(value: Any, kind: SqlType) -> Typed:
    if not isinstance(value, Fields):
        raise NoSuchValueError
    parts = [(name, typed(each, kind.fields[1][1])) for name, each in value]
    found = {name: part.value for name, part in parts}
    return _together(found, [part for _, part in parts], misfit=len(found) < len(parts))


def _struct(value: Any, kind: SqlType) -> Typed:
    if not isinstance(value, Fields):
        raise NoSuchValueError
    kinds, parts = dict(kind.fields), dict[str, Typed]()
    for name, each in value:
        if name in kinds:
            try:
                parts[name] = typed(each, kinds[name])
            except BreaksRecordError:
                raise
            except NoSuchValueError:
                parts[name] = Typed(None, partial=True)
    found = {name: parts[name].value if name in parts else None for name in kinds}
    return _together(found, list(parts.values()))


def _together(value: Any, parts: list[Typed], *, misfit: bool = False) -> Typed:
    return Typed(
        value,
        misfit=misfit or any(part.misfit for part in parts),
        partial=any(part.partial for part in parts),
    )


_READERS: dict[str, Callable[[Any, SqlType], Typed]] = {
    "tinyint": _whole, "smallint": _whole, "int": _whole, "bigint": _whole, "float": _floating,
    "double": _floating, "boolean": _boolean, "string": _text, "binary": _bytes,
    "decimal": _decimal, "date": _day, "timestamp_ntz": _local_time, "timestamp": _utc_time,
    "array": _list, "map": _map, "struct": _struct,
}  # fmt: skip
