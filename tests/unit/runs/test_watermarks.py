"""Where runs of an incremental table begin, how far they reach, and that nothing is left out."""

import gzip
import json
from datetime import datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lakekit import layout
from lakekit.contract.endpoint.incremental import time_text
from lakekit.errors import (
    CallBudgetExceededError,
    InvalidStepInputError,
    SourceShapeError,
    SourceUnavailableError,
    WatermarkMismatchError,
)
from lakekit.landing.decisions import reject
from lakekit.landing.mark import Mark
from lakekit.landing.validate import validate_landing
from lakekit.landing.watermark import set_watermark
from lakekit.landing.writer import Manifest
from lakekit.runs.documents import read_run
from tests.fakes import MemoryObjectStore
from tests.unit.runs.feed import WATERMARK, WINDOW, Feed, Runs, at, feed_contract
from tests.unit.runs.kit import NOON


def feed_of(*hours: float) -> Feed:
    feed = Feed()
    for each in hours:
        feed.add(at(each))
    return feed


def ids(store: MemoryObjectStore, manifest: Manifest) -> list[int]:
    lines = [gzip.decompress(store.get(part.key)).splitlines() for part in manifest.parts]
    return [json.loads(line)["id"] for part in lines for line in part]


def test_the_first_run_begins_at_the_start_and_the_next_where_it_reached() -> None:
    runs = Runs(feed_of(1, 2, 3))

    first = runs.land("a")
    reached = runs.complete("a", first)
    runs.feed.add(at(13))
    second = runs.land("b", at(14))

    assert [each["a"] for each in runs.feed.asked] == [
        "2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z", "2026-01-01T03:00:00Z",
    ]  # fmt: skip
    assert reached
    assert (reached.value, reached.manifest) == (
        "2026-01-01T03:00:00Z",
        f"{first.prefix}manifest.json",
    )
    assert ids(runs.store, second) == [2, 3]  # the last one is asked for again
    assert first.watermark == Mark(
        by="$.at", type="timestamp", counted=3,
        since="2026-01-01T00:00:00Z", until="2026-01-01T03:00:00Z",
    )  # fmt: skip


def test_a_landing_alone_moves_nothing_and_neither_does_one_that_is_rejected() -> None:
    runs = Runs(feed_of(1, 2))
    landed = runs.land("a")

    reject(runs.store, layout.manifest_key(landed.prefix), "half of it", NOON)
    runs.land("b", at(13))

    assert runs.watermark is None
    assert runs.feed.asked[-1]["a"] == "2026-01-01T00:00:00Z"


def test_all_calls_of_a_run_ask_from_where_it_began() -> None:
    runs = Runs(feed_of(1, 2, 3, 4, 5))
    other = runs.land("a", at(6))
    runs.start("b", at(7))
    so_far = runs.extract("b", seconds=0)
    runs.complete("a", other)

    runs.extract("b", so_far)

    assert {each["a"] for each in runs.feed.asked} == {"2026-01-01T00:00:00Z"}
    assert read_run(runs.store, "b").watermarks == ()


@pytest.mark.parametrize("seconds", [0, 1000])
def test_the_watermark_is_measured_over_all_calls(seconds: float) -> None:
    runs = Runs(feed_of(1, 5, 3, 4, 2))

    landed = runs.land("a", seconds=seconds)

    assert landed.watermark
    assert (landed.watermark.until, landed.watermark.counted) == ("2026-01-01T05:00:00Z", 5)


def test_a_run_looks_back_behind_the_watermark() -> None:
    incremental = WATERMARK.replace("}", ", look_back_seconds: 300}")
    runs = Runs(feed_of(2), feed_contract(incremental))
    runs.complete("a", runs.land("a"))

    landed = runs.land("b", at(13))

    assert [each["a"][11:] for each in runs.feed.asked] == ["23:55:00Z", "01:55:00Z"]
    assert landed.watermark
    assert landed.watermark.since == "2026-01-01T02:00:00Z"


