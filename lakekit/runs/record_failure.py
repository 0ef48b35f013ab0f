"""RecordFailure: keep an error with its run, and give the run's tables back."""

from lakekit import layout
from lakekit.landing.index import PENDING, tables_with
from lakekit.ports import Flow, ObjectStore
from lakekit.runs.documents import FailureRecord, read_claim
from lakekit.runs.next_run import back_off, give_back, hand_over
from lakekit.steps.functions import RecordFailure, RecordFailureResult


def record_failure(step: RecordFailure, flow: Flow) -> RecordFailureResult:
    """Write the error. Unless only an endpoint failed, let the tables go, and start the next run.

    The landings of the run stay pending. Its tables are left alone for a while, so that a cause
    that stays does not start runs without end. The sweeper looks for what the run has left behind.
    """
    record = FailureRecord(
        run_id=step.run_id,
        source=step.source,
        endpoint=step.endpoint,
        error=step.failure.error,
        cause=step.failure.cause,
        recorded_at=flow.clock(),
    )
    key = keep(flow.store, record)
    if step.endpoint is None:
        _give_back(step, flow)
    return RecordFailureResult(key=key)


def _give_back(step: RecordFailure, flow: Flow) -> None:
    claim = read_claim(flow.store, step.run_id)
    if claim is None:
        # It may have taken leases before it could write its claim.
        give_back(flow, step.run_id, tables_with(flow.store, PENDING, step.source))
        return
    tables = [each.table for each in claim.tables]
    for table in tables:
        back_off(flow.store, step.source, table, step.run_id, flow.clock())
    hand_over(flow, step.run_id, step.source, tables)


def keep(store: ObjectStore, record: FailureRecord) -> str:
    """Write a failure and return its key; a later one of the same run replaces it."""
    key = layout.failure_key(record.run_id, record.endpoint)
    store.put(key, record.to_json())
    return key
