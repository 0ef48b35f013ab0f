"""The narrowest type of a column that keeps every value of a sample as it was received."""

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Any, NamedTuple

import msgspec

from lakekit.contract.sqltypes import SqlType, parse_type
from lakekit.extract.content.xml_text import typed as typed_text
from lakekit.records.forms import FORMS
from lakekit.records.json_values import Fields, Number, parsed
from lakekit.records.values import fits

_STRING = SqlType("string")
_MOST_LEVELS = 6
_MOST_DIGITS = 38
# As many significant digits as every double keeps.
_DIGITS_OF_A_DOUBLE = 15
_MONEY = re.compile(
    r"price|amount|total|cost|balance|fee|tax|salary|revenue|discount|subtotal|paid|net|gross",
    re.IGNORECASE,
)
_TIME = re.compile(
    r".*(time|date|_at|_on|_ts|stamp|created|updated|modified|expires?|[a-z]At|since|until)"
    r"|.*(created|updated|modified).*|ts|at",
    re.IGNORECASE,
)  # fmt: skip
_IDS = re.compile(r"\d+|[0-9a-fA-F-]{16,}|\d{4}-\d\d-\d\d.*")
_NUMBER_TEXT = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?([eE][-+]?\d+)?", re.ASCII)
_ZONE = re.compile(r".*:.*(Z|[+-]\d\d(:?\d\d)?)", re.ASCII)


class Guess(NamedTuple):
    """A type, and what was seen that speaks for it or against it."""

    type: SqlType
    saw: str = ""


def guess_type(
    values: Sequence[Any], name: str, *, are_texts: bool = False, level: int = 0
) -> Guess | None:
    """Return a type that keeps all values, or None if there is none.

    Args:
        values: Those of one field, as `lakekit.records.json_values` has them; None where the field
            is null or absent.
        name: Of the field: times and amounts of money are found by it.
        are_texts: Whether numbers are texts, as in CSV and XML.
        level: How deep the field is.
    """
    there = [value for value in values if value is not None and not (are_texts and value == "")]
    if are_texts and any(isinstance(value, list) for value in there):
        # One element of XML is no list; extraction makes one of it for an array.
        there = [value if isinstance(value, list) else [value] for value in there]
    if not there:
        return Guess(_STRING, "null, absent or empty in every record seen")
    for guess in _guesses(there, name, are_texts, level):
        if all(fits(landed(value, guess.type, are_texts=are_texts), guess.type) for value in there):
            return guess
    return None


def landed(value: Any, kind: SqlType, *, are_texts: bool) -> Any:
    """Return a value as it will be landed for a column: texts of CSV and XML become JSON."""
    if not are_texts:
        return value
    return parsed(msgspec.json.encode(typed_text(_plain(value), kind)))


def _plain(value: Any) -> Any:
    if isinstance(value, Fields):
        return {name: _plain(each) for name, each in value}
    return [_plain(each) for each in value] if isinstance(value, list) else value


def _guesses(there: list[Any], name: str, are_texts: bool, level: int) -> Iterator[Guess]:
    kinds = {_kind_of(value) for value in there}
    note = ""
    if len(kinds) > 1:
        note = f"values of several kinds: {', '.join(sorted(kinds))}"
    elif kinds == {"true or false"}:
        yield Guess(SqlType("boolean"))
    elif kinds == {"number"}:
        yield from _numbers(there, name)
        note = "numbers of which no number type keeps all digits"
    elif kinds == {"object"}:
        yield from _objects(there, are_texts, level)
        note = "objects that have no common form; their JSON as text"
    elif kinds == {"list"}:
        items = [item for value in there for item in value]
        element = guess_type(items, name, are_texts=are_texts, level=level + 1)
        if element:
            yield Guess(SqlType("array", fields=(("element", element.type),)), element.saw)
        note = "lists without a common form; their JSON as text"
    else:
        if are_texts:
            yield from _numbers_in_texts(there, name)
        yield from _texts(there, name)
    yield Guess(_STRING, note)


def _kind_of(value: Any) -> str:
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, Number):
        return "number"
    if isinstance(value, str):
        return "text"
    return "list" if isinstance(value, list) else "object"


