"""A person decides about landings that wait; then a run starts that takes up what is pending."""

from collections.abc import Sequence
from hashlib import sha256
from typing import Literal

from pydantic import AwareDatetime

from lakekit import layout
from lakekit.errors import InvalidStepInputError
from lakekit.landing.decisions import approve, reject, retry
from lakekit.landing.index import PENDING, oldest
from lakekit.models import Model
from lakekit.ports import Flow
from lakekit.runs.documents import read_claim
from lakekit.runs.next_run import recover

Choice = Literal["approved", "rejected", "retried"]


class Decided(Model):
    """What a person has decided, and what follows.

    landings: their manifests. started: the run that takes up what is pending, if one was started.
    held_by: who holds their tables, by table: whoever does, looks for pending landings after it.
    """

    decision: Choice
    landings: tuple[str, ...]
    reason: str | None
    decided_by: str
    decided_at: AwareDatetime
    started: str | None
    held_by: dict[str, str]


def approve_landing(flow: Flow, manifest: str, reason: str, person: str) -> Decided:
    """Let one landing pass the guards; see `lakekit.landing.decisions.approve`."""
    _refuse_empty(reason)
    approve(flow.store, manifest, reason, flow.clock(), by=person)
    return _follow(flow, "approved", [manifest], person, reason)


def reject_landing(flow: Flow, manifest: str, reason: str, person: str) -> Decided:
    """Never merge a landing; see `lakekit.landing.decisions.reject`.

    Raises:
        InvalidStepInputError: A run is merging it.
    """
    _refuse_empty(reason)
    _refuse_claimed(flow, manifest)
    reject(flow.store, manifest, reason, flow.clock(), by=person)
    return _follow(flow, "rejected", [manifest], person, reason)


def retry_landings(flow: Flow, manifests: Sequence[str], person: str) -> Decided:
    """Try landings again; see `lakekit.landing.decisions.retry`."""
    for manifest in manifests:
        retry(flow.store, manifest)
    return _follow(flow, "retried", manifests, person, None)


def _follow(
    flow: Flow, decision: Choice, manifests: Sequence[str], person: str, reason: str | None
) -> Decided:
    """Start a run for the tables, although their merges may have failed before.

    The index is written before it is asked who holds a table: a run that holds one looks at the
    index after it has given the table back.
    """
    now = flow.clock()
    tables = dict.fromkeys((each.split("/")[1], each.split("/")[2]) for each in manifests)
    for source, table in tables:
        recover(flow.store, source, table)
    waiting = [each for each in tables if any(oldest(flow.store, PENDING, *each, limit=1))]
    holders = {table: flow.leases.holder(table) for _, table in waiting}
    free = [source for source, table in waiting if holders[table] is None]
    digest = sha256(" ".join(manifests).encode()).hexdigest()[:12]
    name = f"{decision}-{now:%Y%m%dT%H%M%S}-{digest}"
    request = {"extract": False, "origin": "person"}
    began = [
        flow.executions.start(name, {"source": source, **request})
        or flow.executions.is_running(name)  # by the same decision before
        for source in dict.fromkeys(free)  # a person names landings of one source
    ]
    return Decided(
        decision=decision,
        landings=tuple(manifests),
        reason=reason,
        decided_by=person,
        decided_at=now,
        started=name if any(began) else None,
        held_by={table: owner for table, owner in holders.items() if owner},
    )


def _refuse_empty(reason: str) -> None:
    if not reason.strip():
        raise InvalidStepInputError("give a reason: it is kept with the landing")


def _refuse_claimed(flow: Flow, manifest: str) -> None:
    """Refuse to reject what is being merged: the table and the marker would contradict."""
    if not flow.store.head(layout.index_key(PENDING, manifest)):
        return
    owner = flow.leases.holder(manifest.split("/")[2])
    claim = read_claim(flow.store, owner) if owner and owner != layout.REBUILD_OWNER else None
    if claim and manifest in claim.manifests:
        raise InvalidStepInputError(
            f"{manifest}: run {owner} is about to merge it; wait for its end"
        )
