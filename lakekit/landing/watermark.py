"""Watermarks: up to where everything of an incremental table is complete."""

from collections.abc import Iterable
from datetime import datetime

from pydantic import AwareDatetime

from lakekit import layout
from lakekit.contract.contract import Contract
from lakekit.contract.endpoint.incremental import (
    TIME_FORMATS,
    Incremental,
    WatermarkType,
    time_text,
    value_of,
)
from lakekit.documents import Document
from lakekit.errors import CommitConflictError, InvalidStepInputError, WatermarkMismatchError
from lakekit.landing.mark import Mark
from lakekit.landing.writer import Manifest
from lakekit.models import Name
from lakekit.ports import ObjectStore, PreconditionFailedError

_ATTEMPTS = 5


class Watermark(Document):
    """Up to where everything of a table is complete: where its next run begins.

    by: the path of the contract's watermark, or `window`. value: a time as ISO 8601 in UTC, a
    number or a text as the source wrote it. manifest: the landing that reached it. set_by: the
    person who set it instead.
    """

    table: Name
    by: str
    type: WatermarkType
    value: str
    changed_at: AwareDatetime
    manifest: str | None = None
    set_by: str | None = None

    def is_of(self, incremental: Incremental) -> bool:
        """Say whether it was measured as a contract says."""
        return (self.by, self.type) == (incremental.by, incremental.type)


def begun_mark(contract: Contract, stored: Watermark | None) -> Mark | None:
    """Return the mark with which a landing begins; None if its endpoint is not incremental.

    Args:
        contract: Of the table.
        stored: Up to where everything was complete when the run began.

    Raises:
        WatermarkMismatchError: The contract has another watermark than the one that is stored.
    """
    incremental = contract.endpoint.incremental
    if incremental is None:
        return None
    if stored and not stored.is_of(incremental):
        raise WatermarkMismatchError(
            f"{contract.contract}: the stored watermark is {stored.value}, {stored.type} of "
            f"{stored.by}, but the contract has {incremental.type} of {incremental.by}; say where "
            f"it begins: lakekit watermark set {contract.source}.{contract.contract} VALUE"
        )
    since = stored.value if stored else incremental.begin
    return Mark(by=incremental.by, type=incremental.type, since=since)


def read_watermark(store: ObjectStore, source: str, table: str) -> Watermark | None:
    """Return up to where everything of a table is complete; None before its first landing is."""
    return _read(store, layout.watermark_key(source, table))[0]


def advance(
    store: ObjectStore, contract: Contract, completed: Iterable[Manifest], now: datetime
) -> None:
    """Move a table's watermark forward to what its complete landings reach.

    A landing that begins behind the watermark leaves it: what is between would never be asked for.

    Raises:
        CommitConflictError: Others write it at the same time, again and again.
    """
    incremental = contract.endpoint.incremental
    if incremental is None:
        return
    for manifest in completed:
        _advance(store, contract, incremental, manifest, now)


def set_watermark(
    store: ObjectStore, contract: Contract, value: str, person: str, now: datetime
) -> Watermark:
    """Let the next run of a table begin at a value, also at an earlier one.

    Raises:
        InvalidStepInputError: The endpoint is not incremental, or the value is not of its type, or
            is a time in the future.
    """
    name = f"{contract.source}.{contract.contract}"
    incremental = contract.endpoint.incremental
    if incremental is None:
        raise InvalidStepInputError(f"{name}: its contract has no endpoint.incremental")
    found = value_of(incremental.type, value)
    if found is None:
        must = "a time like 2026-01-01T00:00:00Z" if is_time(incremental) else incremental.type
        raise InvalidStepInputError(f"{name}: '{value[:100]}' must be {must}")
    if isinstance(found, datetime) and found > now:
        raise InvalidStepInputError(
            f"{name}: {value} is in the future, and would leave records out"
        )
    text = time_text(found) if isinstance(found, datetime) else value
    after = Watermark(
        table=contract.contract, by=incremental.by, type=incremental.type, value=text,
        changed_at=now, set_by=person,
    )  # fmt: skip
    store.put(layout.watermark_key(contract.source, contract.contract), after.to_json())
    return after


def is_time(incremental: Incremental) -> bool:
    """Say whether a watermark is a time."""
    return incremental.type in TIME_FORMATS


def _advance(
    store: ObjectStore,
    contract: Contract,
    incremental: Incremental,
    manifest: Manifest,
    now: datetime,
) -> None:
    key, mark = layout.watermark_key(contract.source, contract.contract), manifest.watermark
    for _ in range(_ATTEMPTS):
        found, etag = _read(store, key)
        if mark is None or not _moves(found, incremental, mark):
            return
        after = Watermark(
            table=contract.contract, by=mark.by, type=mark.type, value=str(mark.until),
            changed_at=now, manifest=layout.manifest_key(manifest.prefix),
        )  # fmt: skip
        try:
            store.put(key, after.to_json(), if_absent=etag is None, if_match=etag)
        except PreconditionFailedError:
            continue
        return
    raise CommitConflictError(f"{key}: others write it at the same time")


def _moves(found: Watermark | None, incremental: Incremental, mark: Mark) -> bool:
    """Say whether a landing moves the watermark: it begins at or before it, and ends behind it."""
    by = (found.by, found.type) if found else (incremental.by, incremental.type)
    if by != (mark.by, mark.type) or mark.until is None:
        return False
    edge = value_of(mark.type, found.value if found else incremental.begin)
    since, until = value_of(mark.type, mark.since), value_of(mark.type, mark.until)
    return since <= edge < until  # type: ignore[operator]


def _read(store: ObjectStore, key: str) -> tuple[Watermark | None, str | None]:
    """Return what is stored and its etag: that of before it was read, so that a change is seen."""
    info = store.head(key)
    return (Watermark.parse(store.get(key), name=key), info.etag) if info else (None, None)
