"""Whether two contestants landed the same records: read back, parsed, compared as a bag."""

import gzip
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

# Where each contestant's records are below its folder.
FILES = {
    "lakekit": "raw/**/part-*.ndjson.gz",
    "loop": "records.jsonl.gz",
    "dlt": "landed/shop/orders/*.jsonl.gz",
}
_MODULUS = 1 << 128


class Landed(NamedTuple):
    """How many records there are, and a digest that does not depend on their order."""

    rows: int
    digest: str


def landed(folder: Path, name: str) -> Landed:
    """Read back what a contestant landed below a folder."""
    rows = total = 0
    for record in _records(folder, FILES[name]):
        rows += 1
        text = json.dumps(canonical(record), sort_keys=True).encode()
        total = (total + int.from_bytes(blake2b(text, digest_size=16).digest())) % _MODULUS
    return Landed(rows, f"{total:032x}")


def canonical(record: dict[str, Any]) -> dict[str, Any]:
    """Return a record without the columns of dlt, with its time in one form.

    Example:
        >>> canonical({"id": 1, "updated_at": "2026-01-01T01:00:00+01:00", "_dlt_id": "x"})
        {'id': 1, 'updated_at': '2026-01-01T00:00:00+00:00'}
    """
    found = {name: value for name, value in record.items() if not name.startswith("_dlt_")}
    found["updated_at"] = datetime.fromisoformat(found["updated_at"]).astimezone(UTC).isoformat()
    return found


def _records(folder: Path, pattern: str) -> Iterator[dict[str, Any]]:
    for path in sorted(folder.glob(pattern)):
        with gzip.open(path) as lines:
            yield from map(json.loads, lines)
