"""Cuts a JSON text into the texts of its fields or items, where a parser refuses the whole of it.

One record with `NaN`, half of a surrogate pair or a thousand levels makes a parser refuse all that
is around it. Only brackets, commas and the ends of strings are looked at here, so that such a
record is one part like any other. Whether it is a record is decided by `lakekit.json_text.lines`.
"""

import json
import re

import msgspec

from lakekit.json_text.lines import BLANK, BYTE_ORDER_MARK

_BLANK = BLANK.encode()
STRING = rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"'
_PLAIN = rb'[^"{}\[\]]*+'
# An object or list of up to three levels is passed over at once.
_FLAT = _PLAIN + rb"(?:" + STRING + _PLAIN + rb")*+"
_TWO = (
    _PLAIN + rb"(?:(?:" + STRING + rb"|\{" + _FLAT + rb"\}|\[" + _FLAT + rb"\])" + _PLAIN + rb")*+"
)
_THREE = (
    _PLAIN + rb"(?:(?:" + STRING + rb"|\{" + _TWO + rb"\}|\[" + _TWO + rb"\])" + _PLAIN + rb")*+"
)
OBJECT, LIST = rb"\{" + _THREE + rb"\}", rb"\[" + _THREE + rb"\]"
MARK = re.compile(OBJECT + rb"|" + LIST + rb"|" + STRING + rb'|["\[\]{},]', re.DOTALL)
_NAME = re.compile(rb"[ \t\r\n]*(" + STRING + rb")[ \t\r\n]*:", re.DOTALL)
_CLOSES = {b"]": b"[", b"}": b"{"}
_SURROGATES = "surrogateescape"


def item_spans(text: bytes) -> list[bytes]:
    """Return the text of each item of a list.

    Raises:
        ValueError: The text is no list, or where its items end cannot be said.

    Example:
        >>> item_spans(b'[{"a": NaN}, {"b":[1,2]}]')
        [b'{"a": NaN}', b'{"b":[1,2]}']
    """
    return _parts(text, b"[")


def field_spans(text: bytes) -> dict[str, bytes]:
    """Return the text of each field of an object; of two of one name, the last.

    Raises:
        ValueError: The text is no object, or where its fields end cannot be said.
    """
    return dict(named_spans(text))


def named_spans(text: bytes) -> list[tuple[str, bytes]]:
    """Return the name and text of each field of an object, in their order; see `field_spans`."""
    return [_named(part) for part in _parts(text, b"{")]


def on_one_line(text: bytes) -> bytes:
    """Return a JSON text, or what should be one, without line breaks.

    Between tokens they are blanks. Within a string they are not allowed in JSON; as vertical tabs
    they are not either.
    """
    within = re.compile(STRING, re.DOTALL).sub(
        lambda found: re.sub(rb"[\r\n]", b"\v", found[0]), text
    )
    return re.sub(rb"[\r\n]+[ \t\r\n]*", b" ", within)


def _named(part: bytes) -> tuple[str, bytes]:
    found = _NAME.match(part)
    value = part[found.end() :].strip(_BLANK) if found else b""
    if not found or not value:
        raise ValueError("a field without name or value")
    return name_of(found[1]), value


def name_of(text: bytes) -> str:
    """Return the name that a JSON string is; bytes that are not UTF-8 become halves of pairs."""
    name: str = json.loads(text.decode("utf-8", _SURROGATES), strict=False)
    return name


def name_as_text(name: str) -> bytes:
    """Return a name as a JSON string; see `name_of`."""
    try:
        return msgspec.json.encode(name)
    except UnicodeEncodeError:
        return json.dumps(name, ensure_ascii=False).encode("utf-8", _SURROGATES)


def _parts(text: bytes, opening: bytes) -> list[bytes]:
    """Return the parts between the commas of the outermost brackets."""
    text = text.removeprefix(BYTE_ORDER_MARK.encode()).strip(_BLANK)
    if not text.startswith(opening):
        raise ValueError(f"begins with {text[:1]!r}, not with {opening.decode()}")
    stack, parts, start = [opening], list[bytes](), 1
    for found in MARK.finditer(text, 1):
        mark = found[0]
        if mark in (b"[", b"{"):
            stack.append(mark)
        elif mark in _CLOSES:
            if stack.pop() != _CLOSES[mark]:
                raise ValueError(f"brackets do not match at byte {found.start()}")
            if not stack:
                _end(text, found.end())
                return _stripped(parts, text[start : found.start()])
        elif mark == b"," and len(stack) == 1:
            parts.append(text[start : found.start()])
            start = found.end()
        elif mark == b'"':
            raise ValueError(f"a string does not end, at byte {found.start()}")
    raise ValueError("the text ends early")


def _end(text: bytes, at: int) -> None:
    if at < len(text):
        raise ValueError(f"something follows the end, at byte {at}")


def _stripped(parts: list[bytes], last: bytes) -> list[bytes]:
    found = [part.strip(_BLANK) for part in (*parts, last)]
    if found == [b""]:
        return []
    if not all(found):
        raise ValueError("a comma too many")
    return found
