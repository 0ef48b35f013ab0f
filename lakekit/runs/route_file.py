"""RouteFile: a file that was dropped into the inbox becomes a landing, and starts a run."""

import gzip
import io
import re
import zlib
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256
from typing import IO, Any, cast

from lakekit import layout
from lakekit.contract.contract import Contract
from lakekit.csv_records import csv_records
from lakekit.errors import LandingCorruptError, SourceShapeError, UnknownSourceError
from lakekit.json_lines import bounded_lines, is_blank
from lakekit.landing.validate import Tally
from lakekit.landing.writer import LandingWriter, Manifest, Part, Request, load_manifest, publish
from lakekit.ports import Flow, ObjectStore
from lakekit.runs.documents import put_once
from lakekit.steps.functions import RouteFile, RouteFileResult

_ENDING = re.compile(r"^.+?(?P<plain>\.(ndjson|jsonl|csv))?(?P<gzip>\.gz)?$")
_INBOX = re.compile(
    r"^inbox/(?P<source>[a-z][a-z0-9_]*)/(?P<endpoint>[a-z][a-z0-9_]*)/(?P<file>.+)$"
)
MAX_FILE = 5 * 1024**3
# How many files of one endpoint may have one microsecond.
MAX_SHIFT = 100


@dataclass(frozen=True)
class InboxFile:
    """What a key below the inbox says."""

    source: str
    endpoint: str
    ending: str

    @property
    def is_csv(self) -> bool:
        """Whether the file is CSV; else it is NDJSON."""
        return self.ending.startswith(".csv")


def parse_inbox_key(key: str) -> InboxFile:
    """Read source, endpoint and format off a key.

    Raises:
        UnknownSourceError: It is not `inbox/{source}/{endpoint}/{file}`.
        SourceShapeError: Its ending is none that is known.

    Example:
        >>> parse_inbox_key("inbox/shop/orders/2026/day.jsonl.gz")
        InboxFile(source='shop', endpoint='orders', ending='.ndjson.gz')
    """
    place = _INBOX.match(key)
    if not place:
        raise UnknownSourceError(f"{key}: a file belongs into inbox/{{source}}/{{endpoint}}/")
    name = place["file"].rpartition("/")[2]
    found = _ENDING.match(name.lower())
    plain, packed = (found["plain"], found["gzip"]) if found else (None, None)
    if not plain and (not packed or "." in name[: -len(".gz")]):
        raise SourceShapeError(f"{key}: must end in .ndjson, .jsonl or .csv, or that and .gz")
    kind = ".csv" if plain == ".csv" else ".ndjson"
    return InboxFile(place["source"], place["endpoint"], kind + (packed or ""))


def route_file(step: RouteFile, flow: Flow, contract: Contract) -> RouteFileResult:
    """Land one file and start a run; the same event again lands and starts nothing.

    While others hold the table no run is started: they look at the index after they have given the
    table back. So a burst of files is few runs.

    Args:
        step: The file.
        flow: The bucket in which inbox and landings are, and who holds the table.
        contract: Of the endpoint that the key names.

    Raises:
        LandingCorruptError: The file was replaced or removed before it was read.
        SourceShapeError: It is no CSV, or no gzip, or has a record or a size that is too large.
    """
    store, run_id = flow.store, run_id_of(step, contract.contract)
    prefix, time = _reserve(store, contract, step.arrived_at, run_id)
    key = layout.manifest_key(prefix)
    if store.head(key):
        manifest = load_manifest(store, key)
    else:
        manifest = _land(step, store, contract, prefix, (run_id, time))
    publish(store, manifest)
    # Only now: the sweeper routes a file again that has no such entry.
    store.put(layout.routed_key(step.key, step.etag), key.encode())
    waits = store.head(layout.complete_key(prefix)) is None
    started = waits and _start(flow, contract, run_id)
    return RouteFileResult(run_id=run_id, manifest=key, started=started)


