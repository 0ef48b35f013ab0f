"""What a run leaves to the next."""

from lakekit import layout
from lakekit.runs.next_run import next_name
from lakekit.runs.start_pending import start_pending
from lakekit.steps.functions import StartPending
from tests.unit.runs.kit import World, landed, world

REQUEST = {"source": "shop", "extract": False, "origin": "next"}


def after_maintenance(found: World) -> bool:
    return start_pending(StartPending(run_id="m", source="shop"), found.flow).started


def test_after_maintenance_a_run_is_started_for_what_waited() -> None:
    found = world()
    landed(found.store, {"id": 1})

    assert after_maintenance(found)
    assert found.executions.started == {next_name("m"): REQUEST}
    assert not after_maintenance(found)


def test_after_maintenance_nothing_is_started_where_nothing_waits() -> None:
    assert not after_maintenance(world())


def test_a_table_that_maintenance_held_when_it_was_killed_is_free_again() -> None:
    found = world()
    landed(found.store, {"id": 1})
    found.leases.acquire("orders", layout.maintenance_owner("m"))

    assert after_maintenance(found)
    assert found.leases.holder("orders") is None


def test_the_name_of_the_next_run_is_one_that_step_functions_takes() -> None:
    assert len(next_name("x" * 128)) <= 80
