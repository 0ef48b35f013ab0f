"""ExtractPages: land the pages of one endpoint, over as many calls as it takes."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from math import ceil

from lakekit import layout
from lakekit.config.source import Source
from lakekit.contract.contract import Contract
from lakekit.contract.endpoint.incremental import time_text
from lakekit.contract.endpoint.placeholders import RunValues
from lakekit.errors import (
    CallBudgetExceededError,
    LandingCorruptError,
    ParentFailedError,
    SourceThrottledError,
    SourceUnavailableError,
    StorageUnavailableError,
)
from lakekit.extract import (
    Page,
    RunLimits,
    SourceClient,
    end_of_window,
    extract_children,
    extract_steps,
    values_of_steps,
    values_of_windows,
    windows_end,
)
from lakekit.extract.call_budget import RunBudget
from lakekit.extract.content.large import batches_of
from lakekit.extract.pages import endpoint_url
from lakekit.landing.mark import Mark, Meter, window_mark
from lakekit.landing.parents import landed_parents, landings_since_child
from lakekit.landing.watermark import begun_mark
from lakekit.landing.writer import (
    LandingWriter,
    Manifest,
    Progress,
    Request,
    load_manifest,
    publish,
)
from lakekit.ports import ObjectNotFoundError, ObjectStore
from lakekit.runs.documents import FailureRecord, Run, read_document, read_run
from lakekit.steps.functions import Continuation, ExtractPages, ExtractPagesResult

# What one more page and the last object may need, in addition to the source's own time-out.
RESERVE_SECONDS = 60.0
# Of the Map in load_source: they share the rate of their source.
ENDPOINTS_AT_ONCE = 4
# After progress, if the source does not say how long it wants to be left alone.
PAUSE_SECONDS = {SourceThrottledError: 30, SourceUnavailableError: 10}
# Waits one after the other that may bring no page, and the longest one.
MOST_WAITS = 5
LONGEST_WAIT_SECONDS = 24 * 3600
# For the endpoint that gives the parents: the first wait, which doubles, and the longest.
PARENT_WAIT_SECONDS = (10, 300)

# Progress is kept so often: a call that is killed costs no more than the pages of this time, and
# whoever watches the run sees no older number.
CHECKPOINT_SECONDS = 30.0

Parents = tuple[Mapping[str, bytes], ...]
NewClient = Callable[[Source, RunLimits], SourceClient]


def extract_pages(
    step: ExtractPages,
    store: ObjectStore,
    new_client: NewClient,
    remaining_seconds: Callable[[], float],
    environment: str = "",
) -> ExtractPagesResult:
    """Land pages until the endpoint is done, the time of this call runs low, or the source is busy.

    A landing that stands already at this endpoint and time is the result. Progress is taken up
    whether the caller knows of it or not, so that a repeated call neither loses nor doubles.

    A child waits for the endpoint that gives its parents.

    Raises:
        ParentFailedError: That endpoint failed in this run.
        LandingCorruptError: Something else landed at this endpoint and time.
        WatermarkMismatchError: The contract has another watermark than the one that is stored; and
            what `lakekit.extract.extract_pages` raises, without the secrets of the source.
    """
    run = read_run(store, step.run_id)
    contract = run.contract(step.endpoint)
    prefix = layout.raw_prefix(run.source.source, step.endpoint, run.extraction_time)
    if store.head(layout.manifest_key(prefix)):
        return _landed_before(store, prefix, endpoint_url(run.source, contract.endpoint), run)
    parents = _parents(run, contract, store)
    if parents is None:
        return _wait_for_parents(step, layout.progress_key(prefix, run.run_id))
    budget = RunBudget(store, run.run_id, run.source.call_budget)
    limits = RunLimits(
        budget.count_request,
        lambda: remaining_seconds() - RESERVE_SECONDS,
        min(len(run.contracts), ENDPOINTS_AT_ONCE),
    )
    client = new_client(run.source, limits)
    values = RunValues(run.started_at, run.extraction_time, environment)
    try:
        extraction = _Extraction(step, run, store, prefix, client)
        return extraction.go_on(values, remaining_seconds, parents)
    except Exception as error:
        mended = client.redacted_error(error)
        if mended is error:
            raise
        raise mended from None
    finally:
        client.close()
        with suppress(StorageUnavailableError):
            budget.give_back()


class _Extraction:
    """One endpoint of one run, from its last progress on."""

    def __init__(
        self, step: ExtractPages, run: Run, store: ObjectStore, prefix: str, client: SourceClient
    ) -> None:
        self._run = run
        self._contract = run.contract(step.endpoint)
        self._store = store
        self._client = client
        self._waits = step.continuation.waits if step.continuation else 0
        self._key = layout.progress_key(prefix, run.run_id)
        found = self._stored()
        self._begun_at = self._pages = found.pages if found else 0
        self._resume = found.resume if found else None
        self._writer = LandingWriter(store, prefix, parts=found.parts if found else ())
        incremental = self._contract.endpoint.incremental
        if incremental and run.window:
            begun: Mark | None = window_mark(run.window[0])
        else:
            begun = begun_mark(self._contract, run.watermark(step.endpoint))
        self._mark = found.watermark if found and found.watermark else begun
        is_measured = self._mark and incremental and incremental.watermark
        self._meter = Meter(self._mark, run.started_at) if self._mark and is_measured else None

    def go_on(
        self, values: RunValues, remaining_seconds: Callable[[], float], parents: Parents
    ) -> ExtractPagesResult:
        run = self._run
        reserve = RESERVE_SECONDS + run.source.timeout_seconds
        kept_at = remaining_seconds()
        steps = self._steps(values)
        try:
            for page in self._pages_of(steps, parents):
                self._keep(page)
                if page.wait_seconds:
                    return self._pause(page.wait_seconds)
                left = remaining_seconds()
                if page.last:
                    continue
                if left < reserve:
                    return self._pause()
                if kept_at - left > CHECKPOINT_SECONDS:
                    self._save()
                    kept_at = left
        except (SourceThrottledError, SourceUnavailableError) as error:
            return self._wait(error)
        except CallBudgetExceededError:
            # What is whole lands, or a long pause would never be made up for.
            until = self._end_of_whole(steps)
            if until is None:
                raise
            return self._finish(until)
        return self._finish(run.window[1] if run.window else windows_end(run.started_at))

    def _steps(self, values: RunValues) -> Sequence[RunValues]:
        incremental, window = self._contract.endpoint.incremental, self._run.window
        if incremental and window:
            return values_of_windows(incremental, *window, values)
        return values_of_steps(incremental, self._mark.since if self._mark else "", values)

    def _end_of_whole(self, steps: Sequence[RunValues]) -> datetime | None:
        """Return where the last window ends that is whole, if the watermark moves to it."""
        incremental, whole = self._contract.endpoint.incremental, (self._resume or {}).get("step")
        if not (incremental and incremental.window and self._mark and whole) or self._run.window:
            return None
        until = end_of_window(steps[whole - 1])
        return until if until > datetime.fromisoformat(self._mark.since) else None

    def _pages_of(self, steps: Sequence[RunValues], parents: Parents) -> Iterator[Page]:
        source, contract, client = self._run.source, self._contract, self._client
        resume = client.restore(self._resume)
        if contract.endpoint.parent:
            return extract_children(source, contract, client, steps[0], parents, resume=resume)
        return extract_steps(source, contract, client, steps, resume=resume)

    def _keep(self, page: Page) -> None:
        for records in batches_of(page.records):
            self._writer.write(self._meter.passed(records) if self._meter else records)
        self._pages, self._resume = page.number, page.resume

    def _wait(self, error: SourceThrottledError | SourceUnavailableError) -> ExtractPagesResult:
        """Leave the source alone as long as it wants; without progress not for ever."""
        wait = error.retry_after_seconds
        if wait is not None and wait > LONGEST_WAIT_SECONDS:
            if self._pages > self._begun_at:
                self._pause()  # the retry goes on from here
            raise error
        if self._pages > self._begun_at:
            return self._pause(ceil(PAUSE_SECONDS[type(error)] if wait is None else wait))
        if wait is None or self._waits >= MOST_WAITS:
            raise error
        return self._result(ceil(wait), self._waits + 1)

    def _pause(self, wait_seconds: int = 0) -> ExtractPagesResult:
        self._save()
        return self._result(wait_seconds)

    def _save(self) -> None:
        progress = Progress(
            run_id=self._run.run_id,
            parts=self._writer.flush(),
            pages=self._pages,
            resume=self._client.redact(self._resume or {}),
            watermark=self._meter.mark if self._meter else self._mark,
        )
        self._store.put(self._key, progress.to_json())

    def _result(self, wait_seconds: int, waits: int = 0) -> ExtractPagesResult:
        return ExtractPagesResult(
            endpoint=self._contract.contract,
            done=False,
            continuation=Continuation(
                progress=self._key, pages=self._pages, wait_seconds=wait_seconds, waits=waits
            ),
            rows=sum(part.rows for part in self._writer.flush()),
            pages=self._pages,
        )

    def _finish(self, windows_until: datetime) -> ExtractPagesResult:
        run, contract, parts = self._run, self._contract, self._writer.flush()
        endpoint = contract.endpoint
        manifest = Manifest(
            run_id=run.run_id,
            source=run.source.source,
            endpoint=contract.contract,
            contract_version=contract.version,
            extract=endpoint.extract,
            extraction_time=run.extraction_time,
            request=Request(url=endpoint_url(run.source, endpoint), params=endpoint.asked),
            pages=self._pages,
            rows=sum(part.rows for part in parts),
            parts=parts,
            watermark=self._reached(windows_until),
        )
        try:
            return _result(manifest, publish(self._store, manifest))
        except LandingCorruptError:
            # Two runs may have one extraction time, as when an event comes twice: the first landed.
            return _landed_before(self._store, manifest.prefix, manifest.request.url, run)

    def _reached(self, windows_until: datetime) -> Mark | None:
        """Return how far the landing reaches; with windows, up to the last one that is whole."""
        if self._meter:
            self._meter.refuse_wrong_path()
            return self._meter.mark
        until = time_text(windows_until)
        return self._mark and self._mark.model_copy(update={"until": until})

    def _stored(self) -> Progress | None:
        if self._store.head(self._key) is None:
            return None
        return read_document(self._store, self._key, Progress)


def _parents(run: Run, contract: Contract, store: ObjectStore) -> Parents | None:
    """Return the parents of a child, none for another endpoint; None if they have not landed yet.

    Raises:
        ParentFailedError: They will not land in this run.
    """
    endpoint = contract.endpoint
    if endpoint.parent is None or endpoint.parent.table is None:
        return endpoint.parent.listed if endpoint.parent else ()
    table = run.contract(endpoint.parent.table).contract
    failure = layout.failure_key(run.run_id, table)
    if store.head(failure):
        error = read_document(store, failure, FailureRecord).error
        raise ParentFailedError(f"{table}, whose records are the parents, failed with {error}")
    key = layout.manifest_key(layout.raw_prefix(run.source.source, table, run.extraction_time))
    if not store.head(key):
        return None
    if run.contract(table).endpoint.extract == "full":
        landings = [load_manifest(store, key)]
    elif _may_come(run, table, store):
        return None
    else:
        landings = landings_since_child(
            store, run.source.source, table, contract.contract, run.extraction_time
        )
    return landed_parents(store, landings, endpoint.parent, endpoint.parent_fields)


def _may_come(run: Run, table: str, store: ObjectStore) -> bool:
    """Say whether an earlier run still extracts a table.

    Later runs would not look for its landing if that run's child failed: it lies behind this one's.
    """
    prefix = layout.index_prefix("open", run.source.source)
    for info in store.list(prefix):
        run_id = info.key.removeprefix(prefix)
        if run_id == run.run_id or info.size == 0:
            continue
        with suppress(ObjectNotFoundError):  # it has ended meanwhile
            time = datetime.fromisoformat(store.get(info.key).decode())
            folder = layout.raw_prefix(run.source.source, table, time)
            ends = (layout.manifest_key(folder), layout.failure_key(run_id, table))
            if time < run.extraction_time and not any(map(store.head, ends)):
                return True
    return False


def _wait_for_parents(step: ExtractPages, progress: str) -> ExtractPagesResult:
    waits = step.continuation.parent_waits if step.continuation else 0
    first, longest = PARENT_WAIT_SECONDS
    after = Continuation(
        progress=progress,
        pages=0,
        wait_seconds=min(first * 2 ** min(waits, 10), longest),
        parent_waits=waits + 1,
    )
    return ExtractPagesResult(endpoint=step.endpoint, done=False, continuation=after)


def _landed_before(store: ObjectStore, prefix: str, url: str, run: Run) -> ExtractPagesResult:
    manifest = load_manifest(store, layout.manifest_key(prefix))
    if run.window and manifest.run_id != run.run_id:
        raise LandingCorruptError(
            f"{prefix}: {manifest.run_id} landed here in the same second; start again"
        )
    if manifest.request.url != url:
        raise LandingCorruptError(f"{prefix}: {manifest.request.url} landed here, not {url}")
    if store.head(layout.rejected_key(prefix)):
        raise LandingCorruptError(f"{prefix}: is rejected; start with another extraction_time")
    return _result(manifest, publish(store, manifest))  # the marker may be missing


def _result(manifest: Manifest, key: str) -> ExtractPagesResult:
    return ExtractPagesResult(
        endpoint=manifest.endpoint,
        done=True,
        manifest=key,
        rows=manifest.rows,
        pages=manifest.pages,
    )
