"""ExtractPages of child endpoints: they wait for their parents, and ask for each once."""

import gzip
import json
from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lakekit import layout
from lakekit.config.source import Source
from lakekit.errors import (
    LakekitError,
    LandingCorruptError,
    ParentFailedError,
    SourceRejectedError,
    SourceShapeError,
    SourceThrottledError,
    SourceUnavailableError,
    UnknownSourceError,
)
from lakekit.extract import Answer, RunLimits, SourceRequest
from lakekit.landing.writer import load_manifest
from lakekit.runs.documents import FailureRecord
from lakekit.runs.extract_pages import extract_pages
from lakekit.steps.functions import ExtractPages, ExtractPagesResult
from tests.fakes import MemoryObjectStore
from tests.unit.runs.kit import NOON, Api, begun, child, contract, landed


class Orders(Api):
    """A source whose order N has N % 4 pages of items, two on each; order 13 is absent."""

    def __init__(self, faults: list[LakekitError | None] | None = None) -> None:
        super().__init__(0)
        self.script = [*(faults or [])]
        self.urls: list[str] = []

    def __call__(self, source: Source, limits: RunLimits) -> "Orders":
        self.calls = 0
        return self

    def send(self, request: SourceRequest) -> Answer:
        self.calls += 1
        if self.script and (fault := self.script.pop(0)):
            raise fault
        order, page = int(request.url.split("/")[-2]), int(dict(request.params)["page"])
        self.urls.append(f"{order}/{page}")
        if order == 13:
            if 404 in request.accept_statuses:
                return Answer(request.url, 404, {}, b"")
            raise SourceRejectedError(f"{request.url}: 404")
        last = order % 4
        items = [{"n": f"{order}/{page}/{n}"} for n in range(2) if last]
        body = {"items": items, "pages": last}
        return Answer(request.url, 200, {}, json.dumps(body).encode())


def expected(orders: list[int]) -> Counter[str]:
    return Counter(
        f"{order}/{page}/{n}"
        for order in orders
        for page in range(1, order % 4 + 1)
        for n in range(2)
        if order != 13
    )


class Story:
    """Calls of ExtractPages for a child endpoint."""

    def __init__(self, api: Orders | None = None, **parent: Any) -> None:
        self.api = api or Orders()
        self.store = MemoryObjectStore()
        begun(self.store, contract(), child(**parent))

    def call(
        self, so_far: ExtractPagesResult | None = None, seconds: float = 1000
    ) -> ExtractPagesResult:
        event: dict[str, Any] = {
            "run_id": "r", "source": "shop", "endpoint": "items",
            "continuation": so_far.continuation if so_far else None,
        }  # fmt: skip
        step = ExtractPages(**event)
        return extract_pages(step, self.store, self.api, lambda: seconds)  # type: ignore[arg-type]

    def lines(self, result: ExtractPagesResult) -> list[Any]:
        parts = load_manifest(self.store, str(result.manifest)).parts
        texts = [gzip.decompress(self.store.get(part.key)).splitlines() for part in parts]
        return [json.loads(line) for text in texts for line in text]

    def landed(self, result: ExtractPagesResult) -> Counter[str]:
        lines = self.lines(result)
        for line in lines:
            assert line["record"]["n"].startswith(f"{line['parent']['id']}/")
        return Counter(line["record"]["n"] for line in lines)


def test_waits_until_the_parents_of_the_same_run_have_landed() -> None:
    story = Story()
    landed(story.store, {"id": 9}, hour=11)  # of another run

    first = story.call()
    second = story.call(first)
    landed(story.store, {"id": 1})
    third = story.call(second)

    waits = [each.continuation.wait_seconds for each in (first, second) if each.continuation]
    assert (first.done, second.done, waits) == (False, False, [10, 20])
    assert third.done
    assert story.landed(third) == expected([1])


