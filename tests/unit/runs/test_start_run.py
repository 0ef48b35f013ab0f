from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from lakekit import layout
from lakekit.errors import InvalidStepInputError, TableBusyError, UnknownSourceError
from lakekit.runs.documents import read_run
from lakekit.runs.start_run import start_run
from lakekit.steps.functions import StartRun, StartRunResult
from tests.fakes import ManualClock, MemoryObjectStore
from tests.unit.runs.kit import NOON, SOURCE, Leases, contract, landed


class Story:
    """Starts of runs of one source."""

    def __init__(self) -> None:
        self.store = MemoryObjectStore()
        self.leases = Leases()
        self.contracts = (contract("orders"), contract("clients"))
        self.clock = ManualClock(NOON)

    def start(self, run_id: str = "r", at: datetime = NOON, **request: Any) -> StartRunResult:
        event = {"run_id": run_id, "started_at": at, "source": "shop",
                 "request": {"source": "shop", **request}}  # fmt: skip
        step = StartRun.from_event(event)
        return start_run(step, self.store, self.leases, SOURCE, self.contracts, clock=self.clock)


@pytest.fixture
def story() -> Story:
    return Story()


def test_extracts_every_endpoint_of_the_source(story: Story) -> None:
    result = story.start()

    assert result.endpoints == ("orders", "clients")
    assert result.manifests == ()
    assert story.leases.held == {"orders": "r", "clients": "r"}


def test_claims_what_is_pending_oldest_extraction_first(story: Story) -> None:
    late = landed(story.store, {"id": 1}, hour=9)
    early = landed(story.store, {"id": 1}, hour=8, endpoint="clients")
    done = landed(story.store, {"id": 1}, hour=7)
    story.store.put(layout.complete_key(layout.prefix_of(done)), b"")

    assert story.start().manifests == (early, late)


def test_leaves_out_what_a_person_has_rejected(story: Story) -> None:
    good, bad = (landed(story.store, {"id": 1}, hour=hour) for hour in (8, 9))
    story.store.put(layout.rejected_key(layout.prefix_of(bad)), b"the vendor sent a draft")

    assert story.start().manifests == (good,)
    assert story.start(manifests=[bad, good]).manifests == (good,)


def test_claims_a_landing_whose_manifest_is_broken_so_that_validation_can_say_so(
    story: Story,
) -> None:
    key = landed(story.store, {"id": 1})
    story.store.put(key, b"nonsense")

    assert story.start().manifests == (key,)


def test_the_same_start_again_returns_the_same_result(story: Story) -> None:
    first = story.start()
    landed(story.store, {"id": 1})
    story.contracts = (contract("other"),)

    assert story.start() == first


def test_refuses_a_run_id_that_another_execution_had(story: Story) -> None:
    story.start()

    with pytest.raises(InvalidStepInputError, match="start with a new name"):
        story.start(at=NOON + timedelta(days=100))


def test_pins_source_and_contracts(story: Story) -> None:
    story.start()

    run = read_run(story.store, "r")

    assert (run.source, run.contracts) == (SOURCE, story.contracts)


def test_keeps_the_epochs_of_its_leases_which_order_the_runs_of_a_table(story: Story) -> None:
    story.start("a")
    story.leases.held.clear()
    story.start("b")

    first, second = (read_run(story.store, run_id).epochs for run_id in ("a", "b"))

    assert first.keys() == second.keys() == {"orders", "clients"}
    assert all(second[table] > first[table] for table in first)


def test_keeps_when_it_had_its_leases_which_may_be_long_after_its_start(story: Story) -> None:
    story.leases.held["orders"] = "other"
    with pytest.raises(TableBusyError):
        story.start()
    story.leases.held.clear()
    story.clock.advance(600)

    story.start()

    run = read_run(story.store, "r")
    assert (run.started_at, run.leased_at) == (NOON, NOON + timedelta(minutes=10))


def test_refuses_to_begin_again_when_others_may_have_merged_since(story: Story) -> None:
    story.start("first")
    story.leases.held.clear()
    story.start("second")
    story.leases.held.clear()

    with pytest.raises(InvalidStepInputError, match="never redrive"):
        story.start("first")


def test_the_extraction_time_is_the_start_to_the_second_unless_it_is_given(story: Story) -> None:
    story.start("a", NOON.replace(microsecond=123))
    story.leases.held.clear()
    story.start("b", extraction_time="2024-08-06T00:00:00Z")

    assert read_run(story.store, "a").extraction_time == NOON
    assert read_run(story.store, "b").extraction_time == datetime(2024, 8, 6, tzinfo=UTC)


def test_given_files_bring_their_landings_and_nothing_is_extracted(story: Story) -> None:
    pending = landed(story.store, {"id": 1}, hour=8)
    given = landed(story.store, {"id": 1}, hour=9)
    done = landed(story.store, {"id": 1}, hour=7)
    story.store.put(layout.complete_key(layout.prefix_of(done)), b"")

    result = story.start(manifests=[given, done])

    assert result.endpoints == ()
    assert result.manifests == (pending, given)


def test_refuses_a_request_that_would_do_nothing_and_look_green(story: Story) -> None:
    with pytest.raises(InvalidStepInputError, match="manifests: null"):
        story.start(manifests=None)


def test_a_busy_table_leaves_nothing_behind(story: Story) -> None:
    story.leases.held["orders"] = "other"

    with pytest.raises(TableBusyError):
        story.start()

    assert story.leases.held == {"orders": "other"}
    assert story.store.objects == {}


def test_a_source_without_contracts_is_unknown(story: Story) -> None:
    story.contracts = ()

    with pytest.raises(UnknownSourceError, match="source: shop"):
        story.start()
