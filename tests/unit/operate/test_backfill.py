"""A backfill: chunks without a hole, the oldest first, and once more only what failed."""

from datetime import timedelta
from typing import Any

import pytest

from lakekit.errors import InvalidStepInputError, LandingCorruptError, UnknownSourceError
from lakekit.landing.watermark import set_watermark
from lakekit.operate.backfill import Backfill, Chunk, run_backfill
from lakekit.runs.start_run import start_run
from lakekit.steps.functions import StartRun
from tests.unit.runs.feed import WINDOW, Feed, Runs, at, feed_contract
from tests.unit.runs.kit import NOON, SOURCE, child


class Story:
    """A backfill of six hours, whose runs end when it waits."""

    def __init__(self) -> None:
        feed = Feed()
        for hour in range(6):
            feed.add(at(hour))
        self.runs = Runs(feed, feed_contract(WINDOW))
        self.found = self.runs.world
        self.failing: set[int] = set()
        self.said: list[Chunk] = []
        self.most = 0

    def run(self, parallel: int = 1) -> bool:
        self.said.clear()
        asked = Backfill(
            source="shop", endpoints=("orders",), start=at(0), end=at(5), length=timedelta(hours=2)
        )
        return run_backfill(
            asked, self.found.flow, parallel=parallel, sleep=self.sleep, report=self.said.append
        )

    def sleep(self, seconds: float) -> None:
        self.found.clock.advance(seconds)
        executions = self.found.executions
        running = [each for each in executions.started if each not in executions.ended]
        self.most = max(self.most, len(running))
        if seconds < 5:
            return
        for run_id in running:
            self.extract(run_id, executions.started[run_id])
            executions.ended.add(run_id)
            self.found.clock.advance(1)

    def extract(self, run_id: str, request: dict[str, Any]) -> None:
        if len(self.found.executions.ended) in self.failing:
            return
        start(self.runs, run_id, self.found.clock(), **request)
        self.runs.extract(run_id)

    def windows(self) -> list[str]:
        return [each["a"][11:13] + "-" + each["b"][11:13] for each in self.runs.feed.asked]

    def states(self) -> list[str]:
        return [each.state for each in self.said]


def start(runs: Runs, run_id: str, time: Any = NOON, **request: Any) -> Any:
    event = {"run_id": run_id, "started_at": time, "source": "shop",
             "request": {"source": "shop", **request}}  # fmt: skip
    return start_run(StartRun.from_event(event), runs.store, SOURCE, [runs.contract])


def test_chunks_are_asked_for_one_after_the_other_the_oldest_first() -> None:
    story = Story()

    assert story.run()
    assert story.windows() == ["00-02", "02-04", "04-05"]
    assert story.states() == ["started", "landed"] * 3
    assert story.most == 1


def test_some_runs_may_be_at_work_at_a_time() -> None:
    story = Story()

    assert story.run(parallel=2)
    assert story.windows() == ["00-02", "02-04", "04-05"]
    assert story.most == 2


def test_a_chunk_that_failed_ends_the_call_and_the_next_call_goes_on_with_it() -> None:
    story = Story()
    story.failing = {1}

    assert not story.run()
    assert story.states() == ["started", "landed", "started", "failed"]
    story.failing = set()
    assert story.run()
    assert story.states() == ["landed", "started", "landed", "started", "landed"]
    assert story.windows() == ["00-02", "02-04", "04-05"]
    assert story.run()
    assert story.states() == ["landed"] * 3


def test_a_backfill_does_not_move_the_watermark_beyond_what_it_is_next_to() -> None:
    runs = Runs(Feed(), feed_contract(WINDOW))
    set_watermark(runs.store, runs.contract, at(3).isoformat(), "ann", NOON)

    for name, begin, end, value in (("a", 0, 2, 3), ("b", 4, 6, 3), ("c", 2, 5, 5)):
        window = [at(begin).isoformat(), at(end).isoformat()]
        start(runs, name, NOON + timedelta(hours=begin), window=window)
        runs.extract(name)
        landed = runs.manifest(name)
        runs.complete(name, landed)
        assert runs.value == f"2026-01-01T0{value}:00:00Z"


def test_a_window_of_a_backfill_is_not_taken_for_one_that_landed_in_the_same_second() -> None:
    runs = Runs(Feed(), feed_contract(WINDOW))
    runs.land("other")
    start(runs, "b", window=[at(0).isoformat(), at(1).isoformat()])

    with pytest.raises(LandingCorruptError, match="landed here in the same second; start again"):
        runs.extract("b")


def test_a_chunk_that_failed_because_of_a_landing_in_its_second_is_asked_for_again() -> None:
    story = Story()
    start = story.extract
    taken: list[str] = []

    def overtaken(run_id: str, request: dict[str, Any]) -> None:
        if not taken:
            taken.append(run_id)
            story.runs.land("other", story.found.clock())
            with pytest.raises(LandingCorruptError):
                start(run_id, request)
            return
        start(run_id, request)

    story.extract = overtaken  # type: ignore[method-assign]

    assert not story.run()
    assert story.run()
    assert story.windows()[-3:] == ["00-02", "02-04", "04-05"]


def test_children_are_asked_for_with_their_parents() -> None:
    items = child("items", table="orders")
    endpoint = items.endpoint.model_copy(update={"extract": "incremental"})
    items = items.model_copy(update={"endpoint": endpoint})
    window = [at(0).isoformat(), at(1).isoformat()]
    event = {"run_id": "r", "started_at": NOON, "source": "shop",
             "request": {"source": "shop", "window": window}}  # fmt: skip
    runs = Runs(Feed(), feed_contract(WINDOW))

    begun = start_run(StartRun.from_event(event), runs.store, SOURCE, [items, runs.contract])

    assert begun.endpoints == ("orders", "items")


@pytest.mark.parametrize(("request_", "error", "text"), [
    ({"endpoints": ["other"]}, UnknownSourceError, "no endpoint 'other'"),
    ({"endpoints": ["orders"], "window": None}, InvalidStepInputError, "give window too"),
    ({"extract": False}, InvalidStepInputError, "window needs extract"),
    ({"window": [at(2).isoformat(), at(999).isoformat()]}, InvalidStepInputError, "in the future"),
    ({"window": [at(2).isoformat(), at(2).isoformat()]}, Exception, "before its"),
])  # fmt: skip
def test_what_is_wrong_is_said(request_: dict[str, Any], error: type, text: str) -> None:
    window = [at(0).isoformat(), at(1).isoformat()]

    with pytest.raises(error, match=text):
        start(Runs(Feed(), feed_contract(WINDOW)), "a", **{"window": window} | request_)


def test_a_table_without_windows_is_not_backfilled() -> None:
    window = [at(0).isoformat(), at(1).isoformat()]

    with pytest.raises(InvalidStepInputError, match=r"no endpoint has incremental\.window"):
        start(Runs(Feed()), "a", window=window)
