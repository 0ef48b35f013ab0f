"""ExtractPages of asynchronous exports, over as many calls as they take."""

import gzip
import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from lakekit import layout
from lakekit.config.source import Source
from lakekit.contract.contract import Contract, load_contract
from lakekit.errors import LakekitError, SourceThrottledError, SourceUnavailableError
from lakekit.extract import Answer, RunLimits, SourceRequest
from lakekit.landing.writer import load_manifest
from lakekit.runs.extract_pages import extract_pages
from lakekit.steps.functions import ExtractPages, ExtractPagesResult
from tests.fakes import MemoryObjectStore
from tests.unit.runs.kit import Api, begun

CONTRACT = load_contract(
    """
contract: orders
source: shop
endpoint:
  path: /exports
  method: POST
  export:
    id_path: $.id
    status_path: "/exports/{export.id}"
    state_path: $.state
    done: [ready]
    files_path: $.files
schema: [{name: id, type: bigint}]
history: {keys: [id]}
"""
)
FAULT = st.sampled_from(
    [None, None, None, SourceThrottledError("429", 5), SourceUnavailableError("503")]
)


INCREMENTAL = CONTRACT.model_dump(mode="json", by_alias=True, exclude_defaults=True)
INCREMENTAL["endpoint"] |= {
    "body": {"json": {"from": "{window.start}", "to": "{window.end}"}}, "extract": "incremental",
    "incremental": {"window": {"hours": 2}, "start": "2026-01-01T07:00:00Z"},
}  # fmt: skip


class Exports(Api):
    """Each export has the same files; it is ready when it was asked for its state so often."""

    def __init__(self, files: int, polls: int, faults: list[LakekitError | None]) -> None:
        super().__init__(0)
        self.files, self.polls, self.script = files, polls, [*faults]
        self.created = self.signed = 0

    def __call__(self, source: Source, limits: RunLimits) -> "Exports":
        return self

    def send(self, request: SourceRequest) -> Answer:
        self.calls += 1
        if self.script and (fault := self.script.pop(0)):
            raise fault
        return Answer(request.url, 200, {}, json.dumps(self.answer(request)).encode())

    def answer(self, request: SourceRequest) -> Any:
        if request.method == "POST":
            self.created += 1
            return {"id": self.created}
        if "/exports/" in request.url:
            self.polls -= 1
            self.signed += 1
            files = [f"/f/{number}?sig={self.signed}" for number in range(self.files)]
            return {"state": "ready", "files": files} if self.polls < 0 else {"state": "new"}
        number = int(request.url.rpartition("/")[2].partition("?")[0])
        return [{"id": 10 * number + n} for n in range(number + 1)]


@settings(max_examples=100, deadline=None)
@given(
    files=st.integers(1, 4),
    polls=st.integers(0, 3),
    faults=st.lists(FAULT, max_size=10),
    seconds=st.lists(st.sampled_from([0, 1000]), min_size=1, max_size=5),
)
def test_whatever_fails_and_pauses_each_file_lands_once(
    files: int, polls: int, faults: list[LakekitError | None], seconds: list[int]
) -> None:
    api, store = Exports(files, polls, faults), MemoryObjectStore()
    begun(store, CONTRACT)
    result: ExtractPagesResult | None = None
    for number in range(60):
        left = seconds[number % len(seconds)]
        continuation = result.continuation if result else None
        step = ExtractPages(run_id="r", source="shop", endpoint="orders", continuation=continuation)
        try:
            result = extract_pages(step, store, api, lambda left=left: left)  # type: ignore[arg-type, misc]
        except (SourceThrottledError, SourceUnavailableError):
            continue  # the state machine calls again
        assert "sig" not in "".join(
            body.decode() for key, body in store.objects.items() if ".progress" in key
        )
        if result.done:
            break
    assert result
    assert result.manifest
    parts = load_manifest(store, result.manifest).parts
    lines = [x for part in parts for x in gzip.decompress(store.get(part.key)).splitlines()]
    expected = [10 * number + n for number in range(files) for n in range(number + 1)]
    assert [json.loads(line)["id"] for line in lines] == expected
    assert (api.created, result.pages) == (1, files)
    assert store.head(layout.pending_key("raw/shop/orders/20260101_120000/"))


class Windows(Api):
    """An export for each window, with one record for each of its hours; ready when asked twice."""

    def __init__(self) -> None:
        super().__init__(0)
        self.windows: list[tuple[int, int]] = []
        self.polls = 0

    def __call__(self, source: Source, limits: RunLimits) -> "Windows":
        return self

    def send(self, request: SourceRequest) -> Answer:
        return Answer(request.url, 200, {}, json.dumps(self._answer(request)).encode())

    def _answer(self, request: SourceRequest) -> Any:
        if request.body:
            asked = json.loads(request.body)
            self.windows.append((int(asked["from"][11:13]), int(asked["to"][11:13])))
            return {"id": len(self.windows)}
        if "/exports/" in request.url:
            self.polls += 1
            number = request.url.rpartition("/")[2]
            is_ready = self.polls % 2 == 0
            return {"state": "ready" if is_ready else "new", "files": [f"/f/{number}"]}
        begin, end = self.windows[int(request.url.rpartition("/")[2]) - 1]
        return [{"id": hour} for hour in range(begin, end)]


def test_each_window_of_an_incremental_endpoint_is_an_export_of_its_own() -> None:
    api, store = Windows(), MemoryObjectStore()
    begun(store, Contract.model_validate(INCREMENTAL))
    step = ExtractPages(run_id="r", source="shop", endpoint="orders")
    calls = 0
    while not (result := extract_pages(step, store, api, lambda: 1000.0)).done:  # type: ignore[arg-type]
        step, calls = step.model_copy(update={"continuation": result.continuation}), calls + 1

    manifest = load_manifest(store, str(result.manifest))
    lines = [x for p in manifest.parts for x in gzip.decompress(store.get(p.key)).splitlines()]
    assert api.windows == [(7, 9), (9, 11), (11, 12)]
    assert [json.loads(line)["id"] for line in lines] == [*range(7, 12)]
    assert calls == 6  # created, and not ready, for each window
    assert manifest.watermark
    assert manifest.watermark.until == "2026-01-01T12:00:00Z"