def test_the_waits_for_parents_grow_to_a_bound_and_do_not_count_as_those_for_the_source() -> None:
    story = Story(Orders([SourceThrottledError("429", 60)]))
    result = story.call()
    for _ in range(20):
        result = story.call(result)
    assert result.continuation
    assert result.continuation.wait_seconds == 300

    landed(story.store, {"id": 1})
    waiting = story.call(result)

    assert waiting.continuation
    assert (waiting.continuation.wait_seconds, waiting.continuation.waits) == (60, 1)


def test_fails_where_the_parents_have_failed() -> None:
    story = Story()
    record = FailureRecord(
        run_id="r", source="shop", endpoint="orders", error="SourceRejectedError", cause="401",
        recorded_at=NOON,
    )  # fmt: skip
    story.store.put(layout.failure_key("r", "orders"), record.to_json())

    with pytest.raises(ParentFailedError, match=r"orders, .* failed with SourceRejectedError"):
        story.call()


def test_fails_where_the_run_does_not_know_the_parents() -> None:
    with pytest.raises(UnknownSourceError, match="knows no 'others'"):
        Story(table="others").call()


def test_no_parents_are_no_children() -> None:
    story = Story()
    landed(story.store)

    result = story.call()

    assert (result.done, result.rows, story.api.urls) == (True, 0, [])


def test_a_parent_that_landed_twice_is_asked_once_with_its_last_fields() -> None:
    story = Story(fields={"id": "$.id", "name": "$.name"})
    landed(story.store, {"id": 5, "name": "a"}, {"id": 6}, {"id": 5, "name": "b"})

    lines = story.lines(story.call())

    assert story.api.urls == ["5/1", "6/1", "6/2"]
    assert [line["parent"] for line in lines[:3:2]] == [
        {"id": 5, "name": "b"}, {"id": 6, "name": None},
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("records", "fault"),
    [
        ([{"id": 1}, b"{broken"], "record 2 of orders is no JSON object"),
        ([{"id": 1}, {"no": 1}], 'parent {"id":null}: {parent.id} must be a text'),
        ([{"id": n} for n in range(6)], "orders has more than 5 parents"),
    ],
)
def test_names_what_keeps_a_parent_from_being_asked_for(records: list[Any], fault: str) -> None:
    story = Story(max_parents=5)
    landed(story.store, *records)

    with pytest.raises(SourceShapeError) as failed:
        story.call()

    assert fault in str(failed.value)
    assert not story.store.head("raw/shop/items/20260101_120000/manifest.json")


