"""The index of landings that wait."""

from datetime import UTC, datetime
from typing import Any

import pytest

from lakekit.landing.index import (
    BLOCKED,
    PENDING,
    Blocked,
    add_pending,
    block,
    blocked,
    oldest,
    remove_entry,
    tables_with,
    unblock,
)
from tests.fakes import MemoryObjectStore

WHY = Blocked(run_id="r", error="X", cause="y", blocked_at=datetime(2026, 1, 1, tzinfo=UTC))


def manifest(table: str, day: int) -> str:
    return f"raw/shop/{table}/202601{day:02}_000000/manifest.json"


def test_yields_the_oldest_landings_of_a_table() -> None:
    store = MemoryObjectStore()
    for day in (3, 1, 2):
        add_pending(store, manifest("orders", day))

    found = list(oldest(store, PENDING, "shop", "orders", limit=2))

    assert found == [manifest("orders", day) for day in (1, 2)]


def test_names_the_tables_that_have_something_pending() -> None:
    store = MemoryObjectStore()
    for table in ("orders", "clients", "orders_old"):
        add_pending(store, manifest(table, 1))
    remove_entry(store, manifest("clients", 1))

    assert tables_with(store, PENDING, "shop") == ["orders", "orders_old"]
    assert tables_with(store, PENDING, "sho") == []


def test_a_landing_is_pending_or_blocked_but_never_in_neither_folder() -> None:
    class Watched(MemoryObjectStore):
        def delete(self, key: str, *, if_match: str | None = None) -> None:
            super().delete(key, if_match=if_match)
            assert self.objects

    store, key = Watched(), manifest("orders", 1)
    add_pending(store, key)

    block(store, key, WHY)
    assert (list(oldest(store, PENDING, "shop", "orders")), blocked(store, key)) == ([], WHY)

    unblock(store, key)
    assert list(oldest(store, PENDING, "shop", "orders")) == [key]
    assert list(oldest(store, BLOCKED, "shop", "orders")) == []


def test_what_was_never_blocked_has_no_reason() -> None:
    assert blocked(MemoryObjectStore(), manifest("orders", 1)) is None


class Overtaken(MemoryObjectStore):
    """A store in which a run blocks a landing again right before a command goes on."""

    def __init__(self, before: str) -> None:
        super().__init__()
        self.before = before

    def overtake(self, call: str) -> None:
        if call == self.before:
            self.before = ""
            again = WHY.model_copy(update={"run_id": "s"})
            block(self, manifest("orders", 1), again)

    def put(self, key: str, body: bytes, **conditions: Any) -> str:
        etag = super().put(key, body, **conditions)
        if "/pending/" in key:
            self.overtake("look")
        return etag

    def delete(self, key: str, *, if_match: str | None = None) -> None:
        if "/blocked/" in key:
            self.overtake("delete")
        super().delete(key, if_match=if_match)


@pytest.mark.parametrize("before", ["look", "delete"])
def test_a_landing_that_a_run_blocks_again_meanwhile_stays_blocked(before: str) -> None:
    store, key = Overtaken(""), manifest("orders", 1)
    block(store, key, WHY)
    store.before = before

    unblock(store, key)

    assert list(oldest(store, BLOCKED, "shop", "orders")) == [key]
    assert len(store.objects) == 1
