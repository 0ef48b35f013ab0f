"""RouteFile: a file that was dropped into the inbox becomes a landing and starts a run."""

import gzip
import io
import zlib
from collections.abc import Callable
from datetime import datetime, timedelta
from hashlib import sha256
from typing import IO, Any, cast

from lakekit import layout
from lakekit.contract.contract import Contract
from lakekit.errors import LandingCorruptError, SourceShapeError
from lakekit.json_lines import is_blank
from lakekit.landing.csv import csv_records
from lakekit.landing.validate import Tally
from lakekit.landing.writer import LandingWriter, Manifest, Part, Request, load_manifest, publish
from lakekit.ports import ObjectStore
from lakekit.runs.documents import put_once
from lakekit.runs.inbox import parse_inbox_key
from lakekit.steps.functions import RouteFile, RouteFileResult

# How many files of one endpoint may arrive in one second.
MAX_SHIFT = 3600


def route_file(
    step: RouteFile,
    store: ObjectStore,
    contract: Contract,
    start: Callable[[str, dict[str, Any]], bool],
) -> RouteFileResult:
    """Land one file and start its run; the same event again starts nothing.

    Args:
        step: The file.
        store: The bucket in which inbox and landings are.
        contract: Of the endpoint that the key names.
        start: Starts `load_source` under a name; false if that name was used before.

    Raises:
        LandingCorruptError: The file was replaced or removed before it was read.
        SourceShapeError: It is no CSV, or no gzip.
    """
    run_id = run_id_of(step, contract.contract)
    prefix, time = _reserve(store, contract, step.arrived_at, run_id)
    key = layout.manifest_key(prefix)
    if store.head(key):
        manifest = load_manifest(store, key)
    else:
        manifest = _land(step, store, contract, prefix, (run_id, time))
    publish(store, manifest)
    done = store.head(layout.complete_key(prefix)) is not None
    payload = {
        "source": contract.source,
        "manifests": [key],
        "extraction_time": manifest.extraction_time.isoformat(),
    }
    return RouteFileResult(run_id=run_id, manifest=key, started=not done and start(run_id, payload))


def run_id_of(step: RouteFile, endpoint: str) -> str:
    """Return the name of a file's run: a function of what was dropped, not of when it is read."""
    identity = "\0".join((step.key, step.etag, step.version or ""))
    return f"file-{endpoint[:40]}-{sha256(identity.encode()).hexdigest()[:24]}"


def _reserve(
    store: ObjectStore, contract: Contract, arrived_at: datetime, run_id: str
) -> tuple[str, datetime]:
    """Return a folder that is this file's alone, and its time.

    The layout has seconds, and two files may arrive in one: the later one moves on to the next
    second that is free. The same file finds the folder that it reserved.
    """
    time = arrived_at.replace(microsecond=0)
    for _ in range(MAX_SHIFT):
        prefix = layout.raw_prefix(contract.source, contract.contract, time)
        owner = layout.owner_key(prefix)
        if store.head(owner):
            ours = store.get(owner) == run_id.encode() and not _is_taken(store, prefix, run_id)
        else:  # what was extracted from an API has no owner, but a manifest
            free = store.head(layout.manifest_key(prefix)) is None
            ours = free and put_once(store, owner, run_id.encode())
        if ours:
            return prefix, time
        time += timedelta(seconds=1)
    raise LandingCorruptError(f"{contract.contract}: no free second after {arrived_at.isoformat()}")


def _is_taken(store: ObjectStore, prefix: str, run_id: str) -> bool:
    """Say whether an API's landing of the same second was published first."""
    key = layout.manifest_key(prefix)
    return store.head(key) is not None and load_manifest(store, key).run_id != run_id


def _land(
    step: RouteFile, store: ObjectStore, contract: Contract, prefix: str, run: tuple[str, datetime]
) -> Manifest:
    """Copy the file as it is, measure it, and convert it if it is not NDJSON."""
    file = parse_inbox_key(step.key)
    key = layout.original_key(prefix, file.ending)
    _refuse_replaced(store, step)
    store.copy(step.key, key)
    _refuse_replaced(store, step)
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


def _refuse_replaced(store: ObjectStore, step: RouteFile) -> None:
    info = store.head(step.key)
    if info is None or info.etag.strip('"') != step.etag.strip('"'):
        raise LandingCorruptError(f"{step.key}: replaced or removed before it was read")


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
            for record in csv_records(lines, contract) if writer else lines:
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
