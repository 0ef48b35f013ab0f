from typing import Any

import pytest

from lakekit import layout
from lakekit.runs.documents import FailureRecord, read_document
from lakekit.runs.next_run import backs_off, next_name
from lakekit.runs.record_failure import record_failure
from lakekit.steps.functions import RecordFailure
from tests.unit.runs.kit import NOON, World, begun, claimed, landed, world


@pytest.fixture
def story() -> World:
    """A run that holds the table `orders`, with one landing."""
    found = world()
    begun(found.store)
    found.store.put(layout.open_run_key("shop", "r"), b"")
    claimed(found.store, landed(found.store, {"id": 1}))
    found.leases.acquire("orders", "r")
    return found


def record(world: World, **fields: Any) -> str:
    event = {"run_id": "r", "source": "shop", "failure": {"Error": "X", "Cause": "y"}} | fields
    return record_failure(RecordFailure.from_event(event), world.flow).key


def test_keeps_the_error_and_gives_the_tables_back(story: World) -> None:
    story.leases.acquire("others", "q")

    key = record(story)

    found = read_document(story.store, key, FailureRecord)
    assert key == "runs/r/failure.json"
    assert (found.error, found.cause, found.recorded_at) == ("X", "y", NOON)
    assert (story.leases.holder("orders"), story.leases.holder("others")) == (None, "q")
    # The sweeper looks for what it has left behind.
    assert story.keys("index/open/") == [layout.open_run_key("shop", "r")]


def test_its_landings_are_tried_once_more_at_once_then_after_a_pause(story: World) -> None:
    record(story)
    assert story.executions.started == {
        next_name("r"): {"source": "shop", "extract": False, "origin": "next"}
    }

    begun(story.store, run_id="again")
    claimed(story.store, *(f"raw/shop/{e}/manifest.json" for e in ["orders/20260101_120000"]),
            run_id="again")  # fmt: skip
    record(story, run_id="again")

    assert len(story.executions.started) == 1
    assert backs_off(story.store, "shop", "orders", NOON)


def test_what_others_left_meanwhile_is_loaded_by_the_next_run(story: World) -> None:
    landed(story.store, {"id": 1}, endpoint="clients")
    for run_id in ("p", "q"):
        from lakekit.runs.next_run import back_off  # noqa: PLC0415

        back_off(story.store, "shop", "orders", run_id, NOON)

    record(story)

    assert list(story.executions.started) == [next_name("r")]


def test_an_endpoint_that_failed_does_not_end_the_run(story: World) -> None:
    assert record(story, endpoint="orders") == "runs/r/failure-orders.json"
    assert story.leases.holder("orders") == "r"
    assert story.executions.started == {}


def test_a_run_that_never_began_can_fail_too() -> None:
    empty = world()

    record(empty)

    assert list(empty.store.objects) == ["runs/r/failure.json"]


def test_a_run_that_failed_before_its_claim_was_written_gives_back_what_it_had_taken(
    story: World,
) -> None:
    story.store.delete(layout.claim_key("r"))

    record(story)

    assert story.leases.holder("orders") is None
    # Whatever it is that fails before a claim, it would fail again: the sweeper tries later.
    assert story.executions.started == {}


def test_the_last_failure_of_a_run_is_kept(story: World) -> None:
    record(story)

    key = record(story, failure={"Error": "Z"})

    assert read_document(story.store, key, FailureRecord).error == "Z"
