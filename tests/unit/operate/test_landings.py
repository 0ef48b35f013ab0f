"""What waits, and all that is known of one landing."""

from lakekit import layout
from lakekit.landing.index import BLOCKED
from lakekit.operate.decide import approve_landing, reject_landing
from lakekit.operate.landings import describe_landing, waiting_landings
from tests.unit.operate.kit import blocked_world
from tests.unit.runs.kit import landed

BOTH = ("blocked", "pending")


def test_those_that_wait_for_a_person_come_first_with_their_reason() -> None:
    story, _ = blocked_world(hour=13)
    landed(story.store, {"id": 2}, hour=12)

    found = [*waiting_landings(story.store, BOTH)]

    assert [(each.state, each.time) for each in found] == [
        ("blocked", "20260101_130000"), ("pending", "20260101_120000"),
    ]  # fmt: skip
    assert found[0].blocked
    assert (found[0].blocked.error, found[0].blocked.run_id) == ("TooManyDeletedError", "found")
    assert [*waiting_landings(story.store, ("pending",))] == found[1:]
    assert [*waiting_landings(story.store, BOTH, "another")] == []


def test_an_entry_that_was_moved_by_hand_is_shown_all_the_same() -> None:
    story, key = blocked_world()
    story.store.put(layout.index_key(BLOCKED, key), b"")

    [found] = waiting_landings(story.store, BOTH)

    assert found.blocked
    assert found.blocked.error == "LandingCorruptError"


def test_a_landing_is_described_with_its_objects_and_decisions() -> None:
    story, key = blocked_world()
    before = describe_landing(story.store, key)
    approve_landing(story.flow, key, "so it is", "anna")
    approved = describe_landing(story.store, key)
    reject_landing(story.flow, key, "after all", "bob")
    rejected = describe_landing(story.store, key)

    assert (before.state, before.rows, before.extract, before.run_id) == ("blocked", 1, "full", "r")
    assert [each.rpartition("/")[2] for each in before.objects] == ["part-00000.ndjson.gz"]
    assert approved.approval
    assert (approved.state, approved.approval.decided_by) == ("pending", "anna")
    assert rejected.rejection
    assert (rejected.state, rejected.rejection.reason) == ("rejected", "after all")


def test_a_merged_landing_says_in_which_run() -> None:
    story, key = blocked_world()
    story.store.put(layout.complete_key(layout.prefix_of(key)), b"r-2")

    found = describe_landing(story.store, key)

    assert (found.state, found.completed_by) == ("complete", "r-2")


def test_a_landing_without_a_readable_manifest_says_so() -> None:
    story, key = blocked_world()
    story.store.put(key, b"{")

    found = describe_landing(story.store, key)

    assert found.fault
    assert "not a Manifest" in found.fault
