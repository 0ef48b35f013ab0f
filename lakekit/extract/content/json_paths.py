"""A JSON text by its paths: values are cut out of it, never parsed and printed again."""

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

import msgspec

from lakekit.contract.endpoint.paths import Every, Step, path_of
from lakekit.errors import SourceShapeError
from lakekit.json_text import stream
from lakekit.json_text.lines import BLANK, BYTE_ORDER_MARK
from lakekit.json_text.spans import name_as_text, named_spans

_BLANK = BLANK.encode()
_ANY = msgspec.json.Decoder(msgspec.Raw)
_KINDS = {b"{": "an object", b"[": "a list", b'"': "a text", b"n": "null"}
_UNREADABLE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
# Names of an object, up to which counting each is faster than to cut it by its brackets.
MOST_COUNTED = 100
Steps = tuple[Step | type[Every], ...]


class UnreadableError(ValueError):
    """What came is not of the form that is declared; it may have been cut on its way."""


def kind_of(text: bytes) -> str:
    """Return what a JSON text is: `an object`, `a list`, `a text`, `null`, `a value`."""
    return _KINDS.get(text[:1], "a value")


def is_empty(text: bytes) -> bool:
    """Say whether a JSON text is null, false, 0, or holds nothing."""
    if text[:1] in (b"{", b"["):
        return not text[1:-1].strip(_BLANK)
    return text in (b"null", b"false", b"0", b'""')


def is_json(text: bytes) -> bool:
    """Say whether a text is JSON that a strict parser reads."""
    try:
        _ANY.decode(text)
    except _UNREADABLE:
        return False
    return True


class JsonText:
    """The JSON text of an answer.

    Its objects and lists are taken apart once each, and only those on the way to what is asked for.
    A value that is not JSON, such as NaN, is part of it as it was received.
    """

    def __init__(self, text: bytes) -> None:
        """Take a text.

        Raises:
            UnreadableError: Where its values begin and end cannot be said.
        """
        self.text = text.removeprefix(BYTE_ORDER_MARK.encode()).strip(_BLANK)
        self._fields: dict[Steps, dict[str, bytes]] = {}
        self._items: dict[Steps, list[bytes]] = {}
        self._doubles: dict[Steps, set[str]] = {}
        if self.text.startswith(b"{"):
            self.fields(())
        elif self.text.startswith(b"["):
            self.items(())
        elif not self.text:
            raise UnreadableError("the answer is empty")
        elif not is_json(self.text):
            raise UnreadableError("the answer is not JSON: neither an object nor a list")

    def at(self, steps: Steps) -> bytes | None:
        """Return the text of the value at a path without [*], or None if there is none.

        Raises:
            SourceShapeError: The path leads through what is no object or list, or a name on it is
                there twice.
        """
        if not steps:
            return self.text
        above, step = steps[:-1], steps[-1]
        parent = self.at(above)
        if parent is None or parent == b"null":
            return None
        if isinstance(step, int):
            items = self.items(above)
            return items[step] if step < len(items) else None
        return self.field(above, str(step))

    def field(self, above: Steps, name: str) -> bytes | None:
        """Return the text of one field of the object at a path."""
        if above not in self._doubles:
            self._doubles[above] = _doubled_names(self.at(above) or b"", self.fields(above))
        if name in self._doubles[above]:
            raise SourceShapeError(f"the answer has {path_of((*above, name))} twice")
        return self.fields(above).get(name)

    def fields(self, steps: Steps) -> dict[str, bytes]:
        """Return the text of each field of the object at a path."""
        if steps not in self._fields:
            text = self._of_kind(steps, "an object")
            self._fields[steps] = fields_of(text)
        return self._fields[steps]

    def items(self, steps: Steps) -> list[bytes]:
        """Return the text of each item of the list at a path."""
        if steps not in self._items:
            self._items[steps] = items_of(self._of_kind(steps, "a list"))
        return self._items[steps]

    def _of_kind(self, steps: Steps, kind: str) -> bytes:
        text = self.at(steps) or b"null"
        if kind_of(text) != kind:
            raise SourceShapeError(f"{path_of(steps)} is {kind_of(text)}, not {kind}")
        return text


def fields_of(text: bytes) -> dict[str, bytes]:
    """Return the text of each field of an object.

    Raises:
        UnreadableError: Where they begin and end cannot be said.
    """
    try:
        return stream.fields_of(text)
    except ValueError as error:
        raise not_json(error) from None


def items_of(text: bytes) -> list[bytes]:
    """Return the text of each item of a list; see `fields_of`."""
    try:
        return stream.items_of(text)
    except ValueError as error:
        raise not_json(error) from None


def not_json(why: object) -> UnreadableError:
    """Return the error of an answer that is not JSON."""
    return UnreadableError(f"the answer is not JSON: {why}")


def value_of(text: bytes | None, path: str) -> Any:
    """Return a value that was cut out, for what is decided by it; absent is None.

    Raises:
        SourceShapeError: It is not JSON.
    """
    if text is None:
        return None
    try:
        text.decode()
        _ANY.decode(text)
        # Not by msgspec, which refuses numbers beyond a double.
        return json.loads(text)
    except (*_UNREADABLE, ValueError):
        raise SourceShapeError(f"{path} is not JSON") from None


def values_along(text: bytes, steps: Steps) -> Iterator[bytes]:
    """Yield the values at a path with [*] below one record or list.

    Raises:
        SourceShapeError: A value on the path is absent, or is no object or list.
    """
    if not steps:
        yield text
        return
    step, rest = steps[0], steps[1:]
    if isinstance(step, str):
        found = fields_of(text).get(step) if kind_of(text) == "an object" else None
        if found is None:
            raise SourceShapeError(f"{kind_of(text)} in the records has no '{step}'")
        yield from values_along(found, rest)
    elif kind_of(text) != "a list":
        raise SourceShapeError(f"{path_of(steps)} below the records is {kind_of(text)}, no list")
    elif isinstance(step, int):
        items = items_of(text)
        if step >= len(items):
            raise SourceShapeError(f"a list in the records has no item {step}")
        yield from values_along(items[step], rest)
    else:
        for item in items_of(text):
            yield from values_along(item, rest)


def _doubled_names(text: bytes, fields: dict[str, bytes]) -> set[str]:
    """Return the names that an object has twice: a parser keeps the last value alone."""
    written = sum(len(name_as_text(each)) + len(value) for each, value in fields.items())
    if len(text) == written + 2 * len(fields) + 1:  # with colons, commas and brackets
        return set()
    around = _without_largest(text, fields)
    # Unless a name is written with escapes, it is around the largest value as often as it is there.
    if (
        len(fields) < MOST_COUNTED
        and b"\\u" not in around
        and all(around.count(name_as_text(name)) == 1 for name in fields)
    ):
        return set()
    names = Counter(name for name, _ in named_spans(text))
    return {name for name, times in names.items() if times > 1}


def _without_largest(text: bytes, fields: dict[str, bytes]) -> bytes:
    """Return an object without the text of its largest value, which is that of its records."""
    largest = max(fields.values(), key=len, default=b"")
    at = text.find(largest[:100])
    end = at + len(largest)
    return text[:at] + text[end:] if text[at:end] == largest else text
