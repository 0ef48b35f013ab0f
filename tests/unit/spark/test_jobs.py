"""The jobs keep the results of their other work when a part of it fails."""

from contextlib import nullcontext
from typing import Any

import pytest

from lakekit import layout
from lakekit.batch import Batch, MergeResult
from lakekit.errors import LateExtractError
from lakekit.runs.documents import Plan, TablePlan, read_document, write_once
from lakekit.spark import jobs
from lakekit.steps.jobs import MergeScd2, MergeScd2Result
from tests.fakes import MemoryObjectStore
from tests.unit.runs.kit import NOON, contract

ARGUMENTS = MergeScd2(
    run_id="r", source="shop", landing_bucket="b", database="d", warehouse="s3://w"
)
RESULT = layout.result_key("r", "merge_scd2", "orders")


class Session:
    """Stands in for Spark: a job itself needs only sessions of it."""

    def newSession(self) -> "Session":
        return self


def merge(store: MemoryObjectStore, monkeypatch: pytest.MonkeyPatch, fails: str = "") -> None:
    """Run the job with three batches, one of which may fail; the table wants maintenance."""
    batches = tuple(
        Batch(run_id=name, extract="full", extraction_time=NOON, files=()) for name in "abc"
    )
    plan = TablePlan(table="orders", contract=contract(), create=False, batches=batches)
    write_once(store, layout.plan_key("r"), Plan(run_id="r", tables=(plan,)))

    def merge_scd2(_: Any, __: Any, batch: Batch, table: str, *, staging: str) -> MergeResult:
        if batch.run_id == fails:
            raise LateExtractError("too late")
        return MergeResult(table=table, run_id=batch.run_id, snapshot_id=1, committed=True)

    monkeypatch.setattr(jobs, "merge_scd2", merge_scd2)
    monkeypatch.setattr(jobs, "wants_maintenance", lambda *_, now: now == NOON)
    session: Any = Session()
    error = pytest.raises(LateExtractError, match="1 of 1 tables failed")
    with error if fails else nullcontext():
        jobs.merge_tables(session, store, ARGUMENTS, clock=lambda: NOON)


def test_records_whether_the_table_wants_maintenance(monkeypatch: pytest.MonkeyPatch) -> None:
    store = MemoryObjectStore()

    merge(store, monkeypatch)

    assert read_document(store, RESULT, MergeScd2Result).maintain


def test_records_which_batches_are_merged_though_a_later_one_fails(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    store = MemoryObjectStore()

    merge(store, monkeypatch, "c")

    found = read_document(store, RESULT, MergeScd2Result)
    assert [each.run_id for each in found.merges] == ["a", "b"]


def test_records_nothing_of_a_table_whose_first_batch_fails(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    store = MemoryObjectStore()

    merge(store, monkeypatch, "a")

    assert store.head(RESULT) is None
