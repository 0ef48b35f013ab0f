"""Pages → objects, manifest, markers."""

import tempfile
import zlib
from collections.abc import Iterable
from hashlib import file_digest, sha256
from typing import Any, BinaryIO, Literal, cast

import msgspec
from pydantic import AwareDatetime, Field

from lakekit import layout
from lakekit.batch import Extract
from lakekit.documents import Document
from lakekit.errors import LandingCorruptError
from lakekit.json_text.lines import LONGEST_LINE, refuse_long
from lakekit.json_text.spans import on_one_line
from lakekit.landing.index import add_pending, is_indexed
from lakekit.landing.mark import Mark
from lakekit.models import Model, Name
from lakekit.ports import ObjectNotFoundError, ObjectStore, PreconditionFailedError

MAX_PART_BYTES = 64 * 1024 * 1024
# Of a packed part; what is beyond is on disk until the part is put.
MOST_IN_MEMORY = 4 * 1024 * 1024
_PACKED_AT_ONCE = 256 * 1024


class Part(Model):
    """One object of records; `bytes` and `sha256` are of the object as it lies in the store."""

    key: str
    rows: int
    bytes: int
    sha256: str
    uncompressed_bytes: int


class Request(Model):
    """What was asked of the source; never a secret."""

    url: str
    params: dict[str, str] = Field(default_factory=dict)


class Manifest(Document):
    """All objects of one landing. Later steps read exactly these, never a listing.

    format: of `parts`. A merge reads NDJSON and Parquet as they are. converted: NDJSON objects made
    from parts of another format, which a merge reads then; `text` are lines of another charset, or
    envelopes. watermark: how far it reaches, if its endpoint is incremental.
    """

    run_id: str
    source: Name
    endpoint: Name
    contract_version: int
    extract: Extract
    extraction_time: AwareDatetime
    request: Request
    pages: int
    rows: int
    format: Literal["ndjson", "csv", "json", "parquet", "text", "zip"] = "ndjson"
    parts: tuple[Part, ...]
    converted: tuple[Part, ...] = ()
    watermark: Mark | None = None

    @property
    def prefix(self) -> str:
        """The landing's folder."""
        return layout.raw_prefix(self.source, self.endpoint, self.extraction_time)

    @property
    def merged(self) -> tuple[Part, ...]:
        """The objects that a merge reads."""
        return self.parts if self.format in ("ndjson", "parquet") else self.converted


class Progress(Document):
    """How far the extraction of a run got: its finished parts, and where to go on."""

    run_id: str
    parts: tuple[Part, ...]
    pages: int
    resume: dict[str, Any]
    watermark: Mark | None = None


