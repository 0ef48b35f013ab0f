"""Which format an answer has: JSON, NDJSON, CSV or XML, whatever its Content-Type says."""

import csv
import io
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from lakekit.csv_records import Dialect, csv_rows
from lakekit.errors import SourceShapeError
from lakekit.extract import Answer
from lakekit.extract.content.json_paths import JsonText, UnreadableError
from lakekit.extract.content.payload import charset_of, texts_of
from lakekit.extract.content.xml_text import xml_as_json
from lakekit.json_text.lines import BLANK, read_fields

_DELIMITERS = (",", ";", "\t", "|")
_MOST_ROWS = 50
# Of an answer, unpacked: it is looked at whole.
_MOST_BYTES = 64_000_000
_VALUE = re.compile(r"\s*|[-+]?[\d.,]+|\d{4}-\d\d-\d\d.*|true|false", re.IGNORECASE)


@dataclass(frozen=True)
class Form:
    """The format of an answer, what shows it, and its text in UTF-8.

    response: the section of a contract. json: its JSON, or that of XML. lines: those of NDJSON.
    rows: those of CSV by their columns.
    """

    response: dict[str, Any]
    saw: str
    json: JsonText | None = None
    lines: list[bytes] = field(default_factory=list)
    rows: list[dict[str, str]] = field(default_factory=list)

    @property
    def name(self) -> str:
        """The format."""
        return str(self.response["format"])

    @property
    def is_text(self) -> bool:
        """Whether all values are texts, as in CSV and XML."""
        return self.name in ("csv", "xml")


def form_of(answer: Answer, given: Mapping[str, Any] | None = None) -> Form:
    """Return the format of an answer.

    Args:
        answer: What came.
        given: Fields of `response` that a person has chosen: a charset, and the dialect of CSV.

    Raises:
        SourceShapeError: It is none of those that are read.
    """
    chosen, kind = given or {}, answer.headers.get("Content-Type") or ""
    is_known = "charset" in chosen or charset_of(kind) or _is_utf8(answer.body)
    charset = {} if is_known else {"charset": "windows-1252"}
    texts = texts_of(answer, _MOST_BYTES, chosen.get("charset") or charset.get("charset"))
    text = texts[0].open().read() if texts else b""
    begin = text.removeprefix(b"\xef\xbb\xbf").lstrip(BLANK.encode())
    if not begin:
        raise SourceShapeError("the answer is empty")
    form = _form(begin, text, kind, chosen)
    if "charset" in chosen:
        return replace(form, response=form.response | {"charset": chosen["charset"]})
    if charset:
        more = "; it is not UTF-8, and names no charset: windows-1252 is a guess"
        return replace(form, response=form.response | charset, saw=form.saw + more)
    return form


def _is_utf8(body: bytes) -> bool:
    if body.startswith((b"\x1f\x8b", b"PK\x03\x04", b"\xff\xfe", b"\xfe\xff")):
        return True
    try:
        body.decode()
    except UnicodeDecodeError:
        return False
    return True


def _form(begin: bytes, text: bytes, kind: str, chosen: Mapping[str, Any]) -> Form:
    if begin.startswith(b"<"):
        return _markup(begin, text)
    if begin.startswith((b"{", b"[")):
        lines = [line for each in text.split(b"\n") if (line := each.strip(BLANK.encode()))]
        if "ndjson" in kind or "jsonl" in kind or "json-seq" in kind or _are_records(lines):
            return Form({"format": "ndjson"}, f"{len(lines)} lines, a record each", lines=lines)
        try:
            return Form({"format": "json"}, "one JSON text", JsonText(text))
        except UnreadableError as error:
            raise SourceShapeError(str(error)) from None
    return _table(text, kind, chosen)


def _are_records(lines: list[bytes]) -> bool:
    return len(lines) > 1 and all(read_fields(line) is not None for line in lines[:20])


def _markup(begin: bytes, text: bytes) -> Form:
    if re.search(rb"<!doctype html|<html", begin[:2000], re.IGNORECASE):
        raise SourceShapeError(
            "the answer is a page for people (HTML), not data; look in the API's documentation for "
            "the address of its data"
        )
    try:
        return Form({"format": "xml"}, "an XML text", JsonText(xml_as_json(text)))
    except UnreadableError as error:
        raise SourceShapeError(str(error)) from None


def _table(text: bytes, kind: str, chosen: Mapping[str, Any]) -> Form:
    sample = text.decode(errors="replace").removeprefix("\ufeff")
    delimiters = [chosen["delimiter"]] if "delimiter" in chosen else _DELIMITERS
    tables = [(each, rows) for each in delimiters if (rows := _rows(sample, each))]
    delimiter, rows = max(tables, key=lambda found: len(found[1][0]), default=("", [list[str]()]))
    if len(rows[0]) < 2 and not (rows[0] and ("csv" in kind or chosen)):
        raise SourceShapeError(
            "the answer is neither JSON, NDJSON, CSV nor XML; it begins with "
            f"{sample.strip()[:40]!r}"
        )
    head, *body = rows
    response: dict[str, Any] = {"format": "csv"}
    response |= {"delimiter": delimiter} if delimiter != "," else {}
    saw = f"rows of {len(head)} cells with {_named(delimiter)} between them"
    if len(chosen.get("columns", ())) == len(head):
        head, body = list(chosen["columns"]), rows
        response["columns"] = head
    elif any(_VALUE.fullmatch(cell) for cell in head) or len({*head}) < len(head):
        head, body = [f"column_{number}" for number in range(1, len(head) + 1)], rows
        response["columns"] = head
        saw += "; the first row has values, so that the names are made up"
    return Form(response, saw, rows=[dict(zip(head, row, strict=True)) for row in body])


def _rows(text: str, delimiter: str) -> list[list[str]]:
    """Return the rows of a CSV text; none if they differ in their length."""
    try:
        rows = [row for row in csv_rows(io.StringIO(text), Dialect(delimiter)) if row]
    except (csv.Error, SourceShapeError):
        return []
    is_even = len({len(row) for row in rows[:_MOST_ROWS]}) == 1
    return [row for row in rows if len(row) == len(rows[0])] if is_even else []


def _named(delimiter: str) -> str:
    named = {",": "a comma", ";": "a semicolon", "\t": "a tab", "|": "a bar"}
    return named.get(delimiter, repr(delimiter))
