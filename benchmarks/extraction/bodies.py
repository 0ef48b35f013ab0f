"""Kinds of bodies, to measure memory with: `json small 60` are 60 MB of small records."""

import codecs
import gzip
import io
import json
import zipfile
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO, NamedTuple, cast

MEGABYTE = 1_000_000
RECORD = b'{"id": %d, "name": "a record of a hundred and some bytes", "price": 12.50, "at": "now"}'
_ROW = b"%d,a record of a hundred and some bytes,12.50,now\n"
_ELEMENT = b"<item><id>%d</id><name>a record of some bytes</name><price>12.50</price></item>"
_AT_ONCE = 10_000

Pieces = Iterator[bytes]


class Kind(NamedTuple):
    """A kind of body: how it is made for a number of bytes, and the endpoint that reads it."""

    pieces: Callable[[int], Pieces]
    endpoint: str = "records: $.items, paginator: {type: next_url, next_path: $.next}"


def _list(items: Callable[[int], Pieces]) -> Callable[[int], Pieces]:
    def pieces(size: int) -> Pieces:
        yield b'{"items": ['
        yield from _joined(items(size), b", ")
        yield b'], "next": null}'

    return pieces


def _joined(blocks: Pieces, between: bytes) -> Pieces:
    for number, block in enumerate(blocks):
        yield between * (number > 0) + block


def _blocks(record: bytes, between: bytes, size: int) -> Pieces:
    """Yield blocks of numbered records, some megabytes in all."""
    first = 0
    while size > 0:
        ids = range(first, first + _AT_ONCE)
        block = between.join(record % ((number,) * record.count(b"%d")) for number in ids)
        yield block
        first, size = first + _AT_ONCE, size - len(block)


def _small(size: int) -> Pieces:
    return _blocks(RECORD, b", ", size)


