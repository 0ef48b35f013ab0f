"""The records of an answer, each as the text it came with."""

import io
from collections.abc import Iterable, Iterator
from typing import IO, Any
from xml.parsers.expat import ExpatError

import msgspec

from lakekit.contract.contract import Contract
from lakekit.contract.endpoint import Endpoint
from lakekit.contract.endpoint.answer import CsvAnswers, NdjsonAnswers, XmlAnswers
from lakekit.contract.endpoint.paths import Every, path_of, path_steps
from lakekit.contract.sqltypes import SqlType
from lakekit.csv_records import Dialect, csv_header, csv_records, json_value
from lakekit.errors import SourceShapeError
from lakekit.extract.client import Answer
from lakekit.extract.json_text import (
    JsonText,
    Steps,
    UnreadableError,
    is_empty,
    is_json,
    kind_of,
    value_of,
    values_along,
)
from lakekit.extract.large import LargeRecords
from lakekit.extract.payload import Text, texts_of
from lakekit.json_text.lines import BLANK, read_fields

_BLANK = BLANK.encode()
MARKUP = "the answer begins with '<', as HTML and XML do"


Records = list[bytes] | LargeRecords


class Content:
    """What an answer holds: its records, and the JSON around them if there is any."""

    def __init__(self, records: Records, text: JsonText | None) -> None:
        self.records = records
        self.text = text

    @property
    def last(self) -> bytes:
        """The last record."""
        return self.records.last if isinstance(self.records, LargeRecords) else self.records[-1]

    def at(self, path: str) -> bytes | None:
        """Return the text of the value at a path, or None if there is none."""
        return self.text.at(path_steps(path)) if self.text else None

    def value(self, path: str) -> Any:
        """Return the value at a path; None if it is null or absent."""
        return value_of(self.at(path), path)


def read_content(answer: Answer, contract: Contract) -> Content:
    """Return what an answer holds, by the endpoint of a contract.

    Raises:
        UnreadableError: It is not of the format that is declared; it may have been cut.
        SourceShapeError: It lacks its records, or says that it is an error.
    """
    endpoint = contract.endpoint
    texts = [*texts_of(answer, endpoint.response.charset)]
    may_be_empty = isinstance(endpoint.response, NdjsonAnswers)
    if not may_be_empty and not all(text.body.strip(_BLANK) for text in texts):
        raise UnreadableError("the answer is empty")
    contents = [_content(text, contract) for text in texts]
    records = [record for each in contents for record in each.records]
    return Content(records, contents[0].text if len(contents) == 1 else None)


def _content(part: Text, contract: Contract) -> Content:
    response, endpoint, text = contract.endpoint.response, contract.endpoint, part.body
    if not isinstance(response, XmlAnswers) and text.lstrip(_BLANK)[:1] == b"<":
        raise UnreadableError(f"{MARKUP}; it should be {response.format}")
    if isinstance(response, CsvAnswers):
        return Content(_rows(text, response, contract), None)
    if isinstance(response, NdjsonAnswers):
        return Content([*below(_lines(text), path_steps(endpoint.records)[1:])], None)
    if isinstance(response, XmlAnswers):
        found = JsonText(xml_as_json(text, is_utf8=part.is_decoded))
        refuse_errors(found, endpoint)
        items = cut_records(found, endpoint, one_is_a_list=True)
        types = contract.field_types
        return Content([_typed_record(item, types) for item in items], found)
    found = JsonText(text)
    refuse_errors(found, endpoint)
    return Content(cut_records(found, endpoint), found)


def cut_records(text: JsonText, endpoint: Endpoint, *, one_is_a_list: bool = False) -> list[bytes]:
    """Return the text of each record.

    Args:
        text: The answer.
        endpoint: Where its records are.
        one_is_a_list: Whether a single object where the list should be is the only record, as XML
            cannot show the difference.

    Raises:
        SourceShapeError: The path is absent, or leads to something else than the contract says.
    """
    steps = path_steps(endpoint.records)
    cut = steps.index(Every) if Every in steps else len(steps)
    above, rest = steps[:cut], steps[cut + 1 :]
    found = text.at(above)
    if found is None or found == b"null":
        if endpoint.absent_records == "empty":
            return []
        raise SourceShapeError(_absence(text, above))
    if one_is_a_list and kind_of(found) != "a list":
        return [found]
    if endpoint.shape == "list":
        return [*below(text.items(above), rest)] if rest else text.items(above)
    if kind_of(found) != "an object":
        raise SourceShapeError(f"{endpoint.records} is {kind_of(found)}, not an object")
    if endpoint.shape == "object":
        return [found]
    return [_entry(name, value, endpoint.map_key) for name, value in text.fields(above).items()]


