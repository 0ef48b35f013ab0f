"""A run that tries a release: it has loaded something, or the release is not well."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from lakekit import layout
from lakekit.errors import InvalidStepInputError
from lakekit.operate.smoke import Smoke, smoke_run
from lakekit.ports import ExecutionDetails
from lakekit.runs.documents import Claim
from tests.unit.operate.kit import Log, execution
from tests.unit.runs.kit import NOON, begun, claimed, landed, world

NAME = f"smoke-{NOON:%Y%m%dT%H%M%S}"


class Runs:
    """Executions of which the one that is started runs as long as it is looked at twice."""

    def __init__(self, *, is_new: bool = True, ends: bool = True) -> None:
        self.is_new, self.ends = is_new, ends
        self.started: list[tuple[str, dict[str, Any]]] = []
        self.looks = 0

    def start(self, name: str, payload: dict[str, Any]) -> bool:
        self.started.append((name, payload))
        return self.is_new

    def is_running(self, name: str) -> bool:
        self.looks += 1
        return not (self.ends and self.looks > 2)


def smoke(status: str = "SUCCEEDED", runs: Runs | None = None, *, loads: bool = True) -> Smoke:
    story, runs = world(), runs or Runs()
    begun(story.store, run_id=NAME)
    if loads:
        claimed(story.store, landed(story.store, {"id": 1}), run_id=NAME)
    log = Log(
        execution(NAME, status), **{NAME: ExecutionDetails({"source": "shop"}, "OddError", "odd")}
    )
    now = [NOON]

    def pause() -> None:
        now[0] += timedelta(seconds=10)

    flow = replace(story.flow, executions=runs, clock=lambda: now[0])
    return smoke_run(flow, log, "shop", until=NOON + timedelta(minutes=1), pause=pause)


def test_a_run_that_has_loaded_its_tables_has_no_fault() -> None:
    runs = Runs()

    found = smoke(runs=runs)

    assert (found.fault, found.run.tables) == (None, {"orders": 1})
    assert runs.started == [(NAME, {"source": "shop", "origin": "person"})]
    assert runs.looks == 3


@pytest.mark.parametrize(
    ("status", "fault"),
    [("FAILED", "it has failed"), ("ABORTED", "it has stopped"), ("TIMED_OUT", "it has timed out")],
)
def test_a_run_that_fails_is_a_fault_with_its_error(status: str, fault: str) -> None:
    found = smoke(status)

    assert found.fault == fault
    assert found.run.error == ("OddError" if status == "FAILED" else None)


def test_a_run_that_loads_nothing_shows_nothing() -> None:
    assert "it has loaded no table" in (smoke(loads=False).fault or "")


def test_a_run_whose_tables_others_hold_shows_nothing() -> None:
    story = world()
    begun(story.store, run_id=NAME)
    claim = Claim(run_id=NAME, leased_at=NOON, tables=(), deferred=("orders",))
    story.store.put(layout.claim_key(NAME), claim.to_json())
    flow = replace(story.flow, executions=Runs(), clock=lambda: NOON)

    found = smoke_run(flow, Log(execution(NAME)), "shop", until=NOON, pause=lambda: None)

    assert "another run holds the tables" in (found.fault or "")


def test_it_waits_no_longer_than_it_may() -> None:
    found = smoke("RUNNING", Runs(ends=False))

    assert "it still runs" in (found.fault or "")


def test_a_second_smoke_run_in_one_second_is_refused() -> None:
    with pytest.raises(InvalidStepInputError, match="is there already; try again"):
        smoke(runs=Runs(is_new=False))
