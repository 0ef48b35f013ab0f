from typing import Any

from lakekit.runs.documents import FailureRecord, read_document
from lakekit.runs.record_failure import record_failure
from lakekit.steps.functions import RecordFailure
from tests.fakes import ManualClock, MemoryObjectStore
from tests.unit.runs.kit import Leases, begun


def record(store: MemoryObjectStore, leases: Leases, **fields: Any) -> str:
    event = {"run_id": "r", "source": "shop", "failure": {"Error": "X", "Cause": "y"}} | fields
    return record_failure(RecordFailure.from_event(event), store, leases, ManualClock()).key


def test_keeps_the_error_and_gives_the_tables_back() -> None:
    store, leases = MemoryObjectStore(), Leases(orders="r", others="q")
    begun(store)

    key = record(store, leases)

    found = read_document(store, key, FailureRecord)
    assert key == "runs/r/failure.json"
    assert (found.error, found.cause, found.recorded_at) == ("X", "y", ManualClock().now)
    assert leases.held == {"others": "q"}


def test_an_endpoint_that_failed_does_not_end_the_run() -> None:
    store, leases = MemoryObjectStore(), Leases(orders="r")
    begun(store)

    assert record(store, leases, endpoint="orders") == "runs/r/failure-orders.json"
    assert leases.held == {"orders": "r"}


def test_a_run_that_never_began_can_fail_too() -> None:
    store, leases = MemoryObjectStore(), Leases(orders="r")

    record(store, leases)

    assert list(store.objects) == ["runs/r/failure.json"]


def test_the_last_failure_of_a_run_is_kept() -> None:
    store = MemoryObjectStore()
    record(store, Leases())

    key = record(store, Leases(), failure={"Error": "Z"})

    assert read_document(store, key, FailureRecord).error == "Z"
