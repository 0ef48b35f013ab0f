"""A file as it was received: its form by its name and contract, and the records in it."""

import codecs
import io
import re
import tempfile
from collections.abc import Iterator
from typing import IO, Any, Literal, NamedTuple, cast

from lakekit.byte_streams.archives import (
    BrokenArchiveError,
    archive_files,
    has_password,
    unpacked,
)
from lakekit.byte_streams.pieces import CHUNK, file_of
from lakekit.contract.contract import Contract
from lakekit.contract.files import OPERATIONS, Files
from lakekit.csv_records import Dialect, csv_records
from lakekit.errors import SourceShapeError
from lakekit.json_text.lines import BLANK, BYTE_ORDER_MARK, bounded_lines, is_blank
from lakekit.json_text.stream import list_items
from lakekit.landing.debezium import row_changes

Format = Literal["ndjson", "json", "csv", "parquet", "zip"]
# A zip archive is read from its end, so that it is kept on the function's disk, which has 512 MB.
MOST_ARCHIVE_BYTES = 400 * 1024 * 1024
_ENDING = re.compile(r"^.+?(?P<plain>\.(ndjson|jsonl|json|csv|parquet|zip))?(?P<gzip>\.gz)?$")
_FORMATS: dict[str, Format] = {
    ".ndjson": "ndjson", ".jsonl": "ndjson", ".json": "json", ".csv": "csv",
    ".parquet": "parquet", ".zip": "zip",
}  # fmt: skip
_UTF_16 = "UTF-16; set files.charset: utf-16"
# How files begin that hold no text in UTF-8, and what to do.
_OTHERS = {
    b"\x1f\x8b": "packed by gzip; name it .gz", b"PK\x03\x04": "a zip archive; name it .zip",
    b"PAR1": "Parquet; name it .parquet", b"\x28\xb5\x2f\xfd": "packed by zstd; use gzip",
    b"\xfd7zXZ\x00": "packed by xz; use gzip",
    b"\xff\xfe": _UTF_16, b"\xfe\xff": _UTF_16,
}  # fmt: skip


class Form(NamedTuple):
    """The form of a file, and whether gzip has packed it."""

    format: Format
    packed: bool = False

    @property
    def ending(self) -> str:
        """The ending that the file gets in its landing."""
        return f".{self.format}{'.gz' if self.packed else ''}"


def form_of(name: str, files: Files) -> Form:
    """Return the form of a file by its name, or by what a contract says of all files.

    Raises:
        SourceShapeError: Neither says it, or both do not agree.

    Example:
        >>> form_of("day.JSONL.gz", Files()), form_of("stream-1", Files(format="ndjson"))
        (Form(format='ndjson', packed=True), Form(format='ndjson', packed=False))
    """
    base = name.rpartition("/")[2]
    found = _ENDING.match(base.lower())
    plain, packed = (found["plain"], bool(found["gzip"])) if found else (None, False)
    own = _FORMATS.get(plain or "")
    if own in ("parquet", "zip") and packed:
        raise SourceShapeError(f"{name}: {own} is packed within; give it without .gz")
    if own == "zip":
        return Form("zip")
    if own is None and packed and "." not in base[: -len(".gz")]:
        own = files.format or "ndjson"
    form = files.format or own
    if form is None:
        raise SourceShapeError(
            f"{name}: must end in .ndjson, .jsonl, .json or .csv, or that and .gz, or in .parquet "
            "or .zip; or say in files.format what all files are"
        )
    if own and own != form and {own, form} != {"json", "ndjson"}:
        raise SourceShapeError(f"{name}: is named {plain}, but files.format is {form}")
    tool = files.changes
    if tool and (form in ("csv", "parquet")) != (tool == "dms"):
        raise SourceShapeError(f"{name}: is {form}, which {tool} does not write")
    return Form(form, packed)


def is_converted(form: Form, files: Files) -> bool:
    """Say whether a merge reads lines that are made from a file, in place of the file."""
    as_it_is = form.format in ("ndjson", "parquet")
    return not as_it_is or files.changes == "debezium" or not _is_utf8(files.charset)


def format_of(form: Form, files: Files) -> Literal[Format, "text"]:
    """Return what a manifest calls the format of a file; `text` are lines that are converted."""
    return "text" if form.format == "ndjson" and is_converted(form, files) else form.format


