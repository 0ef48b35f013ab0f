"""ExtractPages: land the pages of one endpoint, over as many calls as it takes."""

from collections.abc import Callable
from contextlib import suppress
from math import ceil

from lakekit import layout
from lakekit.config.source import Source
from lakekit.contract.endpoint.placeholders import RunValues
from lakekit.errors import (
    LandingCorruptError,
    SourceThrottledError,
    SourceUnavailableError,
    StorageUnavailableError,
)
from lakekit.extract import Page, RunLimits, SourceClient
from lakekit.extract import extract_pages as pages_of
from lakekit.extract.call_budget import RunBudget
from lakekit.extract.pages import endpoint_url
from lakekit.landing.writer import (
    LandingWriter,
    Manifest,
    Progress,
    Request,
    load_manifest,
    publish,
)
from lakekit.ports import ObjectStore
from lakekit.runs.documents import Run, read_document, read_run
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

# Progress is kept so often: a call that is killed costs no more than the pages of this time, and
# whoever watches the run sees no older number.
CHECKPOINT_SECONDS = 30.0

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

    Raises:
        LandingCorruptError: Something else landed at this endpoint and time; and what
            `lakekit.extract.extract_pages` raises, without the secrets of the source.
    """
    run = read_run(store, step.run_id)
    contract = run.contract(step.endpoint)
    prefix = layout.raw_prefix(run.source.source, step.endpoint, run.extraction_time)
    if store.head(layout.manifest_key(prefix)):
        return _landed_before(store, prefix, endpoint_url(run.source, contract.endpoint))
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
        return extraction.go_on(values, remaining_seconds)
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

    def go_on(
        self, values: RunValues, remaining_seconds: Callable[[], float]
    ) -> ExtractPagesResult:
        run, contract = self._run, self._contract
        reserve = RESERVE_SECONDS + run.source.timeout_seconds
        kept_at = remaining_seconds()
        try:
            resume = self._client.restore(self._resume)
            for page in pages_of(run.source, contract, self._client, values, resume=resume):
                self._keep(page)
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
        return self._finish()

    def _keep(self, page: Page) -> None:
        self._writer.write(page.records)
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

    def _finish(self) -> ExtractPagesResult:
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
        )
        try:
            return _result(manifest, publish(self._store, manifest))
        except LandingCorruptError:
            # Two runs may have one extraction time, as when an event comes twice: the first landed.
            return _landed_before(self._store, manifest.prefix, manifest.request.url)

    def _stored(self) -> Progress | None:
        if self._store.head(self._key) is None:
            return None
        return read_document(self._store, self._key, Progress)


def _landed_before(store: ObjectStore, prefix: str, url: str) -> ExtractPagesResult:
    manifest = load_manifest(store, layout.manifest_key(prefix))
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
