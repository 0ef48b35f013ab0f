"""Recent runs: from what the service lists, never from a listing of all that ever were."""

from typing import Any

import pytest

from lakekit import layout
from lakekit.config.source import load_source
from lakekit.operate.runs import recent_runs
from lakekit.ports import ExecutionDetails
from lakekit.runs.documents import Claim
from tests.fakes import MemoryObjectStore
from tests.unit.operate.kit import Log, execution
from tests.unit.runs.kit import NOON, begun, claimed, landed

OTHER = load_source("source: other\nbase_url: https://other.example")


def read(store: MemoryObjectStore, log: Log, **options: Any) -> list[Any]:
    return recent_runs(store, log, NOON, **{"limit": 10} | options)


@pytest.mark.parametrize(("status", "outcome", "seconds"), [
    ("RUNNING", "running", 0), ("SUCCEEDED", "done", 90), ("TIMED_OUT", "timed out", 90),
    ("ABORTED", "stopped", 90),
])  # fmt: skip
def test_a_run_has_outcome_duration_and_tables(status: str, outcome: str, seconds: float) -> None:
    store = MemoryObjectStore()
    begun(store)
    claimed(store, landed(store, {"id": 1}))

    [found] = read(store, Log(execution("r", status)))

    assert (found.source, found.outcome, found.seconds) == ("shop", outcome, seconds)
    assert found.tables == {"orders": 1}


def test_a_run_that_left_all_to_others_is_deferred() -> None:
    store = MemoryObjectStore()
    begun(store)
    claim = Claim(run_id="r", leased_at=NOON, tables=(), deferred=("orders",))
    store.put(layout.claim_key("r"), claim.to_json())

    assert read(store, Log(execution("r")))[0].outcome == "deferred"


def test_a_failed_run_has_its_error_also_if_it_never_began() -> None:
    details = ExecutionDetails({"source": "shop"}, "UnknownSourceError", "no such source")

    [found] = read(MemoryObjectStore(), Log(execution("r", "FAILED"), r=details))

    assert (found.source, found.error, found.cause) == ("shop", details.error, details.cause)
    assert found.tables == {}


def test_the_runs_of_a_source_are_looked_for_among_a_bounded_number() -> None:
    store = MemoryObjectStore()
    begun(store, run_id="mine")
    begun(store, run_id="its", source=OTHER)
    log = Log(*[execution("its")] * 120, execution("mine"), execution("mine"))

    found = read(store, log, source="shop", limit=1)

    assert [each.run_id for each in found] == ["mine"]
    assert log.asked == [1000]
    read(store, log, limit=3)
    assert log.asked == [1000, 3]