def below(items: Iterable[bytes], steps: Steps) -> Iterator[bytes]:
    """Yield what is below each item of a list; an item that is not JSON as it is."""
    for item in items:
        try:
            found = [*values_along(item, steps)]
        except (SourceShapeError, UnreadableError):
            if is_json(item):
                raise
            found = [item]  # the merge rejects it with its text
        yield from found


def _entry(name: str, value: bytes, key: str | None) -> bytes:
    if key is None:
        return value
    return b'{%b:%b,"value":%b}' % (msgspec.json.encode(key), msgspec.json.encode(name), value)


def _absence(text: JsonText, steps: Steps) -> str:
    """Say which part of a path is missing, and how to declare it."""
    path = path_of(steps)
    for end in range(1, len(steps) + 1):
        value = text.at(steps[:end])
        if value is None or value == b"null":
            what = "null" if value else "absent"
            at = path_of(steps[:end])
            where = at if at == path else f"{at}, on the way to {path},"
            return f"{where} is {what} in the answer; absent_records: empty takes it for no records"
    return f"{path} is null in the answer"


def _lines(text: bytes) -> list[bytes]:
    lines = [line for each in text.split(b"\n") if (line := each.strip(_BLANK))]
    if lines and not text.endswith(b"\n") and read_fields(lines[-1]) is None:
        raise UnreadableError("the last line of the answer is cut")
    return lines


def _rows(text: bytes, response: CsvAnswers, contract: Contract) -> list[bytes]:
    dialect = checked_dialect(io.BytesIO(text), response, contract)
    return [*csv_records(io.BytesIO(text), contract, dialect)]


def checked_dialect(stream: IO[bytes], response: CsvAnswers, contract: Contract) -> Dialect:
    """Return the dialect of a CSV text whose header is that of the contract."""
    dialect = Dialect(response.delimiter, response.quote, response.columns)
    header = csv_header(stream, dialect)
    known = contract.field_types
    # An error, or another delimiter, would be a header without rows.
    if absent := [key for key, *_ in contract.key_steps if key not in header]:
        raise SourceShapeError(f"the header of the CSV lacks {', '.join(absent)}; it has {header}")
    if not known.keys() & header:
        raise SourceShapeError(f"the header of the CSV has no column of the contract: {header}")
    return dialect


def refuse_errors(text: JsonText, endpoint: Endpoint) -> None:
    """Refuse an answer that has errors where it should have none."""
    paths = [*endpoint.errors]
    if endpoint.body and endpoint.body.graphql:
        paths.append("$.errors")
    for path in paths if kind_of(text.text) == "an object" else ():
        found = text.at(path_steps(path))
        if found is not None and not is_empty(found):
            shown = found[:200].decode(errors="replace")
            raise SourceShapeError(f"the answer has errors under {path}: {shown}")


def xml_as_json(text: bytes, *, is_utf8: bool = False) -> bytes:
    """Return an XML text as JSON.

    An element is an object of its attributes (with @ in front of the name) and its elements; one
    without any is its text, or null if it has none. An element that is there several times is a
    list. Text with elements around it is under `#text`. All values are texts.

    Args:
        text: The XML.
        is_utf8: Whether it is UTF-8, whatever it says itself.

    Raises:
        UnreadableError: It is not XML.
        SourceShapeError: It has entities of its own, which can be made to fill the memory.
    """
    import xmltodict  # noqa: PLC0415 - only what extracts pays for it

    encoding = "utf-8" if is_utf8 else None
    try:
        return msgspec.json.encode(xmltodict.parse(text, encoding=encoding, disable_entities=True))
    except ExpatError as error:
        raise UnreadableError(f"the answer is not XML: {error}") from None
    except ValueError as error:
        raise SourceShapeError(f"the answer is XML that is not read: {error}") from None
    except RecursionError:
        raise SourceShapeError("the answer is XML with too many levels") from None


def _typed_record(record: bytes, types: dict[str, SqlType]) -> bytes:
    fields = msgspec.json.decode(record)
    if not isinstance(fields, dict):
        return record
    return msgspec.json.encode(
        {name: typed(value, types[name]) if name in types else value
         for name, value in fields.items()}
    )  # fmt: skip


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