def received_records(
    stream: IO[bytes], form: Form, contract: Contract, name: str
) -> Iterator[bytes]:
    """Yield the JSON text of each record of a file; what is no record is yielded as it is.

    Args:
        stream: The file, unpacked if gzip has packed it.
        form: Its form; Parquet has none of these records.
        contract: Of its table.
        name: Of the file, which says more of files of DMS.

    Raises:
        SourceShapeError: It is not of its form, or its header lacks what the table needs.
    """
    if form.format == "zip":
        yield from _unzipped(stream, contract)
        return
    files, text = contract.files, _in_utf8(stream, contract.files.charset)
    if form.format == "csv":
        yield from csv_records(text, contract, dialect_of(contract, name))
        return
    is_list = form.format == "json" and _begins_list(text)
    lines = list_items(text) if is_list else (x for x in bounded_lines(text) if not is_blank(x))
    yield from row_changes(lines) if files.changes == "debezium" else lines


def refuse_begin(stream: IO[bytes]) -> None:
    """Refuse a text that is none in UTF-8, by how it begins.

    Raises:
        SourceShapeError: It is something else.
    """
    _in_utf8(stream, None).detach()


def dialect_of(contract: Contract, name: str) -> Dialect:
    """Return how a CSV file is written."""
    files = contract.files
    return Dialect(
        files.delimiter,
        files.quote,
        files.columns,
        files.null_value,
        OPERATIONS["dms"] if files.changes == "dms" else None,
        name.rpartition("/")[2].upper().startswith("LOAD"),
    )


def _in_utf8(stream: IO[bytes], charset: str | None) -> io.BufferedReader:
    """Return a text in UTF-8, or refuse what is none by how it begins."""
    reader = io.BufferedReader(cast(Any, stream), 1 << 20)
    if charset and not _is_utf8(charset):
        return file_of(_decoded(reader, charset), 1 << 20)
    begin = reader.peek(6)[:6]
    for other, what in _OTHERS.items():
        if begin.startswith(other):
            raise SourceShapeError(f"the file is {what}")
    return reader


def _is_utf8(charset: str | None) -> bool:
    return charset is None or codecs.lookup(charset).name == "utf-8"


def _begins_list(text: io.BufferedReader) -> bool:
    begin = text.peek(1 << 16).removeprefix(BYTE_ORDER_MARK.encode())
    return begin.lstrip(BLANK.encode()).startswith(b"[")


def _unzipped(stream: IO[bytes], contract: Contract) -> Iterator[bytes]:
    with tempfile.TemporaryFile() as disk:
        size = 0
        while block := stream.read(1 << 20):
            size += disk.write(block)
            if size > MOST_ARCHIVE_BYTES:
                most = MOST_ARCHIVE_BYTES >> 20
                raise SourceShapeError(f"a zip archive may have {most} MiB; pack files by gzip")
        try:
            yield from _members(disk, contract)
        except BrokenArchiveError as error:
            raise SourceShapeError(f"broken zip archive: {error}") from None


def _members(disk: IO[bytes], contract: Contract) -> Iterator[bytes]:
    # A Mac adds files of its own to each archive.
    files = [x for x in archive_files(disk) if not x.filename.startswith("__MACOSX/")]
    if not files:
        raise SourceShapeError("the zip archive has no files")
    for each in files:
        form = form_of(each.filename, contract.files)
        if form.packed or form.format in ("zip", "parquet"):
            raise SourceShapeError(f"{each.filename}: give {form.ending} without a zip archive")
        if has_password(each):
            raise SourceShapeError(f"{each.filename}: the zip archive has a password")
        try:
            file = file_of(unpacked(lambda: disk, each))
            yield from received_records(file, form, contract, each.filename)
        except SourceShapeError as error:
            raise SourceShapeError(f"{each.filename}: {error}") from None


def _decoded(stream: IO[bytes], charset: str) -> Iterator[bytes]:
    """Yield a text of another charset, in UTF-8."""
    decoder = codecs.getincrementaldecoder(charset)()
    try:
        while block := stream.read(CHUNK):
            yield decoder.decode(block).encode()
        yield decoder.decode(b"", final=True).encode()
    except UnicodeError:
        must = "name the right one in files.charset"
        raise SourceShapeError(f"the file is not {charset}; {must}") from None
