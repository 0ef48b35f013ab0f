"""The jobs keep the results of their other work when a part of it fails."""

from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from datetime import timedelta
from typing import Any

import pytest

from lakekit import layout
from lakekit.batch import Batch, MergeResult
from lakekit.config.workers import Workers
from lakekit.errors import LateExtractError
from lakekit.runs.documents import FailureRecord, Plan, TablePlan, read_document, write_once
from lakekit.spark import jobs
from lakekit.spark.run import Use
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


class KilledError(BaseException):
    """The process ends here."""


def merge(
    store: MemoryObjectStore,
    monkeypatch: pytest.MonkeyPatch,
    fails: str = "",
    error: BaseException | None = None,
    refused: Sequence[str] = (),
) -> None:
    """Run the job with three batches, one of which may fail; the table wants maintenance."""
    error = error or LateExtractError("too late")
    batches = tuple(
        Batch(run_id=name, extract="full", extraction_time=NOON, files=()) for name in "abc"
    )
    plan = TablePlan(table="orders", contract=contract(), create=False, batches=batches)
    write_once(store, layout.plan_key("r"), Plan(run_id="r", tables=(plan,)))

    def merge_landings(
        _: Any, __: Any, landings: Sequence[Batch], table: str, *, staging: str, use: Use
    ) -> Iterator[list[MergeResult]]:
        for batch in landings:
            assert batch.run_id not in refused
            if batch.run_id == fails:
                raise error
            yield [MergeResult(table=table, run_id=batch.run_id, snapshot_id=1, committed=True)]

    monkeypatch.setattr(jobs, "merge_landings", merge_landings)
    monkeypatch.setattr(jobs, "wants_maintenance", lambda *_, now: now == NOON)
    session: Any = Session()
    with pytest.raises(type(error)) if fails else nullcontext():
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
    failure = read_document(
        store, layout.job_failure_key("r", "merge_scd2", "orders"), FailureRecord
    )
    assert (failure.table, failure.error, failure.cause) == (
        "orders",
        "LateExtractError",
        "too late",
    )


def test_records_which_batches_are_merged_though_it_is_killed_in_a_later_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    store = MemoryObjectStore()

    merge(store, monkeypatch, "b", KilledError())

    found = read_document(store, RESULT, MergeScd2Result)
    assert [each.run_id for each in found.merges] == ["a"]


def test_a_job_that_is_started_once_more_goes_on_after_what_was_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    store = MemoryObjectStore()
    merge(store, monkeypatch, "c", KilledError())

    # What it has merged before would fail now: the table has newer records.
    merge(store, monkeypatch, refused=("a", "b"))

    found = read_document(store, RESULT, MergeScd2Result)
    assert [each.run_id for each in found.merges] == ["a", "b", "c"]


def test_records_nothing_of_a_table_whose_first_batch_fails(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    store = MemoryObjectStore()

    merge(store, monkeypatch, "a")

    assert store.head(RESULT) is None


def test_a_snapshot_names_the_share_that_its_table_has_used_so_far() -> None:
    workers = Workers(number=5, type="G.2X", execution_class="FLEX")
    later = NOON + timedelta(seconds=36)

    used = jobs._use(workers, 2, NOON, lambda: later)

    assert used == {"lakekit.dpu-seconds": "180.0", "lakekit.cost-usd": "0.014500"}
    assert jobs._use(None, 1, NOON, lambda: later) == {}
