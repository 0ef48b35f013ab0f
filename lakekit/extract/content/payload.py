"""What came, as the texts that it holds: unpacked, decoded, read as often as they are wanted."""

import codecs
import io
import re
import zlib
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import IO, BinaryIO, NamedTuple
from zipfile import ZipInfo

from lakekit.byte_streams.archives import (
    BrokenArchiveError,
    archive_files,
    has_password,
    unpacked,
)
from lakekit.byte_streams.pieces import CHUNK, file_of
from lakekit.contract.endpoint.answer import charset_named
from lakekit.errors import SourceShapeError
from lakekit.extract.client import Answer
from lakekit.extract.content.json_paths import UnreadableError
from lakekit.extract.http.bodies import MEGABYTE, BrokenBodyError, unzipped

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
_LONGEST_MARK = 4
Open = Callable[[], BinaryIO]


class Text(NamedTuple):
    """A text in UTF-8. One is read at a time, from its beginning.

    is_decoded: whether it is UTF-8 by what was declared, or by a mark at its beginning.
    """

    open: Open
    is_decoded: bool

    @property
    def encoding(self) -> str | None:
        """What an XML text is, whatever it says itself."""
        return "utf-8" if self.is_decoded else None


def texts_of(answer: Answer, most: int, charset: str | None = None) -> list[Text]:
    """Return the texts of an answer: one, or each file of a zip archive.

    A gzip or zip file in the body is unpacked. Bytes that are declared as UTF-8 are as they came.
    What a text turns out not to be is raised while it is read.

    Args:
        answer: What came.
        most: The most bytes that it may have, unpacked.
        charset: That of the contract; without it, that of the answer's Content-Type.

    Raises:
        UnreadableError: An archive is broken.
        SourceShapeError: It has more bytes than that, a password, or is not of its charset.
    """
    kind = answer.headers.get("Content-Type", "")
    declared = charset or charset_of(kind)
    return [_text(part, declared) for part in _files(_opener(answer), most)]


def charset_of(content_type: str) -> str | None:
    """Return the charset that a Content-Type names.

    Example:
        >>> charset_of('text/csv; header=present; charset="ISO-8859-1"')
        'ISO-8859-1'
    """
    found = re.search(r';\s*charset\s*=\s*"?([^\s";,]+)', content_type, re.IGNORECASE)
    return found[1] if found else None


def ranges_of(open_: Open, ranges: Iterable[tuple[int, int]]) -> Iterator[bytes]:
    """Yield parts of a text, given by their begins and ends, which follow each other."""
    file, place = open_(), 0
    for begin, end in ranges:
        while place < begin:
            place += len(file.read(min(begin - place, CHUNK)))
        yield file.read(end - begin)
        place = end


def _opener(answer: Answer) -> Open:
    file = answer.large
    if file is None:
        return lambda: io.BytesIO(answer.body)

    def again() -> BinaryIO:
        file.seek(0)
        return file

    return again


def _begin(open_: Open, size: int) -> bytes:
    return open_().read(size)


def _files(open_: Open, most: int) -> list[Open]:
    begin = _begin(open_, len(_ZIP))
    if begin.startswith(_GZIP):
        return [lambda: file_of(_within(_gunzipped(open_()), most))]
    if begin == _ZIP:
        return _unzipped(open_, most)
    return [open_]


def _gunzipped(file: IO[bytes]) -> Iterator[bytes]:
    try:
        yield from unzipped(iter(lambda: file.read(CHUNK), b""), zlib.MAX_WBITS | 16)
    except BrokenBodyError as error:
        raise UnreadableError(f"the answer is a broken gzip file: {error}") from None


def _unzipped(open_: Open, most: int) -> list[Open]:
    try:
        files = archive_files(open_())
    except BrokenArchiveError as error:
        raise _broken(error) from None
    _refuse_large(sum(each.file_size for each in files), most)
    if any(map(has_password, files)):
        raise SourceShapeError("the answer is a zip archive with a password")
    # An archive may say less of a file than it has: each is counted again.
    return [partial(lambda each: file_of(_within(_member(open_, each), most)), f) for f in files]


def _member(open_: Open, member: ZipInfo) -> Iterator[bytes]:
    try:
        yield from unpacked(open_, member)
    except BrokenArchiveError as error:
        raise _broken(error) from None


def _broken(error: BrokenArchiveError) -> UnreadableError:
    return UnreadableError(f"the answer is a broken zip archive: {error}")


def _text(open_: Open, declared: str | None) -> Text:
    begin = _begin(open_, _LONGEST_MARK)
    mark = next((mark for mark in _MARKS if begin.startswith(mark)), b"")
    charset = _MARKS[mark] if mark else declared or "utf-8"
    is_decoded = bool(mark or declared)
    try:
        name = charset_named(charset)
    except ValueError as error:
        raise SourceShapeError(f"{error}; name the right one in response.charset") from None
    if name in _UTF8:
        return Text(lambda: _behind(open_(), len(mark)), is_decoded)
    return Text(lambda: file_of(_decoded(_behind(open_(), len(mark)), name, charset)), is_decoded)


def _behind(file: BinaryIO, size: int) -> BinaryIO:
    file.read(size)
    return file


def _decoded(file: BinaryIO, name: str, charset: str) -> Iterator[bytes]:
    decoder = codecs.getincrementaldecoder(name)()
    try:
        while piece := file.read(CHUNK):
            yield decoder.decode(piece).encode()
        yield decoder.decode(b"", final=True).encode()
    except UnicodeError:
        raise SourceShapeError(
            f"the answer is not {charset}, as it says; name the right charset in response.charset"
        ) from None


def _within(pieces: Iterator[bytes], most: int) -> Iterator[bytes]:
    size = 0
    for piece in pieces:
        size += len(piece)
        _refuse_large(size, most)
        yield piece


def _refuse_large(size: int, most: int) -> None:
    if size > most:
        raise SourceShapeError(
            f"the answer has more than {most // MEGABYTE} MB unpacked; ask for less at once, or "
            "raise max_response_mb of the source"
        )
