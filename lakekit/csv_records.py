"""CSV → NDJSON: what a merge reads of a file that was received as CSV.

CSV as rows: the one place that reads it, as its limit holds for all of Python.
"""

import csv
import io
import json
import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from itertools import chain
from typing import IO, NamedTuple

import msgspec

from lakekit.contract.contract import Contract
from lakekit.contract.sqltypes import SqlType
from lakekit.errors import SourceShapeError
from lakekit.json_text.lines import LONGEST_LINE, refuse_long

_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,9})?")
_NUMERIC = {"tinyint", "smallint", "int", "bigint", "float", "double", "decimal"}
_NESTED = {"array", "map", "struct"}
_TEXT = SqlType("string")
_OPERATIONS = {"I", "U", "D"}


class Dialect(NamedTuple):
    """How a CSV text is written.

    columns: its names, if no header has them. null_value: the text of a cell that is null.
    operation: the column of DMS with what was done (I, U, D). is_load: whether the rows may be a
    full load, which has no such column.
    """

    delimiter: str = ","
    quote: str = '"'
    columns: tuple[str, ...] | None = None
    null_value: str = ""
    operation: str | None = None
    is_load: bool = False


PLAIN = Dialect()


def csv_records(stream: IO[bytes], contract: Contract, dialect: Dialect = PLAIN) -> Iterator[bytes]:
    """Yield the JSON text of every row, with the types of the contract; an empty cell is null.

    A cell that is not of its column's type stays text. A row that does not fit the header, or is
    not UTF-8, becomes an array of its cells' bytes. The merge puts both into the quarantine.

    Raises:
        SourceShapeError: It is not CSV, or a name of its header is there twice or is not UTF-8, or
            one that every record needs is not there.
    """
    # Bytes that are not UTF-8 survive as lone surrogates and are found again in `_record`.
    text = io.TextIOWrapper(stream, "utf-8-sig", errors="surrogateescape", newline="")
    types = contract.field_types
    try:
        rows = csv_rows(text, dialect)
        header = next(rows, []) if dialect.columns is None else list(dialect.columns)
        if len(set(header)) < len(header):
            raise SourceShapeError("a name stands twice in the header of the CSV")
        if not all(map(_is_unicode, header)):
            raise SourceShapeError("the header of the CSV is not UTF-8")
        first = next((row for row in rows if row), None)
        if first and dialect.columns and dialect.is_load and len(first) == len(header) - 1:
            header = [name for name in header if name != dialect.operation]
        refuse_header(header, contract, dialect)
        for row in chain([first] if first else (), rows):
            if row:
                yield _record(header, row, types, dialect)
    except csv.Error as error:
        raise SourceShapeError(f"not CSV: {error}") from error
    finally:
        text.detach()  # the stream's owner closes it


def refuse_header(
    header: Sequence[str], contract: Contract, dialect: Dialect = PLAIN, what: str = "CSV"
) -> None:
    """Refuse columns among which one is missing that every record needs.

    Raises:
        SourceShapeError: A key, the sequence or the operation of a change is missing.
    """
    named = [*contract.keys, *filter(None, [contract.history.sequence_by])]
    fields = {column.name: column.steps[0] for column in contract.columns}
    needed = [fields[name] for name in named if name in fields]
    needed += [dialect.operation] if dialect.operation and not dialect.is_load else []
    if absent := [name for name in dict.fromkeys(needed) if name not in header]:
        raise SourceShapeError(
            f"the header of the {what} lacks {', '.join(absent)}; it has "
            f"{', '.join(header) or 'no names'}"
        )


def csv_header(stream: IO[bytes], dialect: Dialect = PLAIN) -> list[str]:
    """Return the names of the columns of a CSV text.

    Raises:
        SourceShapeError: It is not CSV.
    """
    if dialect.columns is not None:
        return list(dialect.columns)
    text = io.TextIOWrapper(stream, "utf-8-sig", errors="surrogateescape", newline="")
    try:
        return next(csv_rows(text, dialect), [])
    except csv.Error as error:
        raise SourceShapeError(f"not CSV: {error}") from error
    finally:
        text.detach()


def _record(
    header: list[str], row: list[str], types: dict[str, SqlType], dialect: Dialect
) -> bytes:
    cells = dict(zip(header, row, strict=False))
    is_known = dialect.operation is None or cells.get(dialect.operation, "I") in _OPERATIONS
    if len(row) != len(header) or not all(map(_is_unicode, row)) or not is_known:
        return json.dumps(row, ensure_ascii=False).encode("utf-8", "surrogateescape")
    return msgspec.json.encode(
        {name: _cell(cell, types.get(name, _TEXT), dialect) for name, cell in cells.items()}
    )


def _cell(cell: str, kind: SqlType, dialect: Dialect) -> str | bool | msgspec.Raw | None:
    if cell == dialect.null_value:
        return None
    # Where null has a text of its own, an empty cell is an empty text.
    return cell if not cell and kind == _TEXT else json_value(cell, kind)


def json_value(cell: str, kind: SqlType) -> str | bool | msgspec.Raw | None:
    """Return a cell as JSON of its type if it can be that, else as text.

    >>> [json_value(cell, SqlType("double")) for cell in ("", "n/a")]
    [None, 'n/a']
    """
    plain = cell.strip()
    if cell == "":
        return None
    if kind.name == "boolean" and plain.lower() in ("true", "false"):
        return plain.lower() == "true"
    if kind.name in _NUMERIC and _NUMBER.fullmatch(plain):
        return msgspec.Raw(str(Decimal(plain)).encode())
    return _nested(cell) if kind.name in _NESTED else cell


def _is_unicode(cell: str) -> bool:
    return not any("\udc80" <= character <= "\udcff" for character in cell)


def _nested(cell: str) -> str | msgspec.Raw:
    """Return a cell that is JSON without its line breaks, as a record is one line."""
    try:
        return msgspec.Raw(msgspec.json.format(cell.encode(), indent=-1))
    except (msgspec.DecodeError, RecursionError):
        return cell


class _Lines:
    """The lines of a CSV text; `size` grows until a row is read."""

    def __init__(self, text: IO[str]) -> None:
        self._text = text
        self.size = 0

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        line = self._text.readline(LONGEST_LINE + 1)
        if not line:
            raise StopIteration
        self.size += len(line)
        refuse_long(self.size)
        return line


def csv_rows(text: IO[str], dialect: Dialect = PLAIN) -> Iterator[list[str]]:
    """Yield the rows of a CSV text.

    A quote that is never closed would bring a whole file into memory: a row has a limit.

    Raises:
        csv.Error: It is not CSV.
        SourceShapeError: A row is longer than a record may be.
    """
    csv.field_size_limit(LONGEST_LINE)
    lines = _Lines(text)
    rows = csv.reader(lines, delimiter=dialect.delimiter, quotechar=dialect.quote, strict=True)
    for row in rows:
        lines.size = 0
        yield row
