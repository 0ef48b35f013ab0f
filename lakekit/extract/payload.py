"""What came, as the text that is declared: unpacked, decoded."""

import codecs
import io
import re
import zipfile
import zlib
from collections.abc import Iterator
from typing import NamedTuple

from lakekit.contract.endpoint.answer import charset_named
from lakekit.errors import SourceShapeError
from lakekit.extract.client import Answer
from lakekit.extract.json_text import UnreadableError

# Of one answer, unpacked: functions have 512 MB.
MOST_UNPACKED_BYTES = 128 * 1024 * 1024
_GZIP, _ZIP = b"\x1f\x8b", b"PK\x03\x04"
# The longer ones first: that of UTF-32 begins as that of UTF-16 does.
_MARKS = {
    codecs.BOM_UTF32_LE: "utf-32-le",
    codecs.BOM_UTF32_BE: "utf-32-be",
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF16_LE: "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be",
}
_UTF8 = ("utf-8", "ascii")


class Text(NamedTuple):
    """A text; `is_decoded` if it is UTF-8 by what was declared, or by a mark at its beginning."""

    body: bytes
    is_decoded: bool


def texts_of(answer: Answer, charset: str | None = None) -> Iterator[Text]:
    """Yield the texts of an answer in UTF-8: one, or each file of a zip archive.

    A gzip or zip file in the body is unpacked. Bytes that are declared as UTF-8 are as they came.

    Args:
        answer: What came.
        charset: That of the contract; without it, that of the answer's Content-Type.

    Raises:
        UnreadableError: An archive is broken.
        SourceShapeError: It is larger than memory allows, has a password, or is not of its charset.
    """
    kind = answer.headers.get("Content-Type", "")
    declared = charset or charset_of(kind)
    for part in _files(answer.body):
        is_decoded = declared is not None or part.startswith(tuple(_MARKS))
        yield Text(decoded(part, declared), is_decoded)


def charset_of(content_type: str) -> str | None:
    """Return the charset that a Content-Type names.

    Example:
        >>> charset_of('text/csv; header=present; charset="ISO-8859-1"')
        'ISO-8859-1'
    """
    found = re.search(r';\s*charset\s*=\s*"?([^\s";,]+)', content_type, re.IGNORECASE)
    return found[1] if found else None


def decoded(body: bytes, charset: str | None) -> bytes:
    """Return a text in UTF-8, without a byte order mark."""
    for mark, own in _MARKS.items():
        if body.startswith(mark):
            return _in_utf8(body.removeprefix(mark), own)
    return _in_utf8(body, charset or "utf-8")


def _in_utf8(body: bytes, charset: str) -> bytes:
    try:
        name = charset_named(charset)
    except ValueError as error:
        raise SourceShapeError(f"{error}; name the right one in response.charset") from None
    try:
        return body if name in _UTF8 else body.decode(name).encode()
    except UnicodeError:
        raise SourceShapeError(
            f"the answer is not {charset}, as it says; name the right charset in response.charset"
        ) from None


def _files(body: bytes) -> Iterator[bytes]:
    if body.startswith(_GZIP):
        yield _gunzipped(body)
    elif body.startswith(_ZIP):
        yield from _unzipped(body)
    else:
        yield body


def _gunzipped(body: bytes) -> bytes:
    found = bytearray()
    while body.strip(b"\0"):  # a gzip file may have several members, and zeros behind them
        member = zlib.decompressobj(31)
        try:
            found += member.decompress(body, MOST_UNPACKED_BYTES - len(found) + 1)
        except zlib.error as error:
            raise UnreadableError(f"the answer is a broken gzip file: {error}") from None
        _refuse_large(len(found))
        if not member.eof:
            raise UnreadableError("the answer is a gzip file that ends early")
        body = member.unused_data
    return bytes(found)


def _unzipped(body: bytes) -> Iterator[bytes]:
    try:
        with zipfile.ZipFile(io.BytesIO(body)) as archive:
            files = [each for each in archive.infolist() if not each.is_dir()]
            _refuse_large(sum(each.file_size for each in files))
            if any(each.flag_bits & 1 for each in files):
                raise SourceShapeError("the answer is a zip archive with a password")
            for each in files:
                with archive.open(each) as file:
                    found = file.read(each.file_size + 1)
                _refuse_large(len(found))
                yield found
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, ValueError) as error:
        raise UnreadableError(f"the answer is a broken zip archive: {error}") from None


def _refuse_large(size: int) -> None:
    if size > MOST_UNPACKED_BYTES:
        raise SourceShapeError(
            f"the answer has more than {MOST_UNPACKED_BYTES >> 20} MiB unpacked; "
            "ask for less at once"
        )
