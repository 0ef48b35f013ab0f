"""The records of an answer, each as the text it came with."""

import io
from collections.abc import Callable, Iterable, Iterator
from typing import IO, Any

import msgspec

from lakekit.contract.contract import Contract
from lakekit.contract.endpoint import Endpoint
from lakekit.contract.endpoint.answer import CsvAnswers, NdjsonAnswers, XmlAnswers
from lakekit.contract.endpoint.paths import Every, path_of, path_steps
from lakekit.contract.sqltypes import SqlType
from lakekit.csv_records import Dialect, csv_header, csv_records
from lakekit.errors import SourceShapeError
from lakekit.extract.client import Answer
from lakekit.extract.content.json_paths import (
    JsonText,
    Steps,
    UnreadableError,
    is_empty,
    is_json,
    kind_of,
    value_of,
    values_along,
)
from lakekit.extract.content.large import Batches, LargeRecords, Records, in_batches
from lakekit.extract.content.large_json import ElsewhereError, split_json
from lakekit.extract.content.payload import Text, texts_of
from lakekit.extract.content.xml_text import MOST_XML, LargeXml, typed_record, xml_as_json
from lakekit.extract.http.bodies import MEGABYTE
from lakekit.json_text.lines import BLANK, LONGEST_LINE, bounded_lines, read_fields
from lakekit.json_text.spans import name_as_text

_BLANK = BLANK.encode()
# Of a text of which all records are in memory at once; they take many times as much.
MOST_AT_ONCE = MEGABYTE


class Content:
    """What an answer holds: its records, and the JSON around them if there is any."""

    def __init__(self, records: Records, text: JsonText | None) -> None:
        self.records = records
        self.text = text

    @property
    def last(self) -> bytes:
        """The last record."""
        return (
            self.records.tally.last if isinstance(self.records, LargeRecords) else self.records[-1]
        )

    def at(self, path: str) -> bytes | None:
        """Return the text of the value at a path, or None if there is none."""
        return self.text.at(path_steps(path)) if self.text else None

    def value(self, path: str) -> Any:
        """Return the value at a path; None if it is null or absent."""
        return value_of(self.at(path), path)


def read_content(answer: Answer, contract: Contract, most: int) -> Content:
    """Return what an answer holds, by the endpoint of a contract.

    Args:
        answer: What came.
        contract: Of the endpoint.
        most: The most bytes that the answer may have, unpacked.

    Raises:
        UnreadableError: It is not of the format that is declared; it may have been cut.
        SourceShapeError: It lacks its records, says that it is an error, or is too large.
    """
    texts = texts_of(answer, most, contract.endpoint.response.charset)
    if not texts:
        raise UnreadableError("the answer is an archive without a file")
    if len(texts) == 1:
        content = _content(texts[0], contract)
    else:
        content = Content(LargeRecords(lambda: _of_all(texts, contract)), None)
    len(content.records)  # what cannot be read shows here, before a record is landed
    return content


def _of_all(texts: list[Text], contract: Contract) -> Batches:
    for text in texts:
        records = _content(text, contract).records
        yield from records.batches() if isinstance(records, LargeRecords) else [records]


def _content(text: Text, contract: Contract) -> Content:
    """Return what one text holds: its records in memory, unless it is large."""
    response = contract.endpoint.response
    begin = text.open().read(MOST_AT_ONCE + 1)
    if not isinstance(response, XmlAnswers) and begin.lstrip(_BLANK)[:1] == b"<":
        raise UnreadableError(f"the answer begins with '<', as HTML and XML do; it should be "
                              f"{response.format}")  # fmt: skip
    if len(begin) <= MOST_AT_ONCE:
        return _small(begin, text, contract)
    if isinstance(response, CsvAnswers):
        dialect = checked_dialect(text.open(), response, contract)
        return _streamed(lambda: in_batches(csv_records(text.open(), contract, dialect)))
    if isinstance(response, NdjsonAnswers):
        rest = path_steps(contract.endpoint.records)[1:]
        return _streamed(lambda: in_batches(below(_lines(text.open()), rest)))
    try:
        if isinstance(response, XmlAnswers):
            return _large_xml(text, contract)
        return _large_json(text, contract)
    except ElsewhereError as error:
        return _whole(text, contract, str(error))


def _streamed(read: Callable[[], Batches]) -> Content:
    return Content(LargeRecords(read), None)


