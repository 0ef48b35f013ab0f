"""After a decision a run starts; or whoever holds the table starts it."""

import pytest

from lakekit import layout
from lakekit.errors import InvalidStepInputError
from lakekit.landing.decisions import read_decision
from lakekit.operate.decide import approve_landing, reject_landing, retry_landings
from lakekit.runs.next_run import back_off, hand_over
from tests.unit.operate.kit import blocked_world
from tests.unit.runs.kit import NOON, claimed, landed, world

FLOW_STARTS = {"source": "shop", "extract": False, "origin": "person"}


def test_an_approval_is_kept_with_reason_and_person_and_starts_a_run() -> None:
    story, key = blocked_world()

    decided = approve_landing(story.flow, key, "shops were closed", "arn:anna")

    kept = read_decision(story.store, layout.approved_key(layout.prefix_of(key)))
    assert kept
    assert (kept.reason, kept.decided_by, kept.decided_at) == (
        "shops were closed",
        "arn:anna",
        NOON,
    )
    assert decided.started
    assert story.executions.started == {decided.started: FLOW_STARTS}
    assert len(decided.started) <= 80


def test_no_lease_is_held_while_a_person_thinks_or_decides() -> None:
    story, key = blocked_world()

    approve_landing(story.flow, key, "so it is", "anna")

    assert story.keys("leases/") == []


def test_whoever_holds_the_table_starts_the_run_when_it_gives_it_back() -> None:
    story, key = blocked_world()
    story.leases.acquire("orders", "busy")

    decided = approve_landing(story.flow, key, "so it is", "anna")

    assert (decided.started, decided.held_by) == (None, {"orders": "busy"})
    assert story.executions.started == {}
    assert hand_over(story.flow, "busy", "shop", ["orders"])


def test_the_same_approval_again_goes_on_where_it_was_cut_short() -> None:
    story, key = blocked_world()
    first = approve_landing(story.flow, key, "so it is", "anna")

    again = approve_landing(story.flow, key, "so it is", "anna")

    assert again == first
    assert len(story.executions.started) == 1


def test_a_table_that_backs_off_is_tried_at_once() -> None:
    story = world()
    key = landed(story.store, {"id": 1})
    for run in ("one", "two"):
        back_off(story.store, "shop", "orders", run, NOON)

    decided = retry_landings(story.flow, [key], "anna")

    assert decided.started in story.executions.started
    assert story.keys("index/backoff/") == []


def test_a_rejection_starts_a_run_for_what_waited_for_it() -> None:
    story, key = blocked_world()
    landed(story.store, {"id": 2}, hour=13)

    decided = reject_landing(story.flow, key, "half a file", "anna")

    assert decided.started in story.executions.started


def test_a_rejection_starts_nothing_if_nothing_else_is_pending() -> None:
    story, key = blocked_world()

    decided = reject_landing(story.flow, key, "half a file", "anna")

    assert (decided.started, decided.held_by, story.executions.started) == (None, {}, {})


def test_what_a_run_is_merging_cannot_be_rejected() -> None:
    story = world()
    key = landed(story.store, {"id": 1})
    story.leases.acquire("orders", "r")
    claimed(story.store, key)

    with pytest.raises(InvalidStepInputError, match="run r is about to merge it"):
        reject_landing(story.flow, key, "half a file", "anna")

    assert story.store.head(layout.rejected_key(layout.prefix_of(key))) is None


@pytest.mark.parametrize("owner", [layout.REBUILD_OWNER, layout.maintenance_owner("m")])
def test_a_rebuild_or_maintenance_is_no_reason_not_to_reject(owner: str) -> None:
    story = world()
    key = landed(story.store, {"id": 1})
    story.leases.acquire("orders", owner)

    assert reject_landing(story.flow, key, "half a file", "anna").decision == "rejected"


def test_a_decision_needs_a_reason() -> None:
    story, key = blocked_world()

    with pytest.raises(InvalidStepInputError, match="give a reason"):
        approve_landing(story.flow, key, " ", "anna")