def test_bounds_the_memory_that_parents_need(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lakekit.landing.parents.MOST_BYTES", 10)
    story = Story(fields={"id": "$.id", "text": "$.text"})
    landed(story.store, {"id": 1, "text": "x" * 20})

    with pytest.raises(SourceShapeError, match="name fewer or smaller ones"):
        story.call()


def test_notices_a_landing_that_is_broken() -> None:
    story = Story()
    key = landed(story.store, {"id": 1})
    part = load_manifest(story.store, key).parts[0].key
    story.store.objects[part] = story.store.objects[part][:-10]

    with pytest.raises(LandingCorruptError, match="broken gzip"):
        story.call()


def test_parents_of_a_list_need_no_landing() -> None:
    story = Story(table=None, fields=None, values=[{"id": 1}, {"id": 2}])

    assert story.landed(story.call()) == expected([1, 2])


def test_goes_on_in_the_middle_of_a_parent() -> None:
    story = Story()
    landed(story.store, {"id": 2}, {"id": 3})

    result = story.call(seconds=0)
    while not result.done:
        result = story.call(result, seconds=0)

    assert story.api.urls == ["2/1", "2/2", "3/1", "3/2", "3/3"]
    assert story.landed(result) == expected([2, 3])
    assert result.pages == 5


FAULTS = st.sampled_from(
    [
        None, None, None, None, SourceThrottledError("429", 5), SourceUnavailableError("503"),
        SourceUnavailableError("503", 100_000), SourceRejectedError("403"),
    ]
)  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(
    orders=st.lists(st.integers(0, 15), max_size=8),
    faults=st.lists(FAULTS, max_size=12),
    seconds=st.lists(st.sampled_from([0, 1000]), min_size=1, max_size=6),
    skips=st.booleans(),
)
def test_children_of_each_parent_land_once_or_the_run_fails_and_names_the_parent(
    orders: list[int], faults: list[LakekitError | None], seconds: list[int], skips: bool
) -> None:
    copies = [type(f)(*f.args, **_pause(f)) if f else None for f in faults]
    story = Story(Orders(copies), absent_parents="skip" if skips else "fail")
    landed(story.store, *({"id": order} for order in orders))
    result: ExtractPagesResult | None = None
    for number in range(60):
        try:
            result = story.call(result, seconds[number % len(seconds)])
        except LakekitError as error:
            assert not story.store.head("raw/shop/items/20260101_120000/manifest.json")
            assert str(error).startswith('parent {"id":')
            if not isinstance(error, SourceRejectedError):
                continue  # the state machine calls again
            assert "403" in str(error) or (not skips and 'parent {"id":13}' in str(error))
            return
        if result.done:
            assert skips or 13 not in orders
            assert story.landed(result) == expected([*dict.fromkeys(orders)])
            return
    raise AssertionError("the extraction does not end")


def _pause(error: LakekitError) -> dict[str, Any]:
    seconds = getattr(error, "retry_after_seconds", None)
    return {} if seconds is None else {"retry_after_seconds": seconds}


class Moved(Story):
    """A child of orders of which each run has those that moved."""

    def __init__(self) -> None:
        super().__init__()
        parent = contract()
        endpoint = parent.endpoint.model_copy(update={"extract": "incremental"})
        self.store = MemoryObjectStore()
        begun(self.store, parent.model_copy(update={"endpoint": endpoint}), child())


def test_children_that_failed_are_made_up_for_although_their_parents_have_moved_on() -> None:
    story = Moved()
    for hour, order in ((8, 1), (9, 2), (10, 3), (11, 5), (12, 6), (13, 7)):
        landed(story.store, {"id": order}, hour=hour)
    landed(story.store, hour=9, endpoint="items")  # the newest that landed
    landed(story.store, hour=10, endpoint="items")
    story.store.put("raw/shop/items/20260101_100000/.rejected", b"")
    story.store.put("raw/shop/orders/20260101_110000/.rejected", b"")

    assert story.landed(story.call()) == expected([3, 6])


def test_the_first_extraction_of_a_child_asks_for_all_parents_that_have_landed() -> None:
    story = Moved()
    landed(story.store, {"id": 1}, hour=8)
    landed(story.store, {"id": 2}, hour=12)

    assert story.landed(story.call()) == expected([1, 2])


def test_waits_for_parents_that_an_earlier_run_still_extracts() -> None:
    story = Moved()
    landed(story.store, {"id": 2}, hour=12)
    for run_id, landing in (("a", NOON.replace(hour=8)), ("later", NOON.replace(hour=13))):
        story.store.put(layout.open_run_key("shop", run_id), landing.isoformat().encode())
    story.store.put(layout.open_run_key("shop", "loads-only"), b"")

    first = story.call()
    landed(story.store, {"id": 1}, hour=8, run_id="a")

    assert not first.done
    assert story.landed(story.call(first)) == expected([1, 2])


def test_does_not_wait_for_parents_that_an_earlier_run_could_not_extract() -> None:
    story = Moved()
    landed(story.store, {"id": 2}, hour=12)
    story.store.put(layout.open_run_key("shop", "a"), NOON.replace(hour=8).isoformat().encode())
    story.store.put(layout.failure_key("a", "orders"), b"{}")

    assert story.landed(story.call()) == expected([2])


def test_refuses_to_go_on_with_other_parents() -> None:
    story = Moved()
    landed(story.store, {"id": 1}, hour=8)
    landed(story.store, {"id": 2}, hour=12)
    first = story.call(seconds=0)
    landed(story.store, hour=9, endpoint="items")

    with pytest.raises(SourceShapeError, match="the parents are others"):
        story.call(first)
