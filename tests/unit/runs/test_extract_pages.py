import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from lakekit import layout
from lakekit.config.source import load_source
from lakekit.contract.contract import Contract
from lakekit.errors import (
    CallBudgetExceededError,
    LakekitError,
    LandingCorruptError,
    SourceRejectedError,
    SourceThrottledError,
    SourceUnavailableError,
    StorageUnavailableError,
)
from lakekit.extract import Answer, SourceRequest
from lakekit.extract.http.secrets import replace_texts
from lakekit.landing.writer import load_manifest
from lakekit.runs.extract_pages import ENDPOINTS_AT_ONCE, extract_pages
from lakekit.steps.functions import ExtractPages, ExtractPagesResult
from tests.fakes import MemoryObjectStore
from tests.unit.runs.kit import NOON, Api, begun, contract, landed

PREFIX = "raw/shop/orders/20260101_120000/"
ALL_OF_FOUR = list(range(2, 10))


class Story:
    """Calls of ExtractPages for one endpoint."""

    def __init__(self, api: Api, *contracts: Contract, **run: Any) -> None:
        self.api = api
        self.store = MemoryObjectStore()
        begun(self.store, *contracts, **run)

    def call(
        self,
        so_far: ExtractPagesResult | None = None,
        seconds: float | Callable[[], float] = 1000,
        run_id: str = "r",
        endpoint: str = "orders",
    ) -> ExtractPagesResult:
        left = seconds if callable(seconds) else lambda: seconds
        event: dict[str, Any] = {
            "run_id": run_id, "source": "shop", "endpoint": endpoint,
            "continuation": so_far.continuation if so_far else None,
        }  # fmt: skip
        return extract_pages(ExtractPages(**event), self.store, self.api, left)  # type: ignore[arg-type]

    def to_end(self, seconds: float) -> ExtractPagesResult:
        result = self.call(seconds=seconds)
        while not result.done:
            result = self.call(result, seconds)
        return result

    def ids(self, result: ExtractPagesResult) -> list[int]:
        assert result.manifest
        parts = load_manifest(self.store, result.manifest).parts
        lines = [gzip.decompress(self.store.get(p.key)).splitlines() for p in parts]
        return [json.loads(line)["id"] for part in lines for line in part]


def test_lands_all_pages_and_marks_them_pending() -> None:
    story = Story(Api(4))

    result = story.call()

    assert result.done
    assert (result.rows, result.pages) == (8, 4)
    assert story.ids(result) == ALL_OF_FOUR
    assert story.store.head(layout.pending_key(PREFIX))


def test_the_manifest_says_what_was_asked_for_and_what_came() -> None:
    story = Story(Api(1))

    manifest = load_manifest(story.store, str(story.call().manifest))

    assert manifest.request.url == "https://shop.example/orders"
    assert (manifest.run_id, manifest.extraction_time) == ("r", NOON)
    assert (manifest.rows, manifest.pages, len(manifest.parts[0].sha256)) == (2, 1, 64)


def test_stops_after_a_page_when_its_time_runs_low_and_goes_on_from_there() -> None:
    story = Story(Api(4))

    first = story.call(seconds=89)  # 60, and the source's time-out of 30

    assert (first.done, first.pages, first.rows, first.manifest) == (False, 1, 2, None)
    assert story.store.head(layout.pending_key(PREFIX)) is None
    assert story.ids(story.to_end(89)) == ALL_OF_FOUR
    assert story.api.asked == [1, 2, 3, 4]


def test_a_call_that_is_killed_costs_the_pages_since_its_last_checkpoint() -> None:
    story = Story(Api(4))
    clock = iter([800, 780, 760, 755, 750])
    story.api.faults[4] = MemoryError()  # type: ignore[assignment]

    with pytest.raises(MemoryError):
        story.call(seconds=lambda: next(clock))

    assert story.ids(story.call()) == ALL_OF_FOUR
    assert story.api.asked == [1, 2, 3, 4, 3, 4]


def test_counts_the_calls_of_all_its_parts() -> None:
    story = Story(Api(4))

    story.to_end(seconds=0)

    assert story.api.calls == 4


@pytest.mark.parametrize("lost", [0, 1])
def test_a_repeated_call_neither_loses_nor_doubles(lost: int) -> None:
    """The answer of a call is lost after its progress was written; the caller asks again."""
    story = Story(Api(4))
    answers = [story.call(seconds=0)]
    answers.append(story.call(answers[0], seconds=0))

    again = story.call(answers[lost - 1] if lost else None, seconds=1000)

    assert story.ids(again) == ALL_OF_FOUR
    assert story.api.asked == [1, 2, 3, 4]


def test_a_first_call_that_died_between_its_objects_is_repeated_from_its_start() -> None:
    story = Story(Api(4))
    story.api.faults[3] = SourceRejectedError("401")  # terminal: no progress is kept
    with pytest.raises(SourceRejectedError):
        story.call()

    assert story.ids(story.call()) == ALL_OF_FOUR