class LandingWriter:
    """Streams records into gzip NDJSON parts of a bounded uncompressed size.

    The same records make the same bytes. An object that is already there is never rewritten: an
    equal one is taken over, a foreign one (of an attempt that died) is passed by.
    """

    def __init__(
        self,
        store: ObjectStore,
        prefix: str,
        *,
        parts: Iterable[Part] = (),
        max_part_bytes: int = MAX_PART_BYTES,
    ) -> None:
        self._store = store
        self._prefix = prefix
        self._parts = list(parts)
        self._max_part_bytes = max_part_bytes
        self._number = _next_number(self._parts, prefix)
        self._open()

    def write(self, records: Iterable[bytes]) -> None:
        """Append records, each the JSON text of one.

        Raises:
            SourceShapeError: A record is longer than one may be.
        """
        if not (isinstance(records, list) and self._write_at_once(records)):
            self._write_each(records)
        self._pack()

    def _write_at_once(self, records: list[bytes]) -> bool:
        """Append records that are lines already and fit into the open part; say if they are."""
        text = b"\n".join([*records, b""])
        breaks = text.count(b"\n") + text.count(b"\r")
        is_large = self._size + len(text) > self._max_part_bytes or len(text) > LONGEST_LINE
        if is_large or breaks != len(records):
            return False
        self._lines.append(text)
        self._rows += len(records)
        self._size += len(text)
        return True

    def _write_each(self, records: Iterable[bytes]) -> None:
        for record in records:
            line = one_line(record) + b"\n"
            refuse_long(len(line))
            if self._rows and self._size + len(line) > self._max_part_bytes:
                self.flush()
            self._lines.append(line)
            self._rows += 1
            self._size += len(line)
            self._unpacked += len(line)
            if self._unpacked >= _PACKED_AT_ONCE:
                self._pack()

    def flush(self) -> tuple[Part, ...]:
        """Finish the open part, if it holds anything, and return all parts."""
        if self._rows:
            self._pack()
            self._add(self._gzip.flush())
            self._parts.append(
                Part(
                    key=self._put(),
                    rows=self._rows,
                    bytes=self._packed,
                    sha256=self._digest.hexdigest(),
                    uncompressed_bytes=self._size,
                )
            )
            self._file.close()
            self._open()
        return tuple(self._parts)

    def _open(self) -> None:
        # 31: a gzip frame; zlib writes its time as 0, so the same records make the same bytes.
        self._gzip = zlib.compressobj(6, zlib.DEFLATED, 31)
        self._file = tempfile.SpooledTemporaryFile(MOST_IN_MEMORY)  # noqa: SIM115 - until flush
        self._digest = sha256()
        self._lines: list[bytes] = []
        self._rows = self._size = self._unpacked = self._packed = 0

    def _pack(self) -> None:
        self._add(self._gzip.compress(b"".join(self._lines)))
        self._lines.clear()
        self._unpacked = 0

    def _add(self, packed: bytes) -> None:
        self._digest.update(packed)
        self._file.write(packed)
        self._packed += len(packed)

    def _put(self) -> str:
        while True:
            key = layout.part_key(self._prefix, self._number)
            self._number += 1
            self._file.seek(0)
            try:
                self._store.put_file(key, cast(BinaryIO, self._file), if_absent=True)
            except PreconditionFailedError:
                if not self._is_equal(key):
                    continue
            return key

    def _is_equal(self, key: str) -> bool:
        with self._store.open(key) as stored:
            return file_digest(cast(Any, stored), "sha256").digest() == self._digest.digest()


def one_line(record: bytes) -> bytes:
    r"""Return a record's text without line breaks; every token stays as it was received.

    What is not JSON is not JSON afterwards.

    Example:
        >>> one_line(b'{"price":\n 12345678901234567890.10}')
        b'{"price":12345678901234567890.10}'
    """
    if b"\n" not in record and b"\r" not in record:
        return record
    try:
        return msgspec.json.format(record, indent=-1)
    except (msgspec.DecodeError, RecursionError):
        return on_one_line(record)


def publish(store: ObjectStore, manifest: Manifest) -> str:
    """Write the manifest, then `.pending`, then the index; return the manifest's key.

    Again is no error, and makes up for what a crash left out.

    Raises:
        LandingCorruptError: Another manifest already stands at this source, endpoint and time.
    """
    key = layout.manifest_key(manifest.prefix)
    body = manifest.to_json()
    # As a value: another release may have written it with other fields.
    if not _put_once(store, key, body) and load_manifest(store, key) != manifest:
        raise LandingCorruptError(f"{key}: another manifest stands here")
    if store.head(layout.complete_key(manifest.prefix)) is None:
        _put_once(store, layout.pending_key(manifest.prefix), manifest.run_id.encode())
        # An event that comes again must not call back what waits for a person.
        if not is_indexed(store, key):
            add_pending(store, key)
    return key


def load_manifest(store: ObjectStore, key: str) -> Manifest:
    """Read one manifest.

    Raises:
        LandingCorruptError: It is missing, is none, or is not that of its folder.
        NewerDocumentError: A newer release wrote it in a form that this one cannot read.
    """
    try:
        manifest = Manifest.parse(store.get(key), name=key)
    except ObjectNotFoundError:
        raise LandingCorruptError(f"{key}: missing") from None
    prefix = layout.prefix_of(key)
    foreign = [p.key for p in (*manifest.parts, *manifest.converted) if not _below(p.key, prefix)]
    if manifest.prefix != prefix or foreign:
        what = foreign[0] if foreign else manifest.prefix
        raise LandingCorruptError(f"{key}: names {what}, which is of another landing")
    return manifest


def _below(key: str, prefix: str) -> bool:
    return key.startswith(prefix) and "/" not in key.removeprefix(prefix)


def _put_once(store: ObjectStore, key: str, body: bytes) -> bool:
    try:
        store.put(key, body, if_absent=True)
    except PreconditionFailedError:
        return False
    return True


def _next_number(parts: list[Part], prefix: str) -> int:
    numbers = [int(part.key.removeprefix(prefix)[5:10]) for part in parts]
    return max(numbers, default=-1) + 1
