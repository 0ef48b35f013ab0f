"""The index of landings that wait: for a run (`pending`), or for a person (`blocked`).

The markers next to a landing are the truth. The index spares the listing of all that ever landed,
and can be derived from them again.
"""

import re
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice

from pydantic import AwareDatetime

from lakekit import layout
from lakekit.documents import Document
from lakekit.ports import ObjectNotFoundError, ObjectStore

PENDING, BLOCKED = "pending", "blocked"
_STAMP = re.compile(r"^\d{8}_\d{6}(_\d{6})?$")


class Blocked(Document):
    """Why a landing waits for a person, and which run found that."""

    run_id: str
    error: str
    cause: str
    blocked_at: AwareDatetime


def add_pending(store: ObjectStore, manifest: str) -> None:
    """Let a landing wait for the next run of its source. Again is no error."""
    store.put(layout.index_key(PENDING, manifest), b"")


def remove_entry(store: ObjectStore, manifest: str) -> None:
    """Remove a landing from the index: it is complete or rejected."""
    store.delete(layout.index_key(PENDING, manifest))
    store.delete(layout.index_key(BLOCKED, manifest))


def block(store: ObjectStore, manifest: str, why: Blocked) -> None:
    """Let a landing wait for a person. It is never in neither folder."""
    store.put(layout.index_key(BLOCKED, manifest), why.to_json())
    store.delete(layout.index_key(PENDING, manifest))


def unblock(store: ObjectStore, manifest: str) -> None:
    """Let a blocked landing wait for the next run.

    A run may take it and block it again in between. That entry is another one, and stays.
    """
    key = layout.index_key(BLOCKED, manifest)
    before = store.head(key)
    add_pending(store, manifest)
    if before:
        store.delete(key, if_match=before.etag)


def is_indexed(store: ObjectStore, manifest: str) -> bool:
    """Say whether a landing waits for a run or for a person."""
    keys = (layout.index_key(state, manifest) for state in (PENDING, BLOCKED))
    return any(store.head(key) for key in keys)


def tables_with(store: ObjectStore, state: str, source: str) -> list[str]:
    """Return the tables of a source with landings in a state."""
    return list(store.folders(layout.index_prefix(state, source)))


def oldest(
    store: ObjectStore, state: str, source: str, table: str, *, limit: int | None = None
) -> Iterator[str]:
    """Yield the manifests of a table's landings in a state, oldest first.

    A key that is no landing's is passed over.
    """
    prefix, folder = (
        layout.index_prefix(state, source, table),
        layout.endpoint_prefix(source, table),
    )
    stamps = (info.key.removeprefix(prefix) for info in store.list(prefix))
    # Only then are they counted: what is passed over must not crowd out landings.
    landings = (layout.manifest_key(f"{folder}{stamp}/") for stamp in stamps if _STAMP.match(stamp))
    yield from islice(landings, limit)


def blocked(store: ObjectStore, manifest: str) -> Blocked | None:
    """Return why a landing is blocked, or None if it is not."""
    key = layout.index_key(BLOCKED, manifest)
    with suppress(ObjectNotFoundError):
        return Blocked.parse(store.get(key), name=key)
    return None
