"""The flow at sizes that schedules of chance do not reach: backlogs, wide sources, age."""

from datetime import timedelta
from typing import Any

import pytest

from lakekit import layout
from lakekit.config.source import load_source
from lakekit.landing.index import PENDING
from tests.flow.checks import MOST_CALLS_OF_START_RUN, MOST_STATE
from tests.flow.lake import CONTRACTS, DROPS, SHOP, SOURCES, contract_of
from tests.flow.story import Story
from tests.flow.weather import Weather
from tests.flow.world import BEGIN
from tests.unit.runs.kit import landed

LETTERS = str.maketrans("0123456789", "abcdefghij")


class Quiet(Story):
    """A schedule without chance, in which a test says what happens."""

    def __init__(self) -> None:
        super().__init__(0)
        vars(self.weather).update(vars(Weather(merge_seconds=(0.1, 0.2))))
        self.sweeps = False

    def _begin(self) -> None:
        pass

    def load(self, source: str, *, extract: bool = True) -> None:
        """Start a load, of what is pending alone if it does not extract."""
        loads = self.world.machines["load_source"]
        self._spawn("load", lambda: loads.begin("load", {"source": source, "extract": extract}), 1)

    @property
    def pending(self) -> list[Any]:
        return [*self.world.plain.list(layout.index_prefix(PENDING))]

    @property
    def largest_state(self) -> int:
        machines = self.world.machines.values()
        return max(
            size
            for machine in machines
            for execution in machine.executions.values()
            for size in execution.sizes.values()
        )


@pytest.mark.long
def test_a_backlog_of_five_thousand_landings_is_worked_off_in_small_states() -> None:
    story = Quiet()
    for number in range(5000):
        landed(
            story.world.plain, {"id": number, "price": 1}, run_id=f"r-{number}", source=DROPS,
            endpoint="days", extract="incremental",
            extraction_time=BEGIN - timedelta(seconds=5000 - number),
        )  # fmt: skip
    story.load(DROPS, extract=False)

    story.play()

    assert story.pending == []
    assert story.largest_state <= MOST_STATE
    assert len(story.world.tables["days"].commits) == 5000


@pytest.mark.long
def test_two_hundred_endpoints_with_the_longest_names_fit_into_states(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    source = "s" * 63
    tables = [f"{number:03}".translate(LETTERS).ljust(63, "t") for number in range(200)]
    contracts = tuple(contract_of(source, table, "full") for table in tables)
    monkeypatch.setitem(CONTRACTS, source, contracts)
    text = f"source: {source}\nbase_url: https://shop.example"
    monkeypatch.setitem(SOURCES, source, load_source(text))
    story = Quiet()
    story.load(source)

    story.play()

    assert {*story.world.tables} == {*tables}
    assert story.largest_state <= MOST_STATE


def test_a_start_costs_no_more_after_two_hundred_thousand_landings() -> None:
    story = Quiet()
    for number in range(200_000):
        folder = layout.raw_prefix(SHOP, "prices", BEGIN) + f"{number}/"
        story.world.plain.objects[layout.manifest_key(folder)] = b""
        story.world.plain.objects[layout.complete_key(folder)] = b""
    story.load(SHOP)

    story.play()

    assert len(story.world.tables) == len(CONTRACTS[SHOP])
    assert story.world.calls["start_run"] <= MOST_CALLS_OF_START_RUN
    # A claim asks for the lease of each table, and for its oldest landings.
    assert story.world.calls["claim_landings"] <= 60


def test_a_thousand_files_within_a_minute_are_at_most_twenty_jobs() -> None:
    story = Quiet()
    story.weather.merge_seconds = (60, 120)
    for number in range(1000):
        name, after = f"{number:04}", number * 0.06
        story._spawn("drop", lambda name=name: story._drop("events", name), after)

    story.play()

    merged = [each.batch for each in story.world.tables["events"].commits]
    assert len(merged) == len({*merged}) == 1000
    assert sum(story.world.job_runs.values()) <= 20
    assert story.largest_state <= MOST_STATE
