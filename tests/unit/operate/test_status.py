"""Where tables are."""

from datetime import timedelta

import pytest

from lakekit.errors import UnknownSourceError
from lakekit.landing.index import remove_entry
from lakekit.landing.writer import load_manifest
from lakekit.operate.status import table_status
from lakekit.runs.next_run import back_off
from lakekit.runs.superseded import record_newest
from tests.unit.operate.kit import blocked_world
from tests.unit.runs.kit import NOON, contract, landed, world


def test_a_table_says_what_waits_who_holds_it_and_when_it_is_tried_again() -> None:
    story, _ = blocked_world()
    landed(story.store, {"id": 2}, hour=14)
    landed(story.store, {"id": 2}, hour=13)
    story.leases.acquire("orders", "busy")
    for run in ("one", "two"):
        back_off(story.store, "shop", "orders", run, NOON)

    [found] = table_status(story.flow)

    assert (found.source, found.table, found.pending, found.blocked) == ("shop", "orders", 2, 1)
    assert found.oldest_pending == NOON.replace(hour=13)
    assert found.held_by == "busy"
    assert (found.failures, found.next_try) == (2, NOON + timedelta(minutes=15))
    assert found.newest_complete is None


def test_a_table_at_which_nothing_waits_says_what_it_has() -> None:
    story = world()
    manifest = landed(story.store, {"id": 1})
    record_newest(story.store, contract(), [load_manifest(story.store, manifest)])
    remove_entry(story.store, manifest)

    [found] = table_status(story.flow, "shop")

    assert (found.pending, found.blocked, found.held_by) == (0, 0, None)
    assert found.newest_complete == NOON


def test_a_lease_whose_run_has_ended_holds_nothing() -> None:
    story, _ = blocked_world()
    story.leases.acquire("orders", "dead")
    story.executions.ended.add("dead")

    assert table_status(story.flow)[0].held_by is None


def test_a_source_of_which_nothing_has_landed_is_unknown() -> None:
    with pytest.raises(UnknownSourceError, match="sohp"):
        table_status(world().flow, "sohp")
    assert table_status(world().flow) == []
