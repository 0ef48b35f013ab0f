from datetime import timedelta
from typing import Any

import pytest

from lakekit.aws.lease import Leases
from lakekit.errors import TableBusyError
from tests.fakes import ManualClock, MemoryObjectStore

HOUR = timedelta(hours=1)


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def leases(clock: ManualClock) -> Leases:
    return Leases(MemoryObjectStore(), clock, lifetime=timedelta(minutes=10))


def test_keeps_a_second_owner_out_until_the_lease_expires(
    leases: Leases, clock: ManualClock
) -> None:
    leases.acquire("t", "a")
    with pytest.raises(TableBusyError, match="held by a"):
        leases.acquire("t", "b")

    clock.advance(600)

    assert leases.acquire("t", "b").epoch == 2


def test_prolongs_the_lease_of_its_owner_in_the_same_epoch(
    leases: Leases, clock: ManualClock
) -> None:
    first = leases.acquire("t", "a")
    clock.advance(60)

    second = leases.acquire("t", "a")

    assert second.epoch == first.epoch
    assert second.expires_at > first.expires_at


def test_lets_the_next_owner_in_after_a_release(leases: Leases) -> None:
    leases.acquire("t", "a")
    leases.release("t", "a")

    assert leases.acquire("t", "b").epoch == 2


def test_leaves_a_lease_alone_that_changed_hands(leases: Leases, clock: ManualClock) -> None:
    leases.acquire("t", "a")
    clock.advance(601)
    leases.acquire("t", "b")

    leases.release("t", "a")

    with pytest.raises(TableBusyError, match="held by b"):
        leases.acquire("t", "c")


def test_takes_over_the_lease_of_an_owner_that_is_no_longer_at_work(clock: ManualClock) -> None:
    store = MemoryObjectStore()
    lifetime = timedelta(minutes=10)
    Leases(store, clock, lifetime=lifetime).acquire("t", "dead")
    leases = Leases(store, clock, lifetime=lifetime, is_running=lambda owner: owner != "dead")

    assert leases.acquire("t", "b").epoch == 2
    with pytest.raises(TableBusyError, match="held by b"):
        leases.acquire("t", "c")


def test_holds_tables_apart(leases: Leases) -> None:
    assert leases.acquire("t", "a").epoch == leases.acquire("u", "b").epoch == 1


def test_loses_against_an_owner_that_was_faster(clock: ManualClock) -> None:
    class RacingStore(MemoryObjectStore):
        def head(self, key: str) -> None:  # what a slow reader saw
            return None

    store = RacingStore()
    other = MemoryObjectStore()
    Leases(other, clock, lifetime=timedelta(minutes=1)).acquire("t", "fast")
    store.objects = other.objects

    with pytest.raises(TableBusyError):
        Leases(store, clock, lifetime=timedelta(minutes=1)).acquire("t", "slow")


def test_two_attempts_of_one_owner_do_not_keep_each_other_out(clock: ManualClock) -> None:
    class OvertakenStore(MemoryObjectStore):
        def put(self, key: str, body: bytes, **condition: Any) -> str:
            if not self.objects:
                clock.advance(1)
                other = MemoryObjectStore()
                Leases(other, clock, lifetime=HOUR).acquire("t", "a")
                self.objects = other.objects
            return super().put(key, body, **condition)

    leases = Leases(OvertakenStore(), clock, lifetime=HOUR)

    assert leases.acquire("t", "a").epoch == 1
    assert leases.holder("t") == "a"


def test_who_was_faster_and_has_ended_keeps_nobody_out(clock: ManualClock) -> None:
    class OvertakenStore(MemoryObjectStore):
        def put(self, key: str, body: bytes, **condition: Any) -> str:
            if not self.objects:
                other = MemoryObjectStore()
                Leases(other, clock, lifetime=HOUR).acquire("t", "dead")
                self.objects = other.objects
            return super().put(key, body, **condition)

    alive = "dead".__ne__
    leases = Leases(OvertakenStore(), clock, lifetime=HOUR, is_running=alive)

    assert leases.acquire("t", "b").epoch == 2