def test_a_record_from_the_future_lands_and_does_not_drag_the_watermark() -> None:
    runs = Runs(feed_of(1, 24 * 365, 2))

    landed = runs.land("a")

    assert landed.rows == 3
    assert landed.watermark
    assert (landed.watermark.until, landed.watermark.ahead) == ("2026-01-01T02:00:00Z", 1)


def test_records_without_a_watermark_land_and_are_counted() -> None:
    feed = Feed([{"id": 1, "at": None}, {"id": 2}, {"id": 3, "at": 5}, {"id": 4, "at": "soon"}])
    feed.add(at(2))
    runs = Runs(feed)

    landed = runs.land("a")

    assert landed.rows == 5
    assert landed.watermark
    assert landed.watermark.model_dump(include={"counted", "unset", "unreadable", "until"}) == {
        "counted": 1, "unset": 1, "unreadable": 3, "until": "2026-01-01T02:00:00Z",
    }  # fmt: skip


def test_nothing_lands_if_no_record_has_the_watermark() -> None:
    runs = Runs(Feed([{"id": 1}, {"id": 2, "at": 7}]))

    with pytest.raises(SourceShapeError, match=r"none of 2 records has a timestamp at \$\.at"):
        runs.land("a")


@pytest.mark.parametrize("records", [[], [{"id": 1, "at": None}]])
def test_without_a_value_the_watermark_stays(records: list[Any]) -> None:
    runs = Runs(Feed(records))

    assert runs.complete("a", runs.land("a")) is None


def test_the_watermark_never_goes_backwards() -> None:
    runs = Runs(feed_of(3))
    runs.complete("a", runs.land("a"))
    runs.feed.records.clear()
    runs.feed.add(at(1))
    runs.contract = feed_contract(WATERMARK.replace("}", ", look_back_seconds: 86400}"))

    runs.complete("b", runs.land("b", at(13)))

    assert runs.value == "2026-01-01T03:00:00Z"


@pytest.mark.parametrize(
    ("kind", "values", "asked", "kept"),
    [
        ("number, start: 5", [7, 12345678901234567890, 9], "5", "12345678901234567890"),
        ("number, start: 5", ["10", "9"], "5", "10"),
        ("text, start: A", ["b", "a"], "A", "b"),
        ("date, start: 2025-12-31", ["2026-01-01", "2026-01-02"], "2025-12-31", at(0)),
        ("unix, start: 2026-01-01", [1767229200, 99999999999], "1767225600", at(1)),
        ("unix_ms, start: 2026-01-01", ["1767229200000"], "1767225600000", at(1)),
    ],
)
def test_watermarks_of_each_type(kind: str, values: list[Any], asked: str, kept: str) -> None:
    feed = Feed([{"id": n, "at": value} for n, value in enumerate(values)])
    runs = Runs(feed, feed_contract(f"{{watermark: $.at, type: {kind}}}"))

    runs.complete("a", runs.land("a"))

    assert feed.asked[0]["a"] == asked
    assert runs.value == (kept if isinstance(kept, str) else time_text(kept))


def test_a_number_is_sent_back_as_it_was_received() -> None:
    runs = Runs(Feed([{"id": 1, "at": 12345678901234567890}]),
                feed_contract("{watermark: $.at, type: number, start: 0}"))  # fmt: skip
    runs.complete("a", runs.land("a"))

    runs.land("b", at(13))

    assert runs.feed.asked[-1]["a"] == "12345678901234567890"