def _numbers_in_texts(texts: list[str], name: str) -> Iterator[Guess]:
    plain = [text.strip() for text in texts if isinstance(text, str)]
    if {text.lower() for text in plain} <= {"true", "false"}:
        yield Guess(SqlType("boolean"))
    # 007 is a code: as a number it would be 7.
    if all(_NUMBER_TEXT.fullmatch(text) for text in plain):
        yield from _numbers([Number(text) for text in plain], name)


def _numbers(numbers: list[Any], name: str) -> Iterator[Guess]:
    if all(number.is_whole for number in numbers):
        yield from _whole(numbers, name)
        return
    places, whole, digits = 0, 1, 0
    for number in numbers:
        value = Decimal(number)
        _, own, exponent = value.as_tuple()
        places = max(places, -int(exponent))
        whole = max(whole, value.adjusted() + 1)
        digits = max(digits, len(own))
    is_exact = whole + places <= _MOST_DIGITS
    if digits > _DIGITS_OF_A_DOUBLE:
        if is_exact:
            kind = SqlType("decimal", _MOST_DIGITS if whole + places > 30 else 30, places)
            yield Guess(kind, f"numbers of up to {digits} digits, more than a double keeps")
        note = f"some digits are lost: numbers of up to {digits} digits, which no decimal holds"
        yield Guess(SqlType("double"), note)
    elif _MONEY.search(name) and is_exact and places <= 6:
        scale = max(places, 2)
        yield Guess(SqlType("decimal", 18, scale), f"an amount; up to {places} decimals seen")
    yield Guess(SqlType("double"))


def _whole(numbers: list[Any], name: str) -> Iterator[Guess]:
    least, most = min(map(len, numbers)), max(map(len, numbers))
    if _TIME.fullmatch(name) and least == most == 10:
        yield Guess(SqlType("timestamp"), "whole numbers that are seconds since 1970")
    note = ""
    if _TIME.fullmatch(name) and least == most == 13:
        note = "may be milliseconds since 1970, which no type of a column reads as a time"
    yield Guess(SqlType("bigint"), note)
    yield Guess(SqlType("decimal", _MOST_DIGITS, 0), "numbers beyond a bigint")


def _texts(texts: list[Any], name: str) -> Iterator[Guess]:
    for kind in ("date", "timestamp_ntz"):
        yield Guess(SqlType(kind), "times without a zone" if kind == "timestamp_ntz" else "")
    with_zone = sum(bool(_ZONE.fullmatch(text)) for text in texts)
    is_all = with_zone == len(texts)
    yield Guess(SqlType("timestamp"), "" if is_all else f"{with_zone} of {len(texts)} with a zone")
    if _MONEY.search(name) and all(re.fullmatch(r"-?\d+(\.\d+)?", text) for text in texts):
        places = max(len(text.partition(".")[2]) for text in texts)
        yield Guess(SqlType("decimal", 18, max(places, 2)), "amounts that are written as texts")
    times = sum(bool(re.fullmatch(FORMS["timestamp"], text)) for text in texts)
    if times * 2 > len(texts):
        others = len(texts) - times
        note = f"most are dates or times, but {others} of {len(texts)} are not, such as empty texts"
        yield Guess(_STRING, note if others else "dates or times that do not exist are among them")


def _objects(objects: list[Fields], are_texts: bool, level: int) -> Iterator[Guess]:
    if level >= _MOST_LEVELS:
        return
    names = list(dict.fromkeys(name for each in objects for name, _ in each))
    most = max(len(each) for each in objects)
    varies = len(names) >= 10 and len(names) > 2 * most
    if not names or varies or all(_IDS.fullmatch(name) for name in names):
        values = [value for each in objects for _, value in each]
        element = guess_type(values, "", are_texts=are_texts, level=level + 1)
        if element:
            kind = SqlType("map", fields=(("key", _STRING), ("value", element.type)))
            yield Guess(kind, f"{len(names)} different names, which are data" if names else "empty")
    if len({name.lower() for name in names}) < len(names):
        return  # Spark finds the fields of a struct without regard to case
    fields = []
    for name in names:
        own = [each.named().get(name) for each in objects]
        found = guess_type(own, name, are_texts=are_texts, level=level + 1)
        if found and name and _is_type(SqlType("struct", fields=((name, found.type),))):
            fields.append((name, found.type))
    if fields:
        yield Guess(SqlType("struct", fields=tuple(fields)))


def _is_type(kind: SqlType) -> bool:
    try:
        return parse_type(str(kind)) == kind
    except ValueError:
        return False
