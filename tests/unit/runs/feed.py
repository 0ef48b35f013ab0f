"""A source that is asked for what is new, and the runs of its table, from start to complete."""

import json
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

from lakekit import layout
from lakekit.config.source import Source
from lakekit.contract.contract import Contract, load_contract
from lakekit.extract import Answer, RunLimits, SourceRequest
from lakekit.landing.watermark import Watermark, read_watermark
from lakekit.landing.writer import Manifest, load_manifest
from lakekit.runs.complete_run import complete_run
from lakekit.runs.documents import read_run
from lakekit.runs.extract_pages import extract_pages
from lakekit.runs.start_run import start_run
from lakekit.steps.functions import CompleteRun, ExtractPages, ExtractPagesResult, StartRun
from tests.unit.runs.kit import (
    NOON,
    SOURCE,
    Catalog,
    OpenClient,
    plan,
    published,
    snapshot,
    table,
    world,
)

WATERMARK = "{watermark: $.at, start: 2026-01-01T00:00:00Z}"
WINDOW = "{window: {hours: 2}, start: 2026-01-01T00:00:00Z}"
PER_PAGE = 2


def at(hours: float) -> datetime:
    """Return a time by its hours after the start of the contracts."""
    return datetime(2026, 1, 1, tzinfo=UTC) + timedelta(hours=hours)


def feed_contract(incremental: str = WATERMARK, params: str = "") -> Contract:
    usual = (
        "{a: '{window.start}', b: '{window.end}'}"
        if "window" in incremental
        else "{a: '{watermark}'}"
    )
    return load_contract(
        "contract: orders\nsource: shop\n"
        f"endpoint: {{path: /orders, records: $.items, params: {params or usual}, "
        "paginator: {type: page_number, total_path: $.pages}, extract: changes, "
        f"incremental: {incremental}}}\n"
        "schema: [{name: id, type: bigint}, {name: at, type: timestamp}]\n"
        "history: {keys: [id], sequence_by: at}\n"
    )  # fmt: skip


class Feed(OpenClient):
    """A source of records with times: those from `a` on, and before `b` if that is given.

    faults: raised at a request, by its number from 0.
    """

    def __init__(self, records: Iterable[Any] = ()) -> None:
        self.records = [*records]
        self.asked: list[dict[str, str]] = []
        self.faults: dict[int, Exception] = {}
        self.calls = 0

    def add(self, time: datetime, key: int | None = None) -> None:
        number = len(self.records) if key is None else key
        self.records.append({"id": number, "at": time.isoformat()})

    def __call__(self, source: Source, limits: RunLimits) -> "Feed":
        return self

    def send(self, request: SourceRequest) -> Answer:
        params = dict(request.params)
        self.asked.append(params)
        self.calls += 1
        if fault := self.faults.pop(len(self.asked) - 1, None):
            raise fault
        found = [each for each in self.records if self._is_asked(each, params)]
        first = PER_PAGE * (int(params["page"]) - 1)
        pages = max(1, -(-len(found) // PER_PAGE))
        body = {"items": found[first : first + PER_PAGE], "pages": pages}
        return Answer(request.url, 200, {}, json.dumps(body).encode())

    def _is_asked(self, record: Any, params: dict[str, str]) -> bool:
        try:
            time = datetime.fromisoformat(record["at"])
            begin = datetime.fromisoformat(params["a"])
        except (KeyError, TypeError, ValueError):
            return True
        return begin <= time and ("b" not in params or time < datetime.fromisoformat(params["b"]))


class Runs:
    """Runs of one table that is fed by a source."""

    def __init__(self, feed: Feed, contract: Contract | None = None) -> None:
        self.feed, self.contract = feed, contract or feed_contract()
        self.world = world()
        self.store = self.world.store
        self.epoch = 0

    def start(self, run_id: str, time: datetime = NOON) -> None:
        event = {"run_id": run_id, "started_at": time, "source": "shop",
                 "request": {"source": "shop"}}  # fmt: skip
        start_run(StartRun.from_event(event), self.store, SOURCE, [self.contract])

    def extract(
        self, run_id: str, so_far: ExtractPagesResult | None = None, seconds: float = 1000
    ) -> ExtractPagesResult:
        step = ExtractPages(
            run_id=run_id, source="shop", endpoint="orders",
            continuation=so_far.continuation if so_far else None,
        )  # fmt: skip
        return extract_pages(step, self.store, self.feed, lambda: seconds)  # type: ignore[arg-type]

    def land(self, run_id: str, time: datetime = NOON, seconds: float = 1000) -> Manifest:
        """Start and extract a run; with few seconds, each page by a call of its own."""
        self.start(run_id, time)
        result = self.extract(run_id, seconds=seconds)
        while not result.done:
            result = self.extract(run_id, result, seconds)
        return load_manifest(self.store, str(result.manifest))

    def manifest(self, run_id: str) -> Manifest:
        """Return what a run has landed."""
        time = read_run(self.store, run_id).extraction_time
        prefix = layout.raw_prefix("shop", "orders", time)
        return load_manifest(self.store, layout.manifest_key(prefix))

    def complete(self, run_id: str, *landed: Manifest) -> Watermark | None:
        """Let a run merge landings, and return the watermark after it."""
        keys = [layout.manifest_key(each.prefix) for each in landed]
        plan(self.store, *keys, run_id=run_id)
        self.world.leases.acquire("orders", run_id)
        merged = [published(n, each.run_id, parent=n - 1) for n, each in enumerate(landed, 2)]
        step = CompleteRun(run_id=run_id, source="shop")
        catalog = Catalog(orders=table(snapshot(1), *merged))
        assert complete_run(step, self.world.flow, catalog, lambda _: None).outcome == "done"
        return self.watermark

    @property
    def watermark(self) -> Watermark | None:
        return read_watermark(self.store, "shop", "orders")

    @property
    def value(self) -> str | None:
        return self.watermark.value if self.watermark else None