@pytest.mark.parametrize("changed", ["{watermark: $.changed, start: 2026-01-01}", WINDOW])
def test_another_watermark_in_the_contract_waits_for_a_person(changed: str) -> None:
    runs = Runs(feed_of(1))
    runs.feed.records[0]["changed"] = at(1).isoformat()
    late = runs.land("late", at(2))
    runs.complete("a", runs.land("a"))
    runs.contract = feed_contract(changed)

    with pytest.raises(WatermarkMismatchError, match=r"lakekit watermark set shop\.orders VALUE"):
        runs.land("b", at(13))

    set_watermark(runs.store, runs.contract, "2026-01-01T00:30:00Z", "ann", NOON)
    runs.start("c", at(14))
    runs.extract("c")
    assert runs.feed.asked[-1]["a"].startswith("2026-01-01")
    # A landing by the contract of before does not touch it.
    runs.complete("c", late)
    assert runs.value == "2026-01-01T00:30:00Z"


def test_a_person_sets_where_the_next_run_begins_and_runs_on_their_way_do_not_undo_it() -> None:
    runs = Runs(feed_of(1, 2, 3))
    runs.complete("a", runs.land("a"))
    runs.feed.add(at(5))
    underway = runs.land("b", at(13))

    set_watermark(runs.store, runs.contract, "2026-01-01T02:00:00+01:00", "ann", NOON)
    runs.complete("b", underway)

    assert runs.watermark
    assert (runs.watermark.value, runs.watermark.set_by) == ("2026-01-01T01:00:00Z", "ann")
    runs.complete("c", runs.land("c", at(14)))
    assert runs.value == "2026-01-01T05:00:00Z"


@pytest.mark.parametrize(
    ("value", "fault"),
    [
        ("soon", "shop.orders: 'soon' must be a time like 2026-01-01T00:00:00Z"),
        ("2027-01-01", "shop.orders: 2027-01-01 is in the future"),
    ],
)
def test_a_value_that_would_lose_records_is_not_set(value: str, fault: str) -> None:
    with pytest.raises(InvalidStepInputError, match=fault):
        set_watermark(MemoryObjectStore(), feed_contract(), value, "ann", NOON)


def test_a_watermark_that_is_changed_at_the_same_time_is_looked_at_again() -> None:
    runs = Runs(feed_of(1, 2))
    landed, other = runs.land("a"), runs.land("b", at(13))
    put, done = runs.store.put, []

    def overtaken(key: str, body: bytes, **condition: Any) -> str:
        if key.endswith("watermark.json") and not done:
            done.append(key)
            set_watermark(runs.store, runs.contract, "2026-01-01T08:00:00Z", "ann", NOON)
        return put(key, body, **condition)

    runs.store.put = overtaken  # type: ignore[method-assign]
    runs.complete("b", landed, other)

    assert done
    assert runs.value == "2026-01-01T08:00:00Z"


def windows(feed: Feed) -> list[tuple[str, str]]:
    return [(each["a"][11:16], each["b"][11:16]) for each in feed.asked]


def test_windows_follow_each_other_up_to_the_start_of_the_run() -> None:
    runs = Runs(feed_of(0, 1, 1.5, 2, 4.5), feed_contract(WINDOW))

    landed = runs.land("a", at(5))
    runs.complete("a", landed)
    later = runs.land("b", at(5.5))

    assert windows(runs.feed) == [
        ("00:00", "02:00"), ("00:00", "02:00"), ("02:00", "04:00"), ("04:00", "05:00"),
        ("05:00", "05:30"),
    ]  # fmt: skip
    assert (landed.rows, landed.pages, later.rows) == (5, 4, 0)
    assert landed.watermark == Mark(
        by="window", type="timestamp", since="2026-01-01T00:00:00Z", until="2026-01-01T05:00:00Z"
    )


def test_each_call_goes_on_in_the_window_where_the_one_before_it_stopped() -> None:
    whole, parts = (Runs(feed_of(0, 1, 1.5, 3, 4.5), feed_contract(WINDOW)) for _ in range(2))

    one, other = whole.land("a", at(5)), parts.land("a", at(5), seconds=0)

    assert whole.feed.asked == parts.feed.asked
    assert ids(whole.store, one) == ids(parts.store, other) == [0, 1, 2, 3, 4]
    assert (one.rows, one.pages) == (other.rows, other.pages)


