"""The parents of a child endpoint, from the records that their table has landed."""

import gzip
import zlib
from collections.abc import Iterator, Sequence
from typing import IO, cast

from lakekit.contract.endpoint.parent import Parents
from lakekit.contract.endpoint.paths import path_steps
from lakekit.errors import LandingCorruptError, SourceShapeError
from lakekit.json_text.lines import bounded_lines, is_blank, read_fields, value_along
from lakekit.landing.writer import Manifest
from lakekit.ports import ObjectNotFoundError, ObjectStore

# Of the fields of all parents together: they are held in memory.
MOST_BYTES = 32 * 1024 * 1024


def landed_parents(
    store: ObjectStore, manifest: Manifest, parents: Parents, asked: Sequence[str]
) -> tuple[dict[str, bytes], ...]:
    """Return the JSON text of each field of each parent, in the order in which they landed.

    Records that are the same to a request are one parent. The last of them counts.

    Args:
        store: Where they landed.
        manifest: Of their landing.
        parents: What is kept of each, and how many there may be.
        asked: The fields that are in a request.

    Raises:
        SourceShapeError: They are too many or too large, or one of them is no record.
        LandingCorruptError: An object is missing or broken.
    """
    steps = {name: [str(s) for s in path_steps(path)] for name, path in parents.fields.items()}
    found: dict[tuple[bytes, ...], dict[str, bytes]] = {}
    size = 0
    for number, line in enumerate(_lines(store, manifest), start=1):
        fields = read_fields(line)
        if fields is None:
            raise SourceShapeError(f"record {number} of {manifest.endpoint} is no JSON object")
        parent = {name: value_along(fields, along) or b"null" for name, along in steps.items()}
        found[tuple(parent[name] for name in asked)] = parent
        size += sum(map(len, parent.values()))
        if len(found) > parents.max_parents:
            raise SourceShapeError(
                f"{manifest.endpoint} has more than {parents.max_parents} parents; "
                f"parent: {{max_parents: …}} allows more"
            )
        if size > MOST_BYTES:
            raise SourceShapeError(
                f"the fields of the parents from {manifest.endpoint} have more than "
                f"{MOST_BYTES >> 20} MiB; name fewer or smaller ones"
            )
    return tuple(found.values())


def _lines(store: ObjectStore, manifest: Manifest) -> Iterator[bytes]:
    if manifest.format != "ndjson":
        raise SourceShapeError(f"{manifest.prefix} holds {manifest.format}, not an extraction")
    for part in manifest.parts:
        try:
            with store.open(part.key) as stream:
                unpacked = cast(IO[bytes], gzip.GzipFile(fileobj=stream))
                yield from (line for line in bounded_lines(unpacked) if not is_blank(line))
        except ObjectNotFoundError:
            raise LandingCorruptError(f"{part.key}: missing") from None
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            raise LandingCorruptError(f"{part.key}: broken gzip: {error}") from error
