"""XML as JSON: a small text as a whole, a large one some records at a time."""

from collections.abc import Iterator, Sequence
from typing import Any
from xml.parsers import expat

import msgspec

from lakekit.contract.sqltypes import SqlType
from lakekit.csv_records import json_value
from lakekit.errors import SourceShapeError
from lakekit.extract.content.json_paths import UnreadableError
from lakekit.extract.content.payload import Open, ranges_of
from lakekit.json_text.stream import WINDOW

# Of one record of XML, and of all that is no record: its elements take many times their text.
MOST_XML = 2 * 1024 * 1024
_CHUNK = 64 * 1024
# Around some records, so that they are one text.
_WRAP = "records"


def xml_as_json(text: bytes, *, encoding: str | None = None) -> bytes:
    """Return an XML text as JSON.

    An element is an object of its attributes (with @ in front of the name) and its elements; one
    without any is its text, or null if it has none. An element that is there several times is a
    list. Text with elements around it is under `#text`. All values are texts.

    Args:
        text: The XML.
        encoding: Its charset, whatever it says itself.

    Raises:
        UnreadableError: It is not XML.
        SourceShapeError: It has entities of its own, which can be made to fill the memory.
    """
    return _encoded(_parsed(text, encoding))


def _encoded(value: Any) -> bytes:
    try:
        return msgspec.json.encode(value)
    except RecursionError:
        raise _too_deep() from None


def _parsed(text: bytes, encoding: str | None) -> Any:
    import xmltodict  # noqa: PLC0415 - only what extracts pays for it

    try:
        return xmltodict.parse(text, encoding=encoding, disable_entities=True)
    except expat.ExpatError as error:
        raise _not_xml(error) from None
    except ValueError as error:
        raise _not_read(error) from None
    except RecursionError:
        raise _too_deep() from None


def _too_deep() -> SourceShapeError:
    return SourceShapeError("the answer is XML with too many levels")


def _not_xml(error: Exception) -> UnreadableError:
    return UnreadableError(f"the answer is not XML: {error}")


def _not_read(error: Exception) -> SourceShapeError:
    return SourceShapeError(f"the answer is XML that is not read: {error}")


def typed_record(value: Any, types: dict[str, SqlType]) -> bytes:
    """Return the JSON text of a record of XML, with the types of its columns."""
    if not isinstance(value, dict):
        return _encoded(value)
    return _encoded(
        {name: typed(each, types[name]) if name in types else each for name, each in value.items()}
    )


def typed(value: Any, kind: SqlType) -> Any:
    """Return a value of XML as JSON of a type, as far as it can be that."""
    if kind.name == "array" and value is not None:
        items = value if isinstance(value, list) else [value]
        return [typed(item, kind.fields[0][1]) for item in items]
    if kind.name == "struct" and isinstance(value, dict):
        parts = dict(kind.fields)
        return {name: typed(each, parts[name]) if name in parts else each
                for name, each in value.items()}  # fmt: skip
    return json_value(value, kind) if isinstance(value, str) else value


class LargeXml:
    """The elements at one path of a text, whose places are found once.

    encoding: of the text. is_found: whether there are any.
    """

    def __init__(self, open_: Open, names: Sequence[str], encoding: str | None) -> None:
        """Find them.

        Raises:
            UnreadableError: The text is not XML.
            SourceShapeError: A record, or what is around them, is longer than it may be; the path
                leads through several elements of one name; or there are entities.
        """
        self._open, self._name = open_, names[-1]
        found = _Places(names, encoding)
        found.read(open_())
        self._windows, self.encoding = found.windows, encoding or found.encoding
        self._size = found.size

    @property
    def is_found(self) -> bool:
        """Whether there are any."""
        return bool(self._windows)

    def around(self) -> bytes:
        """Return the text without them."""
        ends = [0, *(end for _, end in self._windows)]
        begins = [*(begin for begin, _ in self._windows), self._size]
        return b"".join(ranges_of(self._open, list(zip(ends, begins, strict=True))))

    def batches(self) -> Iterator[list[Any]]:
        """Yield them as values of JSON, some at a time."""
        for text in ranges_of(self._open, self._windows):
            wrap = _WRAP.encode()
            whole = _parsed(b"<%b>%b</%b>" % (wrap, text, wrap), self.encoding)
            found = whole[_WRAP][self._name]
            yield found if isinstance(found, list) else [found]


class _Places:
    """The places of the elements at a path, as windows from the begin of one to that of another."""

    def __init__(self, names: Sequence[str], encoding: str | None) -> None:
        self.windows: list[tuple[int, int]] = []
        self.encoding = encoding
        self.size = self._inside = 0
        self._names = names
        self._depth = self._matched = 0
        self._is_passed = [False] * len(names)
        # Where the open window begins, and its last element.
        self._begin: int | None = None
        self._element = 0
        self._parser = expat.ParserCreate(encoding)
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.XmlDeclHandler = self._declare
        self._parser.EntityDeclHandler = self._refuse_entity

    def read(self, file: Any) -> None:
        """Read the whole text."""
        try:
            while block := file.read(_CHUNK):
                self.size += len(block)
                self._parser.Parse(block, False)
                self._refuse_large()
            self._parser.Parse(b"", True)
        except expat.ExpatError as error:
            raise _not_xml(error) from None
        if self.size - self._inside > MOST_XML:
            raise _too_large()

    def _declare(self, _version: str, encoding: str | None, _standalone: int) -> None:
        self.encoding = self.encoding or encoding

    def _refuse_entity(self, *_: Any) -> None:
        raise _not_read(ValueError("entities are disabled"))

    def _start(self, name: str, _attributes: Any) -> None:
        names, depth = self._names, self._depth
        if depth == self._matched < len(names):
            is_record = depth == len(names) - 1 and name == names[-1]
            if depth == len(names) - 1:
                self._between(is_record=is_record)
            if name == names[depth]:
                if not is_record and self._is_passed[depth]:
                    raise SourceShapeError(f"the answer has several elements {name} around records")
                self._is_passed[depth] = True
                self._matched += 1
        self._depth += 1

    def _end(self, _name: str) -> None:
        self._depth -= 1
        if self._depth == len(self._names) - 2 and self._matched == len(self._names) - 1:
            self._between(is_record=False)
        self._matched = min(self._matched, self._depth)

    def _between(self, *, is_record: bool) -> None:
        """Note that a child of the element around the records begins, or that this one ends."""
        place = self._parser.CurrentByteIndex
        if self._begin is not None and (not is_record or place - self._begin >= WINDOW):
            self.windows.append((self._begin, place))
            self._inside += place - self._begin
            self._begin = None
        if is_record:
            self._element = place
            self._begin = place if self._begin is None else self._begin

    def _refuse_large(self) -> None:
        is_within = self._begin is not None
        outside = self.size - self._inside - (self.size - self._begin if is_within else 0)  # type: ignore[operator]
        if outside > MOST_XML or (is_within and self.size - self._element > MOST_XML + _CHUNK):
            raise _too_large()


def _too_large() -> SourceShapeError:
    return SourceShapeError(
        f"the answer is XML with a record of more than {MOST_XML >> 20} MiB, or more than that "
        "around its records; ask for less at once"
    )
