"""The parents of a child endpoint, from the records that their table has landed."""

import gzip
import re
import zlib
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import IO, cast

from lakekit import layout
from lakekit.contract.endpoint.parent import Parents
from lakekit.contract.endpoint.paths import path_steps
from lakekit.errors import LandingCorruptError, SourceShapeError
from lakekit.json_text.lines import bounded_lines, is_blank, read_fields, value_along
from lakekit.landing.writer import Manifest, load_manifest
from lakekit.ports import ObjectNotFoundError, ObjectStore

# Of the fields of all parents together: they are held in memory.
MOST_BYTES = 32 * 1024 * 1024
_EXTRACTION = re.compile(r"\d{8}_\d{6}")


def landings_since_child(
    store: ObjectStore, source: str, table: str, child: str, until: datetime
) -> list[Manifest]:
    """Return the landings of a table that its child has not asked for yet, oldest first.

    These are those after the child's newest extraction before `until`, up to `until`. A child that
    failed so makes up for it, although its parents have moved on.
    """
    parents, children = layout.endpoint_prefix(source, table), layout.endpoint_prefix(source, child)
    last = layout.raw_prefix(source, table, until).removeprefix(parents).rstrip("/")
    asked = [
        stamp
        for stamp in sorted(store.folders(children), reverse=True)
        if _EXTRACTION.fullmatch(stamp) and stamp < last
    ]
    newest = next((stamp for stamp in asked if _counts(store, f"{children}{stamp}/")), "")
    return [
        load_manifest(store, layout.manifest_key(f"{parents}{stamp}/"))
        for stamp in sorted(store.folders(parents))
        if newest < stamp <= last and _counts(store, f"{parents}{stamp}/")
    ]


def _counts(store: ObjectStore, prefix: str) -> bool:
    has_landed = store.head(layout.manifest_key(prefix))
    return bool(has_landed) and not store.head(layout.rejected_key(prefix))


def landed_parents(
    store: ObjectStore, manifests: Sequence[Manifest], parents: Parents, asked: Sequence[str]
) -> tuple[dict[str, bytes], ...]:
    """Return the JSON text of each field of each parent, in the order in which they landed.

    Records that are the same to a request are one parent. The last of them counts.

    Args:
        store: Where they landed.
        manifests: Of their landings, oldest first.
        parents: What is kept of each, and how many there may be.
        asked: The fields that are in a request.

    Raises:
        SourceShapeError: They are too many or too large, or one of them is no record.
        LandingCorruptError: An object is missing or broken.
    """
    steps = {name: [str(s) for s in path_steps(path)] for name, path in parents.fields.items()}
    found: dict[tuple[bytes, ...], dict[str, bytes]] = {}
    size = 0
    for where, line in (each for manifest in manifests for each in _lines(store, manifest)):
        fields = read_fields(line)
        if fields is None:
            raise SourceShapeError(f"{where} is no JSON object")
        parent = {name: value_along(fields, along) or b"null" for name, along in steps.items()}
        found[tuple(parent[name] for name in asked)] = parent
        size += sum(map(len, parent.values()))
        if len(found) > parents.max_parents:
            raise SourceShapeError(
                f"{parents.table} has more than {parents.max_parents} parents; "
                f"parent: {{max_parents: …}} allows more"
            )
        if size > MOST_BYTES:
            raise SourceShapeError(
                f"the fields of the parents from {parents.table} have more than "
                f"{MOST_BYTES >> 20} MiB; name fewer or smaller ones"
            )
    return tuple(found.values())


def _lines(store: ObjectStore, manifest: Manifest) -> Iterator[tuple[str, bytes]]:
    """Yield each line with what it is called."""
    if manifest.format == "parquet":
        raise SourceShapeError(f"{manifest.prefix} is Parquet, which has no lines with parents")
    number = 0
    for part in manifest.merged:
        try:
            with store.open(part.key) as stream:
                is_packed = part.key.endswith(".gz")
                lines = gzip.GzipFile(fileobj=stream) if is_packed else stream
                for line in bounded_lines(cast(IO[bytes], lines)):
                    if not is_blank(line):
                        number += 1
                        yield f"record {number} of {manifest.endpoint}", line
        except ObjectNotFoundError:
            raise LandingCorruptError(f"{part.key}: missing") from None
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            raise LandingCorruptError(f"{part.key}: broken gzip: {error}") from error