def test_an_interrupted_source_is_asked_again_only_for_what_is_missing() -> None:
    story = Story(Api(4, {3: SourceUnavailableError("503")}))

    paused = story.call()

    assert (paused.done, paused.pages) == (False, 2)
    assert story.store.head(layout.manifest_key(PREFIX)) is None
    assert story.ids(story.call(paused)) == ALL_OF_FOUR
    assert story.api.asked == [1, 2, 3, 3, 4]


def waits(result: ExtractPagesResult) -> tuple[int, int]:
    assert result.continuation
    return result.continuation.wait_seconds, result.continuation.waits


@pytest.mark.parametrize(
    ("error", "seconds"),
    [
        (SourceThrottledError("429", 61.2), 62),
        (SourceThrottledError("429"), 30),
        (SourceUnavailableError("503", 3600), 3600),
        (SourceUnavailableError("503"), 10),
    ],
)
def test_after_progress_a_busy_source_is_left_alone_as_long_as_it_wants(
    error: LakekitError, seconds: int
) -> None:
    story = Story(Api(4, {3: error}))

    paused = story.call()

    assert waits(paused) == (seconds, 0)
    assert story.ids(story.call(paused)) == ALL_OF_FOUR


def test_every_page_may_want_a_wait() -> None:
    story = Story(Api(4, {page: SourceThrottledError("429", 60) for page in (1, 2, 3, 4)}))

    assert story.ids(story.to_end(1000)) == ALL_OF_FOUR


def test_waits_that_bring_no_page_come_to_an_end() -> None:
    story = Story(Api(4))
    result, found = None, []
    for _ in range(5):
        story.api.faults[1] = SourceThrottledError("429", 60)
        result = story.call(result)
        found.append(waits(result))
    story.api.faults[1] = SourceThrottledError("429", 60)

    with pytest.raises(SourceThrottledError):
        story.call(result)

    assert found == [(60, 1), (60, 2), (60, 3), (60, 4), (60, 5)]


@pytest.mark.parametrize("page", [1, 3])
def test_a_source_that_wants_days_is_not_waited_for(page: int) -> None:
    story = Story(Api(4, {page: SourceThrottledError("429", 100_000)}))

    with pytest.raises(SourceThrottledError):
        story.call()

    assert story.ids(story.call()) == ALL_OF_FOUR
    assert story.api.asked == [*range(1, page + 1), *range(page, 5)]


def test_without_progress_and_without_a_hint_it_is_the_retry_of_the_step() -> None:
    story = Story(Api(4, {1: SourceUnavailableError("503")}))

    with pytest.raises(SourceUnavailableError):
        story.call()


def test_endpoints_share_the_budget_of_their_run_and_a_retry_gets_no_new_one() -> None:
    source = load_source(
        "source: shop\nbase_url: https://shop.example\ncall_budget: {max_requests_per_run: 6}"
    )
    story = Story(Api(4), contract(), contract("carts"), source=source)

    for _ in range(3):  # failed ones count
        story.api.faults[2] = SourceRejectedError("400")
        with pytest.raises(SourceRejectedError):
            story.call()
    with pytest.raises(CallBudgetExceededError, match="6 requests for one run, of all its"):
        story.call(endpoint="carts")

    assert story.api.asked == [1, 2, 1, 2, 1, 2]


@pytest.mark.parametrize(("tables", "at_once"), [(1, 1), (2, 2), (6, 4)])
def test_endpoints_share_the_rate_of_their_source(tables: int, at_once: int) -> None:
    more = [contract(f"t{number}") for number in range(tables - 1)]
    story = Story(Api(1), contract(), *more)

    story.call()

    assert story.api.limits.endpoints_at_once == at_once


def test_as_many_endpoints_share_it_as_the_state_machine_extracts_at_once() -> None:
    text = (Path(__file__).parents[3] / "state_machines/load_source.asl.json").read_text()
    states = json.loads(text.replace('"${ExecutionTimeoutSeconds}"', "1"))["States"]

    assert states["ExtractEndpoints"]["MaxConcurrency"] == ENDPOINTS_AT_ONCE