def _start(flow: Flow, contract: Contract, run_id: str) -> bool:
    if flow.leases.holder(contract.contract):
        return False
    request = {"source": contract.source, "extract": False, "origin": "file"}
    return flow.executions.start(run_id, request)


def run_id_of(step: RouteFile, endpoint: str) -> str:
    """Return the name of a file's run: a function of what was dropped, not of when it is read."""
    identity = "\0".join((step.key, step.etag, step.version or ""))
    return f"file-{endpoint[:40]}-{sha256(identity.encode()).hexdigest()[:24]}"


def _reserve(
    store: ObjectStore, contract: Contract, arrived_at: datetime, run_id: str
) -> tuple[str, datetime]:
    """Return a folder that is this file's alone, and its time.

    Many files arrive in one second, in an order that their events do not have. The microsecond is a
    function of the file, so that the same file finds its folder at once.
    """
    own = 1 + int(sha256(run_id.encode()).hexdigest(), 16) % 999_999
    time = arrived_at.replace(microsecond=own)
    for _ in range(MAX_SHIFT):
        prefix = layout.raw_prefix(contract.source, contract.contract, time)
        owner = layout.owner_key(prefix)
        if put_once(store, owner, run_id.encode()) or store.get(owner) == run_id.encode():
            return prefix, time
        time += timedelta(microseconds=1)
    raise LandingCorruptError(f"{contract.contract}: no free time after {arrived_at.isoformat()}")


def _land(
    step: RouteFile, store: ObjectStore, contract: Contract, prefix: str, run: tuple[str, datetime]
) -> Manifest:
    """Copy the file as it is, measure it, and convert it if it is not NDJSON."""
    file = parse_inbox_key(step.key)
    key = layout.original_key(prefix, file.ending)
    _refuse(store, step)
    store.copy(step.key, key)
    _refuse(store, step)
    writer = LandingWriter(store, prefix) if file.is_csv else None
    part = _measure(store, key, contract, writer)
    return Manifest(
        run_id=run[0],
        source=contract.source,
        endpoint=contract.contract,
        contract_version=contract.version,
        extract=contract.endpoint.extract,
        extraction_time=run[1],
        request=Request(url=store.uri(step.key), params={"etag": step.etag}),
        pages=1,
        rows=part.rows,
        format="csv" if file.is_csv else "ndjson",
        parts=(part,),
        converted=writer.flush() if writer else (),
    )


def _refuse(store: ObjectStore, step: RouteFile) -> None:
    """Refuse a file that is not what was dropped, or that S3 does not copy in one call."""
    info = store.head(step.key)
    if info is None or info.etag.strip('"') != step.etag.strip('"'):
        raise LandingCorruptError(f"{step.key}: replaced or removed before it was read")
    if info.size > MAX_FILE:
        raise SourceShapeError(f"{step.key}: has {info.size} bytes, a file may have 5 GB; split it")


def _measure(
    store: ObjectStore, key: str, contract: Contract, writer: LandingWriter | None
) -> Part:
    """Read an object once: count, hash, and write its rows on if there is a writer."""
    rows, size = 0, 0
    with store.open(key) as stream:
        tally = Tally(stream)
        buffered = cast(IO[bytes], io.BufferedReader(tally))
        unpacked = Tally(cast(Any, _unpacked(buffered, key)))
        lines = cast(IO[bytes], io.BufferedReader(unpacked))
        try:
            for record in csv_records(lines, contract) if writer else bounded_lines(lines):
                if writer:
                    writer.write([record])
                rows += not is_blank(record)
            size = unpacked.size
            while buffered.read(1 << 20):
                pass
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            raise SourceShapeError(f"{key}: broken gzip: {error}") from error
    return Part(
        key=key,
        rows=rows,
        bytes=tally.size,
        sha256=tally.digest.hexdigest(),
        uncompressed_bytes=size,
    )


def _unpacked(stream: IO[bytes], key: str) -> IO[bytes]:
    return cast(IO[bytes], gzip.GzipFile(fileobj=stream)) if key.endswith(".gz") else stream
