"""The records of a large answer, read from its file."""

from collections.abc import Iterator
from dataclasses import replace
from typing import BinaryIO

from lakekit.contract.contract import Contract
from lakekit.contract.endpoint.answer import CsvAnswers, NdjsonAnswers, XmlAnswers
from lakekit.contract.endpoint.paths import Every, path_steps
from lakekit.csv_records import Dialect, csv_records
from lakekit.extract.client import Answer
from lakekit.extract.json_text import JsonText, UnreadableError, items_of
from lakekit.extract.large import LargeRecords, split_large
from lakekit.extract.payload import MOST_BEFORE, is_packed, unpacked
from lakekit.extract.records import (
    MARKUP,
    Content,
    below,
    checked_dialect,
    read_content,
    refuse_errors,
)
from lakekit.json_text.lines import BLANK, bounded_lines, read_fields

_BLANK = BLANK.encode()


def read_large_content(answer: Answer, file: BinaryIO, contract: Contract) -> Content:
    """Return what is in the file of an answer; see `read_content`.

    Records of a list of JSON, lines and rows are read one by one. Anything else is read whole.
    """
    response, endpoint = contract.endpoint.response, contract.endpoint
    file = unpacked(file)
    begin = file.read(MOST_BEFORE)
    file.seek(0)
    steps = path_steps(endpoint.records)
    cut = steps.index(Every) if Every in steps else len(steps)
    names = [step for step in steps[:cut] if isinstance(step, str)]
    is_list = endpoint.shape == "list" and len(names) == cut
    if is_packed(begin, answer, response.charset) or not (
        isinstance(response, CsvAnswers | NdjsonAnswers)
        or (is_list and not isinstance(response, XmlAnswers))
    ):
        return read_content(replace(answer, body=file.read(), large=None), contract)
    if begin.lstrip(_BLANK)[:1] == b"<":
        raise UnreadableError(f"{MARKUP}; it should be {response.format}")
    if isinstance(response, CsvAnswers):
        dialect = checked_dialect(file, response, contract)
        return Content(LargeRecords(lambda: _large_rows(file, dialect, contract)), None)
    if isinstance(response, NdjsonAnswers):
        return Content(LargeRecords(lambda: below(_large_lines(file), steps[1:])), None)
    around, records = split_large(
        replace(answer, large=file), names, lambda text: [*below(items_of(text), steps[cut + 1 :])]
    )
    found = JsonText(around.body)
    refuse_errors(found, endpoint)
    return Content(records, found)


def _large_rows(file: BinaryIO, dialect: Dialect, contract: Contract) -> Iterator[bytes]:
    file.seek(0)
    yield from csv_records(file, contract, dialect)


def _large_lines(file: BinaryIO) -> Iterator[bytes]:
    file.seek(0)
    for line in bounded_lines(file):
        if text := line.strip(_BLANK):
            if not line.endswith(b"\n") and read_fields(text) is None:
                raise UnreadableError("the last line of the answer is cut")
            yield text