@pytest.mark.parametrize("request_number", range(4))
def test_a_source_that_fails_in_any_window_is_asked_on_from_there(request_number: int) -> None:
    runs = Runs(feed_of(0, 1, 1.5, 3, 4.5), feed_contract(WINDOW))
    runs.feed.faults[request_number] = SourceUnavailableError("503", 20)

    landed = runs.land("a", at(5))

    assert ids(runs.store, landed) == [0, 1, 2, 3, 4]
    assert len(runs.feed.asked) == 5


def test_windows_look_back_behind_the_end_of_the_last_one() -> None:
    incremental = WINDOW.replace("start", "look_back_seconds: 600, start")
    runs = Runs(feed_of(1), feed_contract(incremental))
    runs.complete("a", runs.land("a", at(2)))

    landed = runs.land("b", at(3))

    assert windows(runs.feed) == [("23:50", "01:50"), ("01:50", "02:00"), ("01:50", "03:00")]
    assert landed.watermark
    assert landed.watermark.since == "2026-01-01T02:00:00Z"


def test_a_landing_without_a_window_holds() -> None:
    runs = Runs(feed_of(1), feed_contract(WINDOW))
    runs.complete("a", runs.land("a", at(5)))

    again = runs.land("b", at(4))

    assert again.pages == 0
    assert validate_landing(runs.store, again, runs.contract).rows == 0


def test_no_window_is_asked_for_where_no_time_has_passed() -> None:
    runs = Runs(feed_of(1), feed_contract(WINDOW))
    runs.complete("a", runs.land("a", at(5)))
    asked = len(runs.feed.asked)

    again = runs.land("b", at(4))

    assert (again.rows, again.pages, len(runs.feed.asked)) == (0, 0, asked)
    runs.complete("b", again)
    assert runs.value == "2026-01-01T05:00:00Z"


def test_what_is_whole_lands_where_the_budget_of_a_run_ends_and_the_next_run_goes_on() -> None:
    runs = Runs(feed_of(0, 1, 1.5, 2.5, 3, 3.5, 4.5), feed_contract(WINDOW))
    runs.feed.faults[3] = CallBudgetExceededError("the budget is used up")

    landed = runs.land("a", at(5))
    runs.complete("a", landed)
    runs.complete("b", runs.land("b", at(5.5)))

    assert landed.rows == 5  # the first page of the second window too
    assert landed.watermark
    assert landed.watermark.until == "2026-01-01T02:00:00Z"
    assert windows(runs.feed)[-3:] == [("02:00", "04:00"), ("02:00", "04:00"), ("04:00", "05:30")]
    assert runs.value == "2026-01-01T05:30:00Z"


@pytest.mark.parametrize("incremental", [WATERMARK, WINDOW])
def test_without_a_whole_window_the_end_of_the_budget_is_an_error(incremental: str) -> None:
    runs = Runs(feed_of(0, 1, 1.5), feed_contract(incremental))
    runs.feed.faults[1] = CallBudgetExceededError("the budget is used up")

    with pytest.raises(CallBudgetExceededError):
        runs.land("a", at(5))


def test_the_end_of_the_budget_is_an_error_where_only_what_lies_behind_was_asked_for() -> None:
    incremental = WINDOW.replace("start", "look_back_seconds: 14400, start")
    runs = Runs(feed_of(1, 3, 5), feed_contract(incremental))
    runs.complete("a", runs.land("a", at(6)))
    runs.feed.faults[len(runs.feed.asked) + 2] = CallBudgetExceededError("the budget is used up")

    with pytest.raises(CallBudgetExceededError):
        runs.land("b", at(7))


def test_a_landing_behind_a_hole_leaves_the_watermark() -> None:
    runs = Runs(feed_of(1, 3), feed_contract(WINDOW))
    runs.complete("a", runs.land("a", at(4)))
    ahead = runs.land("b", at(6))
    set_watermark(runs.store, runs.contract, "2026-01-01T02:00:00Z", "ann", NOON)

    runs.complete("b", ahead)

    assert runs.value == "2026-01-01T02:00:00Z"


