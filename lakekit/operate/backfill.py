"""A backfill: a time of the past is asked for again, window by window, each by a run of its own."""

from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Literal

from lakekit import layout
from lakekit.landing.writer import load_manifest
from lakekit.models import Model
from lakekit.ports import Flow, ObjectStore
from lakekit.runs.documents import Run, read_optional

State = Literal["started", "running", "landed", "failed"]
POLL_SECONDS = 10.0
# So that no two runs have one extraction time.
BETWEEN_STARTS_SECONDS = 1.5


class Chunk(Model):
    """What one run of a backfill asks for, and how far it is; `run_id` is that of its last run."""

    start: datetime
    end: datetime
    run_id: str
    state: State


class Backfill(Model):
    """What a person asks for: the endpoints of a source, from a time up to another one."""

    source: str
    endpoints: tuple[str, ...]
    start: datetime
    end: datetime
    length: timedelta

    def chunks(self) -> Iterator[tuple[datetime, datetime]]:
        """Yield the ends of each chunk, the oldest first, without a hole."""
        begin = self.start
        while begin < self.end:
            end = min(begin + self.length, self.end)
            yield begin, end
            begin = end

    def run_id(self, begin: datetime, end: datetime, attempt: int) -> str:
        """Return the name of a chunk's run: the same again, so that a backfill can go on."""
        text = f"{self.endpoints} {begin.isoformat()} {end.isoformat()}"
        digest = sha256(text.encode()).hexdigest()[:12]
        return f"backfill-{self.source[:30]}-{begin:%Y%m%dT%H%M%S}-{digest}-{attempt}"

    def request(self, begin: datetime, end: datetime) -> dict[str, object]:
        """Return what a chunk's run is started with."""
        window = [begin.isoformat(), end.isoformat()]
        return {"source": self.source, "window": window, "endpoints": [*self.endpoints]}


def run_backfill(
    backfill: Backfill,
    flow: Flow,
    *,
    parallel: int,
    sleep: Callable[[float], None],
    report: Callable[[Chunk], None],
) -> bool:
    """Run the chunks of a backfill, the oldest first; return whether all have landed.

    What has landed before is not asked for again. A chunk that failed in an earlier call is tried
    once more. After a failure no more chunks are started.

    Args:
        backfill: What is asked for.
        flow: Where.
        parallel: How many runs there are at a time.
        sleep: Waits, in seconds.
        report: Is called with each chunk whose state has changed.
    """
    waiting, running, failed = [*backfill.chunks()], list[Chunk](), False
    while running or (waiting and not failed):
        while waiting and len(running) < parallel and not failed:
            chunk = _begin(backfill, flow, *waiting.pop(0))
            report(chunk)
            if chunk.state != "landed":
                running.append(chunk)
            if chunk.state == "started":
                sleep(BETWEEN_STARTS_SECONDS)
        ended = [each for each in running if not flow.executions.is_running(each.run_id)]
        running = [each for each in running if each not in ended]
        for each in ended:
            landed = _has_landed(backfill, flow.store, each.run_id)
            failed |= not landed
            report(each.model_copy(update={"state": "landed" if landed else "failed"}))
        if running and not ended:
            sleep(POLL_SECONDS)
    return not failed


def _begin(backfill: Backfill, flow: Flow, begin: datetime, end: datetime) -> Chunk:
    """Start the run of a chunk, unless an earlier one has landed it or is at work."""
    attempt = 1
    while True:
        run_id = backfill.run_id(begin, end, attempt)
        state: State | None = None
        if _has_landed(backfill, flow.store, run_id):
            state = "landed"
        elif flow.executions.start(run_id, backfill.request(begin, end)):
            state = "started"
        elif flow.executions.is_running(run_id):
            state = "running"
        if state:
            return Chunk(start=begin, end=end, run_id=run_id, state=state)
        attempt += 1


def _has_landed(backfill: Backfill, store: ObjectStore, run_id: str) -> bool:
    """Say whether a run has landed each endpoint, and no person has rejected it."""
    run = read_optional(store, layout.run_key(run_id), Run)
    if run is None:
        return False
    return all(_is_landed(store, run, name) for name in backfill.endpoints)


def _is_landed(store: ObjectStore, run: Run, endpoint: str) -> bool:
    prefix = layout.raw_prefix(run.source.source, endpoint, run.extraction_time)
    key = layout.manifest_key(prefix)
    if store.head(key) is None or store.head(layout.rejected_key(prefix)) is not None:
        return False
    # Another run may have landed there, if both began in the same second.
    return load_manifest(store, key).run_id == run.run_id
