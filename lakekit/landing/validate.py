"""Manifest and records against contract → verdict."""

import csv
import gzip
import io
import zlib
from collections.abc import Iterator
from hashlib import sha256
from typing import IO, Any, BinaryIO, cast

from lakekit.contract.contract import Contract
from lakekit.csv_records import csv_rows
from lakekit.errors import LandingCorruptError, SourceShapeError
from lakekit.json_lines import bounded_lines, is_blank, read_fields
from lakekit.landing.writer import Manifest, Part
from lakekit.models import Model
from lakekit.ports import ObjectNotFoundError, ObjectStore

MAX_UNKNOWN_FIELDS = 100
# Of unknown names that are in memory: where names are data, there are as many as records.
MAX_NAMES = 10_000
_BROKEN_GZIP = (gzip.BadGzipFile, EOFError, zlib.error)


class Verdict(Model):
    """What a landing holds, measured against its contract.

    unparseable: lines that are no record, by `lakekit.json_lines`. missing_keys: records in which a
    key field is absent or null, in a CSV file also empty. unknown_fields: fields that the contract
    lacks (at most 100). absent_fields: columns of the contract that no record carries.
    """

    run_id: str
    source: str
    endpoint: str
    rows: int
    unparseable: int
    missing_keys: int
    unknown_fields: tuple[str, ...]
    absent_fields: tuple[str, ...]

    @property
    def rejected_ratio(self) -> float:
        """The share of records that cannot be merged."""
        return (self.unparseable + self.missing_keys) / self.rows if self.rows else 0.0


class Tally(io.RawIOBase):
    """Passes a stream on and measures it: `size` and `digest` of what was read so far."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self.size = 0
        self.digest = sha256()

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read what the buffer holds, and measure it."""
        data = self._stream.read(len(buffer))
        buffer[: len(data)] = data
        self.size += len(data)
        self.digest.update(data)
        return len(data)


class _Census:
    """Counts the records of a landing."""

    def __init__(self, contract: Contract) -> None:
        self._keys = contract.keys
        self._columns = [column.name for column in contract.columns]
        self._seen: set[str] = set()
        self._most_seen = len(self._columns) + MAX_NAMES
        self.rows = self.unparseable = self.missing_keys = 0

    def add(self, record: dict[str, bool] | None) -> None:
        """Count one record: its fields, each with whether it holds a value; None if unreadable."""
        self.rows += 1
        if record is None:
            self.unparseable += 1
            return
        self._seen.update(record)
        if len(self._seen) > self._most_seen:
            self._seen = {*self._seen.intersection(self._columns), *self._unknown()}
        if not all(record.get(key) for key in self._keys):
            self.missing_keys += 1

    def _unknown(self) -> list[str]:
        return sorted(self._seen.difference(self._columns))[:MAX_UNKNOWN_FIELDS]

    def verdict(self, manifest: Manifest) -> Verdict:
        """Return the counts as a result."""
        absent = [name for name in self._columns if name not in self._seen]
        return Verdict(
            run_id=manifest.run_id,
            source=manifest.source,
            endpoint=manifest.endpoint,
            rows=self.rows,
            unparseable=self.unparseable,
            missing_keys=self.missing_keys,
            unknown_fields=tuple(self._unknown()),
            absent_fields=tuple(absent) if self.rows else (),
        )


def validate_landing(store: ObjectStore, manifest: Manifest, contract: Contract) -> Verdict:
    """Read every object of a manifest once and say what is in it.

    Raises:
        LandingCorruptError: An object is missing, or its bytes or rows differ from the manifest.
        SourceShapeError: A record is longer than one may be.
    """
    census = _Census(contract)
    read = _csv_records if manifest.format == "csv" else _json_records
    for part in manifest.parts:
        before = census.rows
        try:
            with store.open(part.key) as stream:
                tally = Tally(stream)
                buffered = io.BufferedReader(tally)
                for record in read(_unpacked(buffered, part.key)):
                    census.add(record)
                while buffered.read(1 << 20):
                    pass
        except ObjectNotFoundError:
            raise LandingCorruptError(f"{part.key}: missing") from None
        except SourceShapeError as error:
            raise SourceShapeError(f"{part.key}: {error}") from None
        except _BROKEN_GZIP as error:
            raise LandingCorruptError(f"{part.key}: broken gzip: {error}") from error
        _check_part(part, tally, census.rows - before)
    if census.rows != manifest.rows:
        raise LandingCorruptError(f"{manifest.prefix}: {census.rows} rows, not {manifest.rows}")
    return census.verdict(manifest)


def _check_part(part: Part, tally: Tally, rows: int) -> None:
    if (tally.size, tally.digest.hexdigest()) != (part.bytes, part.sha256):
        raise LandingCorruptError(f"{part.key}: bytes or sha256 differ from the manifest")
    if rows != part.rows:
        raise LandingCorruptError(f"{part.key}: {rows} rows, the manifest says {part.rows}")


def _unpacked(stream: IO[bytes], key: str) -> IO[bytes]:
    return cast(IO[bytes], gzip.GzipFile(fileobj=stream)) if key.endswith(".gz") else stream


def _json_records(stream: IO[bytes]) -> Iterator[dict[str, bool] | None]:
    for line in bounded_lines(stream):
        if not is_blank(line):
            yield _has_values(read_fields(line))


def _has_values(fields: dict[str, Any] | None) -> dict[str, bool] | None:
    if fields is not None:
        for name, text in fields.items():  # in its place: a line may have millions of fields
            fields[name] = text != b"null"
    return fields


def _csv_records(stream: IO[bytes]) -> Iterator[dict[str, bool] | None]:
    text = io.TextIOWrapper(stream, encoding="utf-8-sig", errors="replace", newline="")
    try:
        rows = csv_rows(text)
        header = next(rows, [])
        for row in rows:
            if row:
                fits = len(row) == len(header)
                yield dict(zip(header, map(bool, row), strict=True)) if fits else None
    except csv.Error as error:
        raise LandingCorruptError(f"not CSV: {error}") from error
    finally:
        text.detach()  # the stream's owner drains and closes it