def _large(size: int) -> Pieces:
    record = b'{"id": 1, "list": [' + b", ".join([b'{"a": [1, 2], "b": "c"}'] * 250_000) + b"]}"
    yield from (record for _ in range(size // len(record)))


def _repeated(item: bytes, between: bytes = b",") -> Callable[[int], Pieces]:
    def pieces(size: int) -> Pieces:
        block = between.join([item] * _AT_ONCE)
        yield from (block for _ in range(max(size // len(block), 1)))

    return pieces


def _one_record(size: int) -> Pieces:
    yield b'{"id": 1, "text": "'
    yield from (b"x" * MEGABYTE for _ in range(size // MEGABYTE))
    yield b'"}'


def _one_in_a_list(size: int) -> Pieces:
    yield b'{"items": ['
    yield from _one_record(size)
    yield b'], "next": null}'


def _blanks(size: int) -> Pieces:
    yield from (b" " * MEGABYTE for _ in range(size // MEGABYTE))
    yield b'{"items": [{"id": 1}]}'


def _map(size: int) -> Pieces:
    yield b'{"items": {'
    yield from _joined(_blocks(b'"k%d": ' + RECORD, b", ", size), b", ")
    yield b'}, "next": null}'


def _object(size: int) -> Pieces:
    yield b'{"item": {"id": 1, "fields": {'
    yield from _joined(_blocks(b'"f%d": 1', b", ", size), b", ")
    yield b'}}, "next": null}'


def _around(size: int) -> Pieces:
    yield b'{"included": ['
    yield from _joined(_small(size), b", ")
    yield b'], "items": [{"id": 1}], "next": null}'


def _csv(size: int) -> Pieces:
    yield b"id,name,price,at\n"
    yield from _blocks(_ROW, b"", size)


def _ndjson(size: int) -> Pieces:
    yield from _blocks(RECORD + b"\n", b"", size)


def _xml(items: Callable[[int], Pieces]) -> Callable[[int], Pieces]:
    def pieces(size: int) -> Pieces:
        yield b'<?xml version="1.0"?><feed><total>all</total>'
        yield from items(size)
        yield b"</feed>"

    return pieces


def _xml_record(inner: bytes) -> Callable[[int], Pieces]:
    def items(size: int) -> Pieces:
        yield b"<item><id>1</id><text>"
        yield from _repeated(inner, b"")(size)
        yield b"</text></item>"

    return items


_XML = "response: {format: xml}, records: $.feed.item"
KINDS = {
    "json small": Kind(_list(_small)),
    "json large": Kind(_list(_large)),
    "json one record": Kind(_one_in_a_list),
    "json empty records": Kind(_list(_repeated(b"{}"))),
    "json numbers": Kind(_list(_repeated(b"1"))),
    "json blanks": Kind(_blanks),
    "json included": Kind(_around),
    "json map": Kind(_map, "records: $.items, shape: map, map_key: key"),
    "json object": Kind(_object, "records: $.item, shape: object"),
    "json nested": Kind(
        _list(lambda size: (b'{"list": [' + each + b"]}" for each in _small(size))),
        "records: '$.items[*].list[*]', paginator: {type: next_url, next_path: $.next}",
    ),
    "csv": Kind(_csv, "response: {format: csv}"),
    "ndjson": Kind(_ndjson, "response: {format: ndjson}"),
    "xml small": Kind(_xml(lambda size: _blocks(_ELEMENT, b"", size)), _XML),
    "xml empty records": Kind(_xml(_repeated(b"<item/>", b"")), _XML),
    "xml one record": Kind(_xml(_xml_record(b"x" * 100)), _XML),
    "xml small elements": Kind(_xml(_xml_record(b"<a><b/></a>")), _XML),
}
PACKINGS = {"": "", " encoded": "gzip", " gzip": "", " zip": "", " utf-16": ""}
# Sizes in MB: what is in memory, what is just not, and what is far above both.
BODIES = (
    *(f"{kind} {size}" for kind in KINDS for size in ("1", "7", "60")),
    "json small 200", "csv 200", "ndjson 200", "xml small 200", "json map 200",
    *(f"{kind} 200{packing}" for kind in ("json small", "csv", "xml small")
      for packing in (" gzip", " zip", " utf-16")),
    *(f"{kind} 7{packing}" for kind in ("json small", "csv") for packing in (" zip", " utf-16")),
    "json small 200 encoded", "json blanks 600 encoded", "json blanks 600 gzip",
    "json blanks 600 zip",
)  # fmt: skip


def split_name(name: str) -> tuple[Kind, int, str]:
    """Return the kind of a body, its size in bytes, and how it is packed.

    Example:
        >>> split_name("json small 65 gzip")[1:]
        (65000000, ' gzip')
    """
    packing = next((each for each in PACKINGS if each and name.endswith(each)), "")
    kind, _, size = name.removesuffix(packing).rpartition(" ")
    return KINDS[kind], int(size) * MEGABYTE, packing


def body_of(name: str) -> Pieces:
    """Yield a body in pieces, packed as its name says."""
    kind, size, packing = split_name(name)
    pieces = kind.pieces(size)
    if packing in (" encoded", " gzip"):
        return _packed(pieces, lambda out: gzip.GzipFile(fileobj=out, mode="wb", compresslevel=1))
    if packing == " zip":
        return _zipped(pieces)
    if packing == " utf-16":
        encode = codecs.getincrementalencoder("utf-16")().encode
        return (encode(piece.decode()) for piece in pieces)
    return pieces


def _packed(pieces: Pieces, open_file: Callable[[Any], Any]) -> Pieces:
    out = _Taken()
    with open_file(out) as file:
        for piece in pieces:
            file.write(piece)
            yield out.take()
    yield out.take()


def _zipped(pieces: Pieces) -> Pieces:
    out = _Taken()
    with (
        zipfile.ZipFile(cast(BinaryIO, out), "w", zipfile.ZIP_DEFLATED, compresslevel=1) as file,
        file.open("body", "w", force_zip64=True) as member,
    ):
        for piece in pieces:
            member.write(piece)
            yield out.take()
    yield out.take()


class _Taken(io.RawIOBase):
    """A file that is written, and taken from, in order."""

    def __init__(self) -> None:
        self._held = bytearray()

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self._held += data
        return len(data)

    def take(self) -> bytes:
        found = bytes(self._held)
        self._held.clear()
        return found


def page_of(first: int, count: int, following: str | None) -> bytes:
    """Return a page of small records: numbers from `first` on, and where the next page is."""
    records = b", ".join(
        b'{"id": %d, "name": "customer %d", "status": "active", "amount": %d.50, '
        b'"updated_at": "2026-01-01T12:00:%02d+00:00"}' % (n, n * 7919 % 100_003, n % 1000, n % 60)
        for n in range(first, first + count)
    )
    return b'{"items": [%b], "next": %b}' % (records, json.dumps(following).encode())
