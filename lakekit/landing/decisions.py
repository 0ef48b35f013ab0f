"""What a person decides about a landing: never to merge it, to let it pass, to try it again."""

from datetime import UTC, datetime

from pydantic import AwareDatetime

from lakekit import layout
from lakekit.documents import Document
from lakekit.errors import InvalidStepInputError, LandingCorruptError, UnknownSourceError
from lakekit.landing.index import blocked, remove_entry, unblock
from lakekit.ports import ObjectNotFoundError, ObjectStore

# The guards that an approved landing passes.
APPROVABLE = ("TooManyDeletedError", "TooManyRejectedError")


class Decision(Document):
    """Why a person has rejected or approved a landing, when, and who."""

    reason: str
    decided_at: AwareDatetime
    decided_by: str | None = None


def reject(
    store: ObjectStore, manifest: str, reason: str, now: datetime, *, by: str | None = None
) -> None:
    """Never merge a landing. Its objects stay.

    Raises:
        UnknownSourceError: There is no such landing.
        InvalidStepInputError: It is merged already.
    """
    _refuse_merged(store, manifest)
    decision = Decision(reason=reason, decided_at=now, decided_by=by)
    store.put(layout.rejected_key(layout.prefix_of(manifest)), decision.to_json())
    remove_entry(store, manifest)


def approve(
    store: ObjectStore, manifest: str, reason: str, now: datetime, *, by: str | None = None
) -> None:
    """Let a landing pass the guards against mass deletes and too many rejected records.

    Raises:
        UnknownSourceError: There is no such landing.
        InvalidStepInputError: It is merged already, or rejected; or no guard has blocked it.
    """
    _refuse_merged(store, manifest)
    _refuse_rejected(store, manifest)
    _refuse_unguarded(store, manifest)
    decision = Decision(reason=reason, decided_at=now, decided_by=by)
    store.put(layout.approved_key(layout.prefix_of(manifest)), decision.to_json())
    unblock(store, manifest)


def retry(store: ObjectStore, manifest: str) -> None:
    """Let a landing wait for the next run, by the contract that is deployed then.

    Raises:
        UnknownSourceError: There is no such landing.
        InvalidStepInputError: It is merged already, or rejected.
    """
    _refuse_merged(store, manifest)
    _refuse_rejected(store, manifest)
    unblock(store, manifest)


def read_decision(store: ObjectStore, marker: str) -> Decision | None:
    """Return what a marker says, None if there is none; one made by hand is its own reason."""
    try:
        text = store.get(marker)
    except ObjectNotFoundError:
        return None
    try:
        return Decision.parse(text, name=marker)
    except LandingCorruptError:
        info = store.head(marker)
        written = info.modified if info and info.modified else datetime.fromtimestamp(0, UTC)
        return Decision(reason=text.decode(errors="replace").strip(), decided_at=written)


def _refuse_merged(store: ObjectStore, manifest: str) -> None:
    if store.head(manifest) is None:
        raise UnknownSourceError(f"{manifest}: there is no such landing")
    if store.head(layout.complete_key(layout.prefix_of(manifest))):
        raise InvalidStepInputError(
            f"{manifest}: is merged; to take it back, roll the table back first"
        )


def _refuse_rejected(store: ObjectStore, manifest: str) -> None:
    marker = layout.rejected_key(layout.prefix_of(manifest))
    if store.head(marker):
        raise InvalidStepInputError(f"{manifest}: is rejected; remove {marker} first")


def _refuse_unguarded(store: ObjectStore, manifest: str) -> None:
    """Refuse what an approval would not change; the same again goes on where it was cut short."""
    why = blocked(store, manifest)
    if why is None and not store.head(layout.approved_key(layout.prefix_of(manifest))):
        raise InvalidStepInputError(f"{manifest}: no guard has blocked it; there is no need")
    if why and why.error not in APPROVABLE:
        raise InvalidStepInputError(
            f"{manifest}: {why.error} is beyond an approval; correct the cause and retry it, or "
            "reject it"
        )
