"""RecordFailure: keep an error with its run, and give the run's tables back."""

from datetime import datetime

from lakekit import layout
from lakekit.errors import LandingCorruptError
from lakekit.ports import Clock, ObjectStore, TableLeases
from lakekit.runs.documents import FailureRecord, Run, read_run, to_json
from lakekit.steps.functions import RecordFailure, RecordFailureResult


def record_failure(
    step: RecordFailure, store: ObjectStore, leases: TableLeases, clock: Clock
) -> RecordFailureResult:
    """Write the error; unless only an endpoint failed, release what the run holds."""
    record = FailureRecord(
        run_id=step.run_id,
        source=step.source,
        endpoint=step.endpoint,
        error=step.failure.error,
        cause=step.failure.cause,
        recorded_at=clock(),
    )
    key = keep(store, record)
    if step.endpoint is None:
        release_tables(step.run_id, store, leases)
    return RecordFailureResult(key=key)


def keep(store: ObjectStore, record: FailureRecord) -> str:
    """Write a failure and return its key; a later one of the same run replaces it."""
    key = layout.failure_key(record.run_id, record.endpoint)
    store.put(key, to_json(record))
    return key


def rejection(run: Run, endpoint: str, error: Exception, at: datetime) -> FailureRecord:
    """Return the failure of one endpoint's landing."""
    return FailureRecord(
        run_id=run.run_id,
        source=run.source.source,
        endpoint=endpoint,
        error=type(error).__name__,
        cause=str(error),
        recorded_at=at,
    )


def release_tables(run_id: str, store: ObjectStore, leases: TableLeases) -> None:
    """Give back the leases of a run; one that never wrote its document holds none for long."""
    try:
        run = read_run(store, run_id)
    except LandingCorruptError:
        return
    for contract in run.contracts:
        leases.release(contract.contract, run_id)
