from random import Random

import pytest

from lakekit import layout
from lakekit.config.source import CallBudget
from lakekit.errors import CallBudgetExceededError
from lakekit.extract.call_budget import RunBudget
from tests.fakes import MemoryObjectStore


def budget(store: MemoryObjectStore, most: int) -> RunBudget:
    return RunBudget(store, "r", CallBudget(max_requests_per_run=most))


def spend(found: RunBudget) -> int:
    count = 0
    try:
        while True:
            found.count_request()
            count += 1
    except CallBudgetExceededError:
        return count


@pytest.mark.parametrize("most", [1, 2, 19, 20, 21, 1000, 12345])
def test_a_run_sends_as_many_requests_as_it_may_and_no_more(most: int) -> None:
    assert spend(budget(MemoryObjectStore(), most)) == most


@pytest.mark.parametrize("seed", range(20))
def test_calls_that_run_side_by_side_come_and_die_never_send_more(seed: int) -> None:
    random, store, most = Random(seed), MemoryObjectStore(), 300
    calls, sent = [budget(store, most) for _ in range(4)], 0
    while True:
        number = random.randrange(4)
        try:
            calls[number].count_request()
        except CallBudgetExceededError:
            break
        sent += 1
        if random.random() < 0.02:
            if random.random() < 0.5:
                calls[number].give_back()  # its call ends; without this it was killed
            calls[number] = budget(store, most)

    assert 200 < sent <= most


def test_few_requests_are_lost_to_others_near_the_end() -> None:
    store = MemoryObjectStore()
    first, *others = [budget(store, 1000) for _ in range(4)]
    for each in others:
        each.count_request()
        each.give_back()

    assert spend(first) == 997


def test_blocks_keep_the_counter_from_being_written_for_each_request() -> None:
    class Counting(MemoryObjectStore):
        puts = 0

        def put(self, key: str, body: bytes, **condition: object) -> str:
            self.puts += 1
            return super().put(key, body, **condition)  # type: ignore[arg-type]

    store = Counting()

    spend(budget(store, 10_000))

    assert store.puts < 250


def test_a_lost_race_is_run_again() -> None:
    store = MemoryObjectStore()
    other = budget(store, 10)
    get, races = store.get, []

    def overtaken(key: str) -> bytes:
        body = get(key)
        if not races:
            races.append(key)
            other.count_request()
        return body

    budget(store, 10).count_request()
    store.get = overtaken  # type: ignore[method-assign]
    budget(store, 10).count_request()

    assert races == [layout.calls_key("r")]
    assert b'"taken": 3' in get(races[0])
