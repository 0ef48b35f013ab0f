"""ExtractPages: land the pages of one endpoint, over as many calls as it takes."""

from collections.abc import Callable

from lakekit import layout
from lakekit.config.source import Source
from lakekit.contract.contract import Contract
from lakekit.contract.endpoint.placeholders import RunValues
from lakekit.errors import LandingCorruptError, SourceThrottledError, SourceUnavailableError
from lakekit.extract import Page, SourceClient
from lakekit.extract import extract_pages as pages_of
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


def extract_pages(
    step: ExtractPages,
    store: ObjectStore,
    new_client: Callable[[Source], SourceClient],
    remaining_seconds: Callable[[], float],
    environment: str = "",
) -> ExtractPagesResult:
    """Land pages until the endpoint is done or the time of this call runs low.

    A landing that stands already at this endpoint and time is the result. Progress is taken up
    whether the caller knows of it or not, so that a repeated call neither loses nor doubles.

    Raises:
        LandingCorruptError: Something else landed at this endpoint and time; and what
            `lakekit.extract.extract_pages` raises.
    """
    run = read_run(store, step.run_id)
    contract = run.contract(step.endpoint)
    prefix = layout.raw_prefix(run.source.source, step.endpoint, run.extraction_time)
    if store.head(layout.manifest_key(prefix)):
        return _landed_before(store, prefix, endpoint_url(run.source, contract.endpoint))
    client = new_client(run.source)
    try:
        values = RunValues(run.started_at, run.extraction_time, environment)
        return _Extraction(run, contract, store, prefix).go_on(client, values, remaining_seconds)
    finally:
        client.close()


class _Extraction:
    """One endpoint of one run, from its last progress on."""

    def __init__(self, run: Run, contract: Contract, store: ObjectStore, prefix: str) -> None:
        self._run = run
        self._contract = contract
        self._store = store
        self._key = layout.progress_key(prefix, run.run_id)
        found = self._stored()
        self._pages = found.pages if found else 0
        self._resume = found.resume if found else None
        self._writer = LandingWriter(store, prefix, parts=found.parts if found else ())

    def go_on(
        self, client: SourceClient, values: RunValues, remaining_seconds: Callable[[], float]
    ) -> ExtractPagesResult:
        run, contract = self._run, self._contract
        reserve = RESERVE_SECONDS + run.source.timeout_seconds
        try:
            for page in pages_of(run.source, contract, client, values, resume=self._resume):
                self._keep(page)
                if not page.last and remaining_seconds() < reserve:
                    return self._pause()
        except (SourceThrottledError, SourceUnavailableError):
            if self._pages:
                self._pause()  # the retry goes on from here
            raise
        return self._finish()

    def _keep(self, page: Page) -> None:
        self._writer.write(page.records)
        self._pages, self._resume = page.number, page.resume

    def _pause(self) -> ExtractPagesResult:
        progress = Progress(
            run_id=self._run.run_id,
            parts=self._writer.flush(),
            pages=self._pages,
            resume=self._resume or {},
        )
        self._store.put(self._key, progress.to_json())
        return ExtractPagesResult(
            endpoint=self._contract.contract,
            done=False,
            continuation=Continuation(progress=self._key, pages=self._pages),
            rows=sum(part.rows for part in progress.parts),
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
