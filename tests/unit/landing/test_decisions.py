"""What a person decides about a landing."""

import pytest

from lakekit import layout
from lakekit.errors import InvalidStepInputError, UnknownSourceError
from lakekit.landing.decisions import approve, read_decision, reject, retry
from lakekit.landing.index import Blocked, block
from tests.unit.runs.kit import NOON, World, landed, world

GUARD = "TooManyDeletedError"


@pytest.fixture
def story() -> tuple[World, str]:
    found = world()
    key = landed(found.store, {"id": 1})
    block(found.store, key, Blocked(run_id="q", error=GUARD, cause="y", blocked_at=NOON))
    return found, key


def test_a_rejected_landing_waits_for_no_one(story: tuple[World, str]) -> None:
    found, key = story

    reject(found.store, key, "a draft", NOON)

    assert b"a draft" in found.store.get(layout.rejected_key(layout.prefix_of(key)))
    assert found.keys("index/") == []


def test_an_approved_landing_waits_for_the_next_run(story: tuple[World, str]) -> None:
    found, key = story

    approve(found.store, key, "the vendor closed its shops", NOON)

    assert b"closed its shops" in found.store.get(layout.approved_key(layout.prefix_of(key)))
    assert (len(found.pending()), found.blocked()) == (1, [])


def test_a_landing_is_tried_again_without_a_marker(story: tuple[World, str]) -> None:
    found, key = story

    retry(found.store, key)

    assert (len(found.pending()), found.blocked()) == (1, [])
    assert found.store.head(layout.approved_key(layout.prefix_of(key))) is None


def test_what_is_merged_is_beyond_a_decision(story: tuple[World, str]) -> None:
    found, key = story
    found.store.put(layout.complete_key(layout.prefix_of(key)), b"r")

    with pytest.raises(InvalidStepInputError, match="is merged"):
        reject(found.store, key, "late", NOON)
    with pytest.raises(InvalidStepInputError, match="is merged"):
        approve(found.store, key, "late", NOON)
    with pytest.raises(InvalidStepInputError, match="is merged"):
        retry(found.store, key)


def test_what_is_rejected_is_not_tried_again(story: tuple[World, str]) -> None:
    found, key = story
    reject(found.store, key, "a draft", NOON)

    with pytest.raises(InvalidStepInputError, match="is rejected; remove"):
        retry(found.store, key)


def test_a_landing_that_is_not_there_is_unknown(story: tuple[World, str]) -> None:
    found, _ = story

    with pytest.raises(UnknownSourceError, match="no such landing"):
        reject(found.store, "raw/shop/orders/20250101_000000/manifest.json", "x", NOON)


def test_what_no_guard_has_blocked_cannot_be_approved(story: tuple[World, str]) -> None:
    found, key = story
    corrupt = Blocked(run_id="q", error="LandingCorruptError", cause="y", blocked_at=NOON)
    block(found.store, key, corrupt)
    with pytest.raises(InvalidStepInputError, match="LandingCorruptError is beyond an approval"):
        approve(found.store, key, "so it is", NOON)

    retry(found.store, key)

    with pytest.raises(InvalidStepInputError, match="no guard has blocked it"):
        approve(found.store, key, "so it is", NOON)


def test_a_decision_says_who_has_made_it(story: tuple[World, str]) -> None:
    found, key = story
    marker = layout.rejected_key(layout.prefix_of(key))
    assert read_decision(found.store, marker) is None

    reject(found.store, key, "a draft", NOON, by="anna")

    decision = read_decision(found.store, marker)
    assert decision
    assert (decision.reason, decision.decided_by) == ("a draft", "anna")


def test_a_marker_that_was_made_by_hand_is_its_own_reason(story: tuple[World, str]) -> None:
    found, key = story
    marker = layout.rejected_key(layout.prefix_of(key))
    found.store.put(marker, b"half a file\n")

    decision = read_decision(found.store, marker)

    assert decision
    assert (decision.reason, decision.decided_at) == ("half a file", NOON)
