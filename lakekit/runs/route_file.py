"""RouteFile: a file that was dropped into the inbox becomes a landing, and starts a run."""

import gzip
import io
import re
import zlib
from datetime import datetime, timedelta
from hashlib import sha256
from typing import IO, Any, NamedTuple, cast

from lakekit import layout
from lakekit.contract.contract import Contract
from lakekit.errors import LandingCorruptError, SourceShapeError, UnknownSourceError
from lakekit.landing.parquet import read_footer, refuse_footer
from lakekit.landing.received import (
    Form,
    dialect_of,
    form_of,
    format_of,
    is_converted,
    received_records,
)
from lakekit.landing.validate import Tally
from lakekit.landing.writer import LandingWriter, Manifest, Part, Request, load_manifest, publish
from lakekit.ports import Flow, ObjectStore
from lakekit.runs.documents import put_once
from lakekit.steps.functions import RouteFile, RouteFileResult

_INBOX = re.compile(
    r"^inbox/(?P<source>[a-z][a-z0-9_]*)/(?P<endpoint>[a-z][a-z0-9_]*)/(?P<file>.+)$"
)
MAX_FILE = 5 * 1024**3
# How many files of one endpoint may have one microsecond.
MAX_SHIFT = 100


class InboxFile(NamedTuple):
    """What a key below the inbox says."""

    source: str
    endpoint: str
    name: str


class _Reading(NamedTuple):
    """How a file is read."""

    name: str
    form: Form
    contract: Contract


def parse_inbox_key(key: str) -> InboxFile:
    """Read source and endpoint off a key.

    Raises:
        UnknownSourceError: It is not `inbox/{source}/{endpoint}/{file}`.

    Example:
        >>> parse_inbox_key("inbox/shop/orders/2026/day.jsonl.gz")
        InboxFile(source='shop', endpoint='orders', name='2026/day.jsonl.gz')
    """
    place = _INBOX.match(key)
    if not place:
        raise UnknownSourceError(f"{key}: a file belongs into inbox/{{source}}/{{endpoint}}/")
    return InboxFile(place["source"], place["endpoint"], place["file"])


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
        SourceShapeError: It is not of its form, its header lacks a key, or it, or a record of it,
            is too large.
    """
    store, run_id = flow.store, run_id_of(step, contract.contract)
    form = form_of(step.key, contract.files)
    prefix, time = _reserve(store, contract, step.arrived_at, run_id)
    key = layout.manifest_key(prefix)
    if store.head(key):
        manifest = load_manifest(store, key)
    else:
        manifest = _land(step, store, _Reading(step.key, form, contract), prefix, (run_id, time))
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
    step: RouteFile, store: ObjectStore, reading: _Reading, prefix: str, run: tuple[str, datetime]
) -> Manifest:
    """Copy the file as it is, measure it, and convert it if a merge does not read it so."""
    _, form, contract = reading
    key = layout.original_key(prefix, form.ending)
    _refuse(store, step)
    store.copy(step.key, key)
    _refuse(store, step)
    writer = LandingWriter(store, prefix) if is_converted(form, contract.files) else None
    try:
        part = _measure(store, key, reading, writer)
    except SourceShapeError as error:
        raise SourceShapeError(f"{step.key}: {error}") from error
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
        format=format_of(form, contract.files),
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


def _measure(store: ObjectStore, key: str, reading: _Reading, writer: LandingWriter | None) -> Part:
    """Read an object once: count, hash, and write its records on if there is a writer."""
    with store.open(key) as stream:
        tally = Tally(stream)
        buffered = cast(IO[bytes], io.BufferedReader(tally))
        rows, size = _count(buffered, reading, writer)
        while buffered.read(1 << 20):
            pass
    return Part(
        key=key,
        rows=rows,
        bytes=tally.size,
        sha256=tally.digest.hexdigest(),
        uncompressed_bytes=size,
    )


def _count(stream: IO[bytes], reading: _Reading, writer: LandingWriter | None) -> tuple[int, int]:
    """Return how many records a file has, and how many bytes unpacked."""
    name, form, contract = reading
    if form.format == "parquet":
        footer = read_footer(stream)
        refuse_footer(footer, contract, dialect_of(contract, name))
        return footer.rows, footer.bytes
    rows = 0
    packed = gzip.GzipFile(fileobj=stream) if form.packed else stream
    unpacked = Tally(cast(Any, packed))
    try:
        for record in received_records(cast(Any, unpacked), form, contract, name):
            if writer:
                writer.write([record])
            rows += 1
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise SourceShapeError(f"broken gzip: {error}") from error
    return rows, unpacked.size
