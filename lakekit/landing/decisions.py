"""What a person decides about a landing: never to merge it, to let it pass, to try it again."""

from datetime import datetime

from pydantic import AwareDatetime

from lakekit import layout
from lakekit.documents import Document
from lakekit.errors import InvalidStepInputError, UnknownSourceError
from lakekit.landing.index import remove_entry, unblock
from lakekit.ports import ObjectStore


class Decision(Document):
    """Why a person has rejected or approved a landing, and when."""

    reason: str
    decided_at: AwareDatetime


def reject(store: ObjectStore, manifest: str, reason: str, now: datetime) -> None:
    """Never merge a landing. Its objects stay.

    Raises:
        UnknownSourceError: There is no such landing.
        InvalidStepInputError: It is merged already.
    """
    _refuse_merged(store, manifest)
    _write(store, layout.rejected_key(layout.prefix_of(manifest)), reason, now)
    remove_entry(store, manifest)


def approve(store: ObjectStore, manifest: str, reason: str, now: datetime) -> None:
    """Let a landing pass the guards against mass deletes and too many rejected records.

    Raises:
        UnknownSourceError: There is no such landing.
        InvalidStepInputError: It is merged already, or rejected.
    """
    _refuse_merged(store, manifest)
    _refuse_rejected(store, manifest)
    _write(store, layout.approved_key(layout.prefix_of(manifest)), reason, now)
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


def _write(store: ObjectStore, key: str, reason: str, now: datetime) -> None:
    store.put(key, Decision(reason=reason, decided_at=now).to_json())
