"""Recent runs: of which source, how each ended, which tables it took.

The service lists executions, the newest first. So no listing grows with the runs that ever were.
"""

from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime
from itertools import islice
from typing import Literal

from pydantic import AwareDatetime

from lakekit import layout
from lakekit.errors import InvalidStepInputError, LandingCorruptError, NewerDocumentError
from lakekit.models import Model
from lakekit.ports import ExecutionInfo, ExecutionLog, ObjectStore
from lakekit.runs.documents import Claim, Run, read_claim, read_optional
from lakekit.side_by_side import side_by_side

Outcome = Literal["running", "done", "deferred", "failed", "stopped", "timed out"]
_OUTCOMES: dict[str, Outcome] = {
    "SUCCEEDED": "done", "FAILED": "failed", "ABORTED": "stopped", "TIMED_OUT": "timed out",
}  # fmt: skip
# Among so many executions the runs of one source are looked for, so many at once.
MOST_SEARCHED, _CHUNK = 1000, 50


class RecentRun(Model):
    """One run: how it ended, how long it took, the tables it took with how many landings each.

    source: None if it is not known, because the run ended before it began.
    """

    run_id: str
    source: str | None
    outcome: Outcome
    started_at: AwareDatetime
    ended_at: AwareDatetime | None
    seconds: float
    tables: dict[str, int]
    error: str | None = None
    cause: str | None = None


def recent_runs(
    store: ObjectStore, log: ExecutionLog, now: datetime, *, limit: int, source: str | None = None
) -> list[RecentRun]:
    """Return the newest runs, the newest first; those of one source among the newest thousand."""
    found = log.newest(limit if source is None else MOST_SEARCHED)
    kept = found if source is None else _of_source(store, log, found, source)
    return side_by_side(lambda each: _read(store, log, each, now), [*islice(kept, limit)])


def recent_run(store: ObjectStore, log: ExecutionLog, name: str, now: datetime) -> RecentRun:
    """Return one of the newest thousand runs.

    Raises:
        InvalidStepInputError: It is not among them.
    """
    for found in log.newest(MOST_SEARCHED):
        if found.name == name:
            return _read(store, log, found, now)
    raise InvalidStepInputError(f"there is no run {name} among the newest {MOST_SEARCHED:,}")


def _of_source(
    store: ObjectStore, log: ExecutionLog, found: Iterator[ExecutionInfo], source: str
) -> Iterator[ExecutionInfo]:
    while chunk := [*islice(found, _CHUNK)]:
        sources = side_by_side(lambda each: _source_of(store, log, each.name), chunk)
        yield from (each for each, own in zip(chunk, sources, strict=True) if own == source)


def _source_of(store: ObjectStore, log: ExecutionLog, run_id: str) -> str | None:
    with suppress(LandingCorruptError, NewerDocumentError):
        if run := read_optional(store, layout.run_key(run_id), Run):
            return run.source.source
    given = log.details(run_id).request.get("source")
    return given if isinstance(given, str) else None


def _read(store: ObjectStore, log: ExecutionLog, found: ExecutionInfo, now: datetime) -> RecentRun:
    claim = _claim(store, found.name)
    outcome = _OUTCOMES.get(found.status, "running")
    if outcome == "done" and claim and not claim.tables and claim.deferred:
        outcome = "deferred"
    details = log.details(found.name) if outcome == "failed" else None
    return RecentRun(
        run_id=found.name,
        source=_source_of(store, log, found.name),
        outcome=outcome,
        started_at=found.started_at,
        ended_at=found.ended_at,
        seconds=round(((found.ended_at or now) - found.started_at).total_seconds(), 1),
        tables={each.table: len(each.manifests) for each in claim.tables} if claim else {},
        error=details.error if details else None,
        cause=details.cause if details else None,
    )


def _claim(store: ObjectStore, run_id: str) -> Claim | None:
    with suppress(LandingCorruptError, NewerDocumentError):
        return read_claim(store, run_id)
    return None