ACTIONS = st.lists(
    st.tuples(
        st.sampled_from(["run", "run", "complete", "complete", "fail", "reject", "set back"]),
        st.integers(0, 5),
        st.integers(1, 300),
    ),
    max_size=14,
)


@settings(max_examples=40, deadline=None)
@given(ACTIONS, st.sampled_from([WATERMARK, WINDOW]), st.sampled_from([0, 90, 4000]))
def test_whatever_fails_is_rejected_or_comes_late_nothing_up_to_the_watermark_is_left_out(
    actions: list[tuple[str, int, int]], incremental: str, look_back: int
) -> None:
    contract = feed_contract(incremental.replace("start", f"look_back_seconds: {look_back}, start"))
    story = History(Runs(Feed(), contract))

    for action, which, minutes in actions:
        story.play(action, which, minutes)
        story.check()
    story.play("run", 0, 1)
    story.play("complete", -1, 1)

    story.check()
    if incremental == WINDOW:
        assert story.reached == story.started_at


class History:
    """Runs of one table in any order; a record comes at every few minutes."""

    def __init__(self, runs: Runs) -> None:
        self.runs, self.now, self.number = runs, at(1), 0
        self.started_at = self.now
        self.landed: list[Manifest] = []
        self.complete: set[int] = set()
        self.windows: list[tuple[datetime, datetime]] = []
        self.asked: dict[str, list[tuple[datetime, datetime]]] = {}

    @property
    def reached(self) -> datetime:
        return datetime.fromisoformat(self.runs.value or at(0).isoformat())

    def play(self, action: str, which: int, minutes: int) -> None:
        before = self.reached
        if action in ("run", "fail"):
            self._run(fails=action == "fail")
        elif action == "set back":
            value = max(at(0), self.reached - timedelta(minutes=minutes))
            set_watermark(self.runs.store, self.runs.contract, value.isoformat(), "ann", self.now)
        elif self.landed:
            landed = self.landed.pop(which % len(self.landed) if which >= 0 else -1)
            if action == "complete":
                self.runs.complete(self._merging_run(), landed)
                self.complete.update(ids(self.runs.store, landed))
                self.windows += self.asked[landed.run_id]
        if action != "set back":
            assert self.reached >= before
        self.now += timedelta(minutes=minutes)
        self.runs.feed.add(self.now - timedelta(minutes=minutes, seconds=-7))

    def _merging_run(self) -> str:
        self.number += 1
        self.runs.start(f"m{self.number}", self.now)
        return f"m{self.number}"

    def _run(self, *, fails: bool) -> None:
        self.number += 1
        self.now += timedelta(seconds=1)  # one landing has one time
        self.started_at, asked = self.now, len(self.runs.feed.asked)
        if fails:
            self.runs.feed.faults[asked] = SourceShapeError("no")
            with pytest.raises(SourceShapeError):
                self.runs.land(f"r{self.number}", self.now)
            return
        landed = self.runs.land(f"r{self.number}", self.now, seconds=1000 * (self.number % 2))
        self.asked[landed.run_id] = [
            (datetime.fromisoformat(each["a"]), datetime.fromisoformat(each["b"]))
            for each in self.runs.feed.asked[asked:]
            if "b" in each
        ]
        self.landed.append(landed)

    def check(self) -> None:
        for record in self.runs.feed.records:
            if datetime.fromisoformat(record["at"]) < self.reached:
                assert record["id"] in self.complete
        edge = at(0)
        for begin, end in sorted(self.windows):
            if begin <= edge:
                edge = max(edge, end)
        assert self.runs.contract.endpoint.incremental
        if self.runs.contract.endpoint.incremental.window:
            assert edge >= self.reached
