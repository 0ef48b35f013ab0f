"""What CompleteRun publishes of its run: one small document, with which a page has its trends.

It holds the newest runs of an environment, and grows no further. That a run is missing in it harms
nothing, so publishing gives way: to another run that writes at the same time, and to any fault.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime

from pydantic import AwareDatetime

from lakekit.documents import Document
from lakekit.errors import LandingCorruptError
from lakekit.layout import PUBLISHED
from lakekit.models import Model, Name
from lakekit.page.model import Load, PageRun
from lakekit.ports import Flow, ObjectNotFoundError, ObjectStore, PreconditionFailedError
from lakekit.runs.complete_run import TableLoaded
from lakekit.runs.documents import Run, read_run
from lakekit.steps.functions import CompleteRunResult

MOST_RUNS = 300
MOST_BYTES = 250_000
# How often it is read again because another run has written it meanwhile.
_ATTEMPTS = 3
_MOST_OF_CAUSE = 300


class PublishedLoad(Model):
    """What a run did to one table; records: those that came in."""

    table: Name
    opened: int
    closed: int
    quarantined: int
    records: int


class PublishedRun(Model):
    """A run that came to its end; cost_usd: of its jobs, None where none were charged."""

    run_id: str
    source: Name
    started_at: AwareDatetime
    ended_at: AwareDatetime
    outcome: str
    error: str | None = None
    cause: str | None = None
    cost_usd: float | None = None
    loads: tuple[PublishedLoad, ...] = ()


class PublishedRuns(Document):
    """The newest runs of an environment, the newest first."""

    runs: tuple[PublishedRun, ...] = ()


def publish_run(
    results: ObjectStore,
    flow: Flow,
    run_id: str,
    result: CompleteRunResult,
    loaded: Sequence[TableLoaded],
    cost_usd: float,
) -> str | None:
    """Publish a run that CompleteRun has completed; return why not, if it could not be.

    Args:
        results: The bucket of results.
        flow: What the steps have at hand.
        run_id: The run.
        result: How it ended.
        loaded: What it did to each table.
        cost_usd: What its jobs have cost.
    """
    try:
        run = read_run(flow.store, run_id)
        published = _ended(run, flow.clock(), result, loaded, cost_usd)
        return None if publish(results, published) else "other runs published at the same time"
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def publish(store: ObjectStore, run: PublishedRun) -> bool:
    """Add a run to those that are published; the same run again replaces what was said of it.

    Returns:
        Whether it was written; not where other runs were faster each time.
    """
    for _ in range(_ATTEMPTS):
        before = store.head(PUBLISHED)
        known = read_published(store).runs if before else ()
        document = _bounded([run, *(each for each in known if each.run_id != run.run_id)])
        try:
            if before:
                store.put(PUBLISHED, document, if_match=before.etag)
            else:
                store.put(PUBLISHED, document, if_absent=True)
        except PreconditionFailedError:
            continue
        return True
    return False


def read_published(store: ObjectStore) -> PublishedRuns:
    """Return the runs that are published: none where nothing is, or what is cannot be read.

    Raises:
        NewerDocumentError: A newer release wrote them in a form that this one cannot read.
    """
    try:
        return PublishedRuns.parse(store.get(PUBLISHED), name=PUBLISHED)
    except (ObjectNotFoundError, LandingCorruptError):
        return PublishedRuns()


def page_runs(published: PublishedRuns) -> Iterator[PageRun]:
    """Yield published runs as a page shows them."""
    for run in published.runs:
        yield PageRun(
            run_id=run.run_id,
            source=run.source,
            outcome=run.outcome,
            started_at=run.started_at,
            seconds=(run.ended_at - run.started_at).total_seconds(),
            cost_usd=run.cost_usd,
            tables={each.table: load_of(run, each) for each in run.loads},
            error=run.error,
            cause=run.cause,
        )


def load_of(run: PublishedRun, load: PublishedLoad) -> Load:
    """Return what a run did to a table as a page shows it."""
    return Load(
        at=run.ended_at,
        opened=load.opened,
        closed=load.closed,
        quarantined=load.quarantined,
        records=load.records,
    )


def _ended(
    run: Run,
    now: datetime,
    result: CompleteRunResult,
    loaded: Sequence[TableLoaded],
    cost_usd: float,
) -> PublishedRun:
    loads = tuple(
        PublishedLoad(
            table=each.table,
            opened=each.opened,
            closed=each.closed,
            quarantined=each.quarantined,
            records=each.rows,
        )
        for each in loaded
    )
    return PublishedRun(
        run_id=run.run_id,
        source=run.source.source,
        started_at=run.started_at,
        ended_at=now,
        outcome=result.outcome,
        error=result.error,
        cause=result.cause[:_MOST_OF_CAUSE] if result.cause else None,
        cost_usd=cost_usd or None,
        loads=loads,
    )


def _bounded(runs: list[PublishedRun]) -> bytes:
    kept = runs[:MOST_RUNS]
    while len(body := PublishedRuns(runs=tuple(kept)).to_json()) > MOST_BYTES and len(kept) > 1:
        kept = kept[: len(kept) * 9 // 10]
    return body