def _whole(text: Text, contract: Contract, why: str) -> Content:
    """Return what a text holds that has no list of records, and so is no large one."""
    most = MOST_XML if isinstance(contract.endpoint.response, XmlAnswers) else LONGEST_LINE
    whole = text.open().read(most + 1)
    if len(whole) > most:
        raise SourceShapeError(
            f"an answer of more than {most >> 20} MiB must have its records in a list, a map by "
            f"id, lines, rows or elements of XML: {why}"
        )
    return _small(whole, text, contract)


def _large_json(text: Text, contract: Contract) -> Content:
    endpoint, (steps, rest) = contract.endpoint, _list_steps(contract.endpoint)
    if endpoint.shape == "object":
        raise ElsewhereError("shape is object")
    if endpoint.shape == "map":
        key = endpoint.map_key
        found, records = split_json(
            text.open, steps, lambda each: [_entry(n, v, key) for n, v in each.items()], b"{}"
        )
    else:
        found, records = split_json(text.open, steps, lambda each: [*below(each, rest)], b"[]")
    refuse_errors(found, endpoint)
    return Content(records, found)


def _large_xml(text: Text, contract: Contract) -> Content:
    endpoint, (steps, rest) = contract.endpoint, _list_steps(contract.endpoint)
    names = [step for step in steps if isinstance(step, str)]
    if endpoint.shape != "list" or not names or len(names) < len(steps):
        raise ElsewhereError(f"shape is {endpoint.shape}, or a step of {endpoint.records} a number")
    large = LargeXml(text.open, names, text.encoding)
    if not large.is_found:
        raise ElsewhereError(f"{endpoint.records} is absent")
    found = JsonText(xml_as_json(large.around(), encoding=text.encoding))
    types = contract.field_types
    refuse_errors(found, endpoint)
    return Content(LargeRecords(lambda: _typed_batches(large, rest, types)), found)


def _typed_batches(large: LargeXml, rest: Steps, types: dict[str, SqlType]) -> Batches:
    for items in large.batches():
        if rest:
            found = below(map(msgspec.json.encode, items), rest)
            yield [typed_record(msgspec.json.decode(each), types) for each in found]
        else:
            yield [typed_record(item, types) for item in items]


def _list_steps(endpoint: Endpoint) -> tuple[Steps, Steps]:
    """Return the way to the list of records, and from there to a record."""
    steps = path_steps(endpoint.records)
    cut = steps.index(Every) if Every in steps else len(steps)
    return steps[:cut], steps[cut + 1 :]


def _small(body: bytes, text: Text, contract: Contract) -> Content:
    """Return what a text in memory holds."""
    response, endpoint = contract.endpoint.response, contract.endpoint
    if isinstance(response, NdjsonAnswers):
        lines = _lines(io.BytesIO(body))
        return Content([*below(lines, path_steps(endpoint.records)[1:])], None)
    if not body.strip(_BLANK):
        raise UnreadableError("the answer is empty")
    if isinstance(response, CsvAnswers):
        dialect = checked_dialect(io.BytesIO(body), response, contract)
        return Content([*csv_records(io.BytesIO(body), contract, dialect)], None)
    is_xml = isinstance(response, XmlAnswers)
    found = JsonText(xml_as_json(body, encoding=text.encoding) if is_xml else body)
    refuse_errors(found, endpoint)
    records = cut_records(found, endpoint, one_is_a_list=is_xml)
    if is_xml:
        types = contract.field_types
        records = [typed_record(msgspec.json.decode(each), types) for each in records]
    return Content(records, found)


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
    above, rest = _list_steps(endpoint)
    found = text.at(above)
    if found is None or found == b"null":
        if endpoint.absent_records == "empty":
            return []
        raise SourceShapeError(_absence(text, above))
    if one_is_a_list and kind_of(found) != "a list":
        return [*below([found], rest)]
    if endpoint.shape == "list":
        return [*below(text.items(above), rest)] if rest else text.items(above)
    if kind_of(found) != "an object":
        raise SourceShapeError(f"{endpoint.records} is {kind_of(found)}, not an object")
    if endpoint.shape == "object":
        return [found]
    return [_entry(name, value, endpoint.map_key) for name, value in text.fields(above).items()]


def below(items: Iterable[bytes], steps: Steps) -> Iterator[bytes]:
    """Yield what is below each item of a list; an item that is not JSON as it is."""
    if not steps:
        yield from items
        return
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
    return b'{%b:%b,"value":%b}' % (name_as_text(key), name_as_text(name), value)


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


def _lines(stream: IO[bytes]) -> Iterator[bytes]:
    for line in bounded_lines(stream):
        if text := line.strip(_BLANK):
            if not line.endswith(b"\n") and read_fields(text) is None:
                raise UnreadableError("the last line of the answer is cut")
            yield text


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
