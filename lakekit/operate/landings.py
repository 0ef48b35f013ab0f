"""Landings that wait for a run or for a person, and all that is known of one landing."""

from collections.abc import Iterator
from typing import Literal

from pydantic import AwareDatetime

from lakekit import layout
from lakekit.documents import Document
from lakekit.errors import LandingCorruptError
from lakekit.landing.decisions import Decision, read_decision
from lakekit.landing.index import BLOCKED, PENDING, blocked, is_indexed, oldest, tables_with
from lakekit.landing.writer import load_manifest
from lakekit.models import Model
from lakekit.ports import ObjectNotFoundError, ObjectStore

State = Literal["pending", "blocked", "complete", "rejected", "lost"]


class Reason(Model):
    """Why a landing waits for a person: the error, and the run that found it."""

    error: str
    cause: str
    run_id: str
    blocked_at: AwareDatetime


class Waiting(Model):
    """A landing that waits, and why if it waits for a person."""

    source: str
    table: str
    time: str
    manifest: str
    state: State
    blocked: Reason | None = None


class Landing(Waiting):
    """All that is known of a landing.

    lost: it is neither decided nor in the index. run_id: who landed it. fault: why its manifest
    cannot be read. completed_by: the run that has merged it.
    """

    run_id: str | None = None
    extract: str | None = None
    rows: int | None = None
    bytes: int | None = None
    fault: str | None = None
    objects: tuple[str, ...] = ()
    approval: Decision | None = None
    rejection: Decision | None = None
    completed_by: str | None = None


def waiting_landings(
    store: ObjectStore, states: tuple[State, ...], source: str | None = None
) -> Iterator[Waiting]:
    """Yield the landings that wait, those that wait for a person first."""
    for state in (BLOCKED, PENDING):
        if state not in states:
            continue
        sources = [source] if source else [*store.folders(layout.index_prefix(state))]
        for each in sources:
            for table in tables_with(store, state, each):
                for manifest in oldest(store, state, each, table):
                    yield _waiting(store, manifest, state)


def describe_landing(store: ObjectStore, manifest: str) -> Landing:
    """Return all that is known of a landing."""
    folder = layout.prefix_of(manifest)
    rejection = read_decision(store, layout.rejected_key(folder))
    approval = read_decision(store, layout.approved_key(folder))
    completed_by = _text(store, layout.complete_key(folder))
    reason = _reason(store, manifest)
    state: State = "lost"
    if rejection:
        state = "rejected"
    elif completed_by is not None:
        state = "complete"
    elif is_indexed(store, manifest):
        state = "blocked" if reason else "pending"
    fields = _named(manifest) | _content(store, manifest)
    return Landing(
        **fields, state=state, blocked=reason, approval=approval, rejection=rejection,
        completed_by=completed_by,
    )  # fmt: skip


def _waiting(store: ObjectStore, manifest: str, state: State) -> Waiting:
    reason = _reason(store, manifest) if state == BLOCKED else None
    return Waiting(**_named(manifest), state=state, blocked=reason)


def _named(manifest: str) -> dict[str, str]:
    _, source, table, stamp, _ = manifest.split("/")
    return {"source": source, "table": table, "time": stamp, "manifest": manifest}


def _content(store: ObjectStore, manifest: str) -> dict[str, object]:
    try:
        found = load_manifest(store, manifest)
    except LandingCorruptError as error:
        return {"fault": str(error)}
    return {
        "run_id": found.run_id,
        "extract": found.extract,
        "rows": found.rows,
        "bytes": sum(part.bytes for part in found.parts),
        "objects": tuple(store.uri(part.key) for part in found.parts),
    }


def _reason(store: ObjectStore, manifest: str) -> Reason | None:
    try:
        found = blocked(store, manifest)
    except LandingCorruptError as error:
        # An entry that a person has moved by hand holds nothing.
        info = store.head(layout.index_key(BLOCKED, manifest))
        if info is None or info.modified is None:
            return None
        return Reason(
            error="LandingCorruptError", cause=str(error), run_id="", blocked_at=info.modified
        )
    return Reason(**found.model_dump(exclude={*Document.model_fields})) if found else None


def _text(store: ObjectStore, key: str) -> str | None:
    try:
        return store.get(key).decode(errors="replace")
    except ObjectNotFoundError:
        return None
