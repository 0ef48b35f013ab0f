"""The memory of RouteFile and ValidateLanding: `python -m benchmarks.landing FORM MEGABYTES`.

Drops one file, lands it and validates it in this process, whose peak is then that of both steps.
"""

import argparse
import gzip
import json
import resource
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO

from lakekit.contract.contract import Contract, load_contract
from lakekit.landing.validate import validate_landing
from lakekit.landing.writer import load_manifest
from lakekit.ports import Flow, ObjectInfo, ObjectNotFoundError, PreconditionFailedError
from lakekit.runs.route_file import route_file
from lakekit.runs.validate_landing import as_merged
from lakekit.steps.functions import RouteFile

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
CONTRACT = """
contract: orders
source: shop
endpoint: {path: /orders}
schema: [{name: id, type: bigint}, {name: name, type: string}]
history: {keys: [id]}
"""
ROWS_AT_ONCE = 1000
# One record of each form; in `names` each record has a name of its own.
FORMS: dict[str, tuple[str, Callable[[int], bytes]]] = {
    "ndjson": (".ndjson.gz", lambda n: b'{"id":%d,"name":"%060d"}\n' % (n, n)),
    "names": (".ndjson.gz", lambda n: b'{"id":%d,"name %060d":1}\n' % (n, n)),
    "csv": (".csv.gz", lambda n: b"%d,%060d\n" % (n, n)),
}


class FolderStore:
    """An object store in a folder, as far as both steps use one."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def uri(self, key: str) -> str:
        return str(self.folder / key)

    def open(self, key: str) -> BinaryIO:
        try:
            return (self.folder / key).open("rb")
        except FileNotFoundError:
            raise ObjectNotFoundError(key) from None

    def get(self, key: str) -> bytes:
        with self.open(key) as stream:
            return stream.read()

    def head(self, key: str) -> ObjectInfo | None:
        path = self.folder / key
        return ObjectInfo(key, path.stat().st_size, "etag") if path.exists() else None

    def put(
        self, key: str, body: bytes, *, if_absent: bool = False, if_match: str | None = None
    ) -> str:
        path = self.folder / key
        if if_absent and path.exists():
            raise PreconditionFailedError(key)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(body)
        return "etag"

    def put_file(self, key: str, file: BinaryIO, *, if_absent: bool = False) -> str:
        path = self.folder / key
        if if_absent and path.exists():
            raise PreconditionFailedError(key)
        file.seek(0)
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("wb") as written:
            shutil.copyfileobj(file, written)
        return "etag"

    def copy(self, source_key: str, key: str) -> None:
        shutil.copyfile(self.folder / source_key, self.folder / key)


class Held:
    """Leases of tables that another run holds, so that none is started."""

    def holder(self, table: str) -> str:
        return "another"


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, and print what was found as one line of JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("form", choices=FORMS)
    parser.add_argument("megabytes", type=int, help="size of the file, unpacked")
    options = parser.parse_args(arguments)
    contract = load_contract(CONTRACT)
    with tempfile.TemporaryDirectory() as folder:
        store = FolderStore(Path(folder))
        key = _drop(store, options.form, options.megabytes * 1_000_000)
        before = _peak()
        rows = _land_and_validate(store, key, contract)
    found = {"rows": rows, "before_mb": before, "peak_mb": _peak()}
    sys.stdout.write(json.dumps(vars(options) | found) + "\n")
    return 0


def _drop(store: FolderStore, form: str, size: int) -> str:
    ending, _ = FORMS[form]
    key = f"inbox/shop/orders/file{ending}"
    path = store.folder / key
    path.parent.mkdir(parents=True)
    with gzip.open(path, "wb", compresslevel=1) as stream:
        for block in _blocks(form, size):
            stream.write(block)
    return key


def _blocks(form: str, size: int) -> Iterator[bytes]:
    _, record = FORMS[form]
    if form == "csv":
        yield b"id,name\n"
    number = 0
    while size > 0:
        block = b"".join(map(record, range(number, number + ROWS_AT_ONCE)))
        yield block
        number, size = number + ROWS_AT_ONCE, size - len(block)


def _land_and_validate(store: Any, key: str, contract: Contract) -> int:
    leases: Any = Held()
    flow = Flow(store, leases, executions=leases, clock=lambda: NOON)
    routed = route_file(RouteFile(key=key, etag="etag", arrived_at=NOON), flow, contract)
    manifest = load_manifest(store, routed.manifest)
    for landing in (manifest, as_merged(manifest)):
        counted = validate_landing(store, landing, contract)
    return counted.rows


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


if __name__ == "__main__":
    sys.exit(main())
