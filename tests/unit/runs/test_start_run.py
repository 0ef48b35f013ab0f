from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from lakekit.contract.contract import Contract
from lakekit.contract.endpoint import Endpoint
from lakekit.errors import InvalidContractError, InvalidStepInputError, UnknownSourceError
from lakekit.runs.documents import read_run
from lakekit.runs.start_run import start_run
from lakekit.steps.functions import StartRun, StartRunResult
from tests.fakes import MemoryObjectStore
from tests.unit.runs.kit import NOON, SOURCE, child, contract


class Story:
    """Starts of runs of one source."""

    def __init__(self) -> None:
        self.store = MemoryObjectStore()
        self.contracts = (contract("orders"), contract("clients"))

    def start(self, run_id: str = "r", at: datetime = NOON, **request: Any) -> StartRunResult:
        event = {"run_id": run_id, "started_at": at, "source": "shop",
                 "request": {"source": "shop", **request}}  # fmt: skip
        return start_run(StartRun.from_event(event), self.store, SOURCE, self.contracts)


@pytest.fixture
def story() -> Story:
    return Story()


def test_extracts_every_endpoint_of_the_source_and_takes_no_table(story: Story) -> None:
    assert story.start().endpoints == ("orders", "clients")
    assert sorted(story.store.objects) == [
        "index/open/shop/r", "runs/r/run.json", "watch/started/shop"
    ]  # fmt: skip
    # When its landings are of: where the order counts, others wait for them.
    assert story.store.get("index/open/shop/r") == NOON.isoformat().encode()


def test_extracts_nothing_where_only_what_is_pending_is_to_be_loaded(story: Story) -> None:
    assert story.start(extract=False).endpoints == ()
    assert story.store.get("index/open/shop/r") == b""


def files_alone(name: str) -> Contract:
    """Return the contract of a table that is not asked for."""
    endpoint = Endpoint(extract="changes")
    return contract(name).model_copy(update={"endpoint": endpoint})


def test_extracts_nothing_of_a_source_of_files_alone(story: Story) -> None:
    event = {"run_id": "r", "started_at": NOON, "source": "shop", "request": {"source": "shop"}}
    source = SOURCE.model_copy(update={"base_url": None})

    done = start_run(StartRun.from_event(event), story.store, source, [files_alone("orders")])

    assert done.endpoints == ()
    assert read_run(story.store, "r").source == source


def test_refuses_a_table_of_files_alone_whose_source_is_asked(story: Story) -> None:
    story.contracts = (contract("orders"), files_alone("clients"))

    with pytest.raises(InvalidContractError, match=r"clients: endpoint\.path: is missing"):
        story.start()


def test_the_same_start_again_returns_the_same_result(story: Story) -> None:
    first = story.start()
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


def test_the_extraction_time_is_the_start_to_the_second_unless_it_is_given(story: Story) -> None:
    story.start("a", NOON.replace(microsecond=123))
    story.start("b", extraction_time="2024-08-06T00:00:00Z")

    assert read_run(story.store, "a").extraction_time == NOON
    assert read_run(story.store, "b").extraction_time == datetime(2024, 8, 6, tzinfo=UTC)


def test_a_source_without_contracts_is_unknown(story: Story) -> None:
    story.contracts = ()

    with pytest.raises(UnknownSourceError, match="source: shop"):
        story.start()


def test_a_run_that_extracts_leaves_a_sign_for_the_sweeper(story: Story) -> None:
    story.start(extract=False)
    assert story.store.head("watch/started/shop") is None

    other = Story()
    other.start()
    assert other.store.head("watch/started/shop") is not None


def test_extracts_parents_before_their_children(story: Story) -> None:
    story.contracts = (child(), *story.contracts)

    assert story.start().endpoints == ("orders", "clients", "items")


def test_starts_no_run_whose_children_would_wait_for_ever(story: Story) -> None:
    story.contracts = (child(table="items"),)

    with pytest.raises(InvalidContractError, match="'items' is among its own parents"):
        story.start()
    assert not story.store.objects