def test_what_is_kept_and_what_is_raised_has_no_secret() -> None:
    class Redacting(Api):
        def redact(self, value: Any) -> Any:
            return replace_texts(value, lambda text: text.replace("s3cret", "<secret>"))

        def restore(self, value: Any) -> Any:
            return replace_texts(value, lambda text: text.replace("<secret>", "s3cret"))

        def redacted_error(self, error: Exception) -> Exception:
            return type(error)(self.redact(str(error)))

        def send(self, request: SourceRequest) -> Answer:
            page = int(parse_qs(urlsplit(request.url).query).get("page", ["1"])[0])
            found = super().send(SourceRequest(request.url, (("page", str(page)),)))
            link = f"https://shop.example/orders?page={page + 1}&key=s3cret"
            body = json.loads(found.body) | {"next": link if page < 4 else None}
            return Answer(request.url, 200, {}, json.dumps(body).encode())

    paginator = {"type": "next_url", "next_path": "$.next"}
    orders = contract()
    endpoint = orders.endpoint.model_validate(
        orders.endpoint.model_dump() | {"paginator": paginator}
    )
    story = Story(Redacting(4), orders.model_copy(update={"endpoint": endpoint}))
    story.api.faults[3] = SourceThrottledError("429 of s3cret", 60)

    first = story.call(seconds=0)
    kept = story.store.get(layout.progress_key(PREFIX, "r"))
    second = story.call(story.call(first, seconds=0), seconds=1000)
    story.api.faults[4] = SourceRejectedError("key s3cret is wrong")
    with pytest.raises(SourceRejectedError, match="key <secret> is wrong"):
        story.call(second)

    assert b"<secret>" in kept
    assert not [key for key, body in story.store.objects.items() if b"s3cret" in body]
    assert "s3cret" not in f"{first} {second}"
    assert story.ids(story.call(second)) == ALL_OF_FOUR


def test_a_bucket_that_fails_in_the_middle_is_named_and_the_call_is_repeated() -> None:
    class Failing(MemoryObjectStore):
        def put(self, key: str, body: bytes, **condition: Any) -> str:
            if key.endswith(".gz"):
                raise StorageUnavailableError(key)
            return super().put(key, body, **condition)

    story = Story(Api(4))
    story.store.__class__ = Failing
    with pytest.raises(StorageUnavailableError, match="part-00000"):
        story.call(seconds=0)
    story.store.__class__ = MemoryObjectStore

    assert story.ids(story.call()) == ALL_OF_FOUR


@pytest.mark.parametrize("lost", [layout.progress_key(PREFIX, "r"), layout.manifest_key(PREFIX)])
def test_what_is_known_of_a_run_but_cannot_be_read_does_not_count_as_nothing(lost: str) -> None:
    """dlt-saga #255: swallowed errors of its state make it extract everything again, silently."""

    class Failing(MemoryObjectStore):
        def get(self, key: str) -> bytes:
            if key == lost:
                raise StorageUnavailableError(key)
            return super().get(key)

    story = Story(Api(4))
    story.call(seconds=0 if ".progress-" in lost else 1000)
    asked = list(story.api.asked)
    story.store.__class__ = Failing

    with pytest.raises(StorageUnavailableError, match=lost):
        story.call()

    assert story.api.asked == asked


def test_a_landing_that_is_there_is_the_result_and_nothing_is_asked() -> None:
    story = Story(Api(4))
    first = story.call()

    assert story.call() == first
    assert story.api.asked == [1, 2, 3, 4]


def test_a_missing_marker_is_written_again() -> None:
    story = Story(Api(1))
    story.call()
    story.store.delete(layout.pending_key(PREFIX))

    story.call()

    assert story.store.head(layout.pending_key(PREFIX))


def test_takes_what_another_run_of_the_same_time_has_landed_meanwhile() -> None:
    story = Story(Api(2))
    begun(story.store, run_id="twin")
    stop = story.api.send
    twin: list[ExtractPagesResult] = []

    def overtaken(request: SourceRequest) -> Answer:
        story.api.send = stop  # type: ignore[method-assign]
        twin.append(story.call(run_id="twin"))
        return story.api.send(request)

    story.api.send = overtaken  # type: ignore[method-assign]

    assert story.call() == twin[0]


def test_refuses_to_take_what_was_dropped_at_its_place_for_its_own() -> None:
    from lakekit.landing.writer import Request  # noqa: PLC0415

    story = Story(Api(1))
    landed(story.store, {"id": 1}, request=Request(url="memory://inbox/x"))

    with pytest.raises(LandingCorruptError, match="landed here, not"):
        story.call()


def test_a_landing_that_is_rejected_is_no_result() -> None:
    story = Story(Api(1))
    story.call()
    story.store.put(layout.rejected_key(PREFIX), b"bad")

    with pytest.raises(LandingCorruptError, match="is rejected; start with another"):
        story.call()


def test_does_not_mix_its_pages_with_those_of_another_run() -> None:
    story = Story(Api(4))
    story.call(seconds=0)
    begun(story.store, run_id="next")

    result = story.call(run_id="next")

    assert story.ids(result) == ALL_OF_FOUR
    assert story.api.asked == [1, 1, 2, 3, 4]


def test_closes_its_client_even_when_it_fails() -> None:
    closed: list[bool] = []
    story = Story(Api(1, {1: SourceRejectedError("403")}))
    close: Callable[[], None] = lambda: closed.append(True)  # noqa: E731
    story.api.close = close  # type: ignore[method-assign]

    with pytest.raises(SourceRejectedError):
        story.call()

    assert closed == [True]
