"""A person names a landing by what mails and listings show."""

import pytest

from lakekit import layout
from lakekit.errors import InvalidStepInputError, UnknownSourceError
from lakekit.landing.index import remove_entry
from lakekit.operate.find import find_landing, find_landings
from tests.unit.operate.kit import block_it, blocked_world
from tests.unit.runs.kit import World, begun, claimed, landed, world

KEY = "raw/shop/orders/20260101_120000/manifest.json"


@pytest.fixture
def story() -> World:
    return blocked_world()[0]


@pytest.mark.parametrize("words", [
    [KEY],
    ["raw/shop/orders/20260101_120000/"],
    ["raw/shop/orders/20260101_120000"],
    [f"s3://bucket/{KEY}"],
    ["index/blocked/shop/orders/20260101_120000"],
    ["orders", "20260101_120000"],
    ["orders 20260101_120000"],
    ["orders", "2026-01-01T12:00:00Z"],
    ["orders", "2026-01-01T13:00:00+01:00"],
])  # fmt: skip
def test_a_landing_has_these_names(story: World, words: list[str]) -> None:
    assert find_landings(story.store, words) == [KEY]


def test_the_landing_of_a_file_is_named_with_its_microseconds() -> None:
    found = world()
    key = landed(found.store, {"id": 1})
    other = key.replace("120000", "120000_000042")
    found.store.objects[other] = found.store.objects[key]

    assert find_landing(found.store, ["orders", "20260101_120000_000042"]) == other


@pytest.mark.parametrize("run", ["found", "arn:aws:states:eu-west-1:1:execution:lakekit:found"])
def test_a_run_names_the_landings_that_it_has_blocked(story: World, run: str) -> None:
    begun(story.store, run_id="found")
    later = landed(story.store, {"id": 2}, hour=13)
    block_it(story, later, run_id="another")

    assert find_landings(story.store, [run]) == [KEY]


def test_a_run_that_has_blocked_nothing_names_what_it_claimed_and_is_pending() -> None:
    found = world()
    keys = [landed(found.store, {"id": n}, hour=n) for n in (1, 2)]
    begun(found.store, run_id="r")
    claimed(found.store, *keys)
    remove_entry(found.store, keys[0])

    assert find_landings(found.store, ["r"]) == [keys[1]]


def test_a_run_that_blocked_several_does_not_say_which_one(story: World) -> None:
    begun(story.store, run_id="found")
    block_it(story, landed(story.store, {"id": 2}, hour=13))

    with pytest.raises(InvalidStepInputError, match=r"(?s)name one:\n  orders .*\n  orders "):
        find_landing(story.store, ["found"])


def test_nothing_waits_of_a_run_that_merged_all() -> None:
    found = world()
    begun(found.store)
    claimed(found.store)

    with pytest.raises(InvalidStepInputError, match="no landing of run r waits"):
        find_landings(found.store, ["r"])


def test_a_damaged_entry_does_not_hide_another(story: World) -> None:
    begun(story.store, run_id="found")
    story.store.put(layout.index_prefix("blocked", "shop", "orders") + "20260101_110000", b"")

    assert find_landings(story.store, ["found"]) == [KEY]


@pytest.mark.parametrize(("words", "why"), [
    ([KEY.replace("2026", "2025")], "no such landing"),
    (["orders", "20250101_120000"], "no such landing"),
    (["people", "20260101_120000"], "no such landing"),
    (["another"], "there is no run another"),
])  # fmt: skip
def test_what_is_not_there_is_unknown(story: World, words: list[str], why: str) -> None:
    with pytest.raises(UnknownSourceError, match=why):
        find_landings(story.store, words)


@pytest.mark.parametrize("words", [
    [], ["a/b"], ["raw/shop/orders/"], ["orders", "noon"], ["or/ders", "20260101_120000"],
    ["orders", "2026-01-01T12:00:00"], ["a", "b", "c"], ["../x", "20260101_120000"],
])  # fmt: skip
def test_other_words_are_refused_in_a_sentence(story: World, words: list[str]) -> None:
    with pytest.raises(InvalidStepInputError, match=r"no landing|no time|give a manifest"):
        find_landings(story.store, words)
