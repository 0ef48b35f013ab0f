"""How far a run is, and what came of it, from its documents."""

from typing import Any

import pytest

from lakekit import layout
from lakekit.batch import MergeResult
from lakekit.config.workers import Jobs
from lakekit.documents import Document
from lakekit.landing.census import Verdict
from lakekit.landing.index import Blocked, block
from lakekit.landing.writer import Part, Progress
from lakekit.operate.run_report import report_maintenance, report_run
from lakekit.runs.documents import FailureRecord, LandingVerdict, Verdicts
from lakekit.runs.plan_tables import plan_tables
from lakekit.steps.functions import PlanTables
from lakekit.steps.jobs import CreateTablesResult, MaintainTablesResult, MergeScd2Result
from tests.fakes import MemoryObjectStore
from tests.unit.runs.kit import NOON, Catalog, begun, claimed, contract, landed

PREFIX = layout.raw_prefix("shop", "orders", NOON)
SECOND = layout.manifest_key(PREFIX)
PART = Part(
    key=f"{PREFIX}part-00000.ndjson.gz", rows=40, bytes=9, sha256="a" * 64, uncompressed_bytes=9
)


@pytest.fixture
def store() -> MemoryObjectStore:
    return MemoryObjectStore()


def put(store: MemoryObjectStore, step: str, table: str, document: Document) -> None:
    store.put(layout.result_key("r", step, table), document.to_json())


def claim_and_plan(store: MemoryObjectStore, *manifests: str) -> None:
    claimed(store, *manifests)
    plan_tables(PlanTables(run_id="r", source="shop"), store, Catalog(), Jobs())


def merge(run_id: str = "r", **counts: Any) -> MergeResult:
    return MergeResult(table="lake.db.orders", run_id=run_id, **counts)


def test_a_run_that_has_not_begun_has_nothing(store: MemoryObjectStore) -> None:
    report = report_run(store, "r")

    assert (report.source, report.endpoints, report.tables) == (None, (), ())


def test_an_extraction_at_work_has_pages_rows_and_what_there_is(store: MemoryObjectStore) -> None:
    begun(store)
    progress = Progress(run_id="r", parts=(PART, PART), pages=4, resume={"total": 10})
    store.put(layout.progress_key(PREFIX, "r"), progress.to_json())

    [endpoint] = report_run(store, "r").endpoints

    assert (endpoint.pages, endpoint.rows, endpoint.done) == (4, 80, False)
    assert (endpoint.most_pages, endpoint.most_rows) == (10, None)


def test_an_extraction_that_has_ended_has_its_landing(store: MemoryObjectStore) -> None:
    begun(store)
    landed(store, {"id": 1}, {"id": 2})

    [endpoint] = report_run(store, "r").endpoints

    assert (endpoint.pages, endpoint.rows, endpoint.done) == (1, 2, True)


def test_an_extraction_that_failed_says_why(store: MemoryObjectStore) -> None:
    begun(store)
    record = FailureRecord(run_id="r", source="shop", endpoint="orders",
                           error="SourceRejectedError", cause="403", recorded_at=NOON)  # fmt: skip
    store.put(layout.failure_key("r", "orders"), record.to_json())

    [endpoint] = report_run(store, "r").endpoints

    assert endpoint.failed is not None
    assert (endpoint.failed.error, endpoint.failed.cause) == ("SourceRejectedError", "403")


def test_a_merge_at_work_has_what_is_left(store: MemoryObjectStore) -> None:
    begun(store)
    first = landed(store, {"id": 1}, hour=11, run_id="r0")
    claim_and_plan(store, first, landed(store, {"id": 1}, {"id": 2}))
    for share, (manifest, rows) in enumerate(zip((first, SECOND), (1, 2), strict=True)):
        held = Verdict(run_id="r", source="shop", endpoint="orders", rows=rows, unparseable=0,
                       missing_keys=0, unknown_fields=(), absent_fields=())  # fmt: skip
        verdict = LandingVerdict(manifest=manifest, verdict=held)
        document = Verdicts(share=share, landings=(verdict,))
        store.put(layout.verdicts_key("r", share), document.to_json())
    put(store, "merge_scd2", "orders", MergeScd2Result(table="orders", merges=(merge("r0"),)))

    [table] = report_run(store, "r").tables

    assert (table.landings - table.merged, table.rows, table.done) == (1, 3, False)


def test_a_table_that_is_merged_has_the_sum_of_its_merges_and_what_it_cost(
    store: MemoryObjectStore,
) -> None:
    begun(store)
    claim_and_plan(store, landed(store, {"id": 1}))
    merges = (merge("r0", opened=2, quarantined=1), merge("r", opened=3, snapshot_id=7))
    result = MergeScd2Result(table="orders", merges=merges, seconds=9, dpu_seconds=18, cost_usd=0.1)
    put(store, "merge_scd2", "orders", result)
    put(store, "create_tables", "orders", CreateTablesResult(table="orders", created=True))

    [table] = report_run(store, "r").tables

    assert (table.opened, table.quarantined, table.snapshot_id) == (5, 1, 7)
    assert (table.seconds, table.dpu_seconds, table.cost_usd) == (9, 18, 0.1)
    assert (table.created, table.done, table.failed) == (True, True, None)


def test_a_landing_that_the_run_has_blocked_is_named(store: MemoryObjectStore) -> None:
    begun(store)
    manifest = landed(store, {"id": 1})
    claim_and_plan(store, manifest)
    why = Blocked(run_id="r", error="TooManyDeletedError", cause="7 of 9", blocked_at=NOON)
    block(store, manifest, why)

    [table] = report_run(store, "r").tables

    assert table.failed is not None
    assert (table.failed.error, table.failed.landing) == ("TooManyDeletedError", manifest)


def test_each_table_has_its_own_failure(store: MemoryObjectStore) -> None:
    begun(store, contract("orders"), contract("clients"))
    claim_and_plan(store, landed(store, {"id": 1}), landed(store, {"id": 1}, endpoint="clients"))
    record = FailureRecord(run_id="r", source="shop", table="clients", error="CommitConflictError",
                           cause="others wrote", recorded_at=NOON)  # fmt: skip
    store.put(layout.job_failure_key("r", "merge_scd2", "clients"), record.to_json())

    failed = {
        each.table: each.failed and each.failed.error for each in report_run(store, "r").tables
    }

    assert failed == {"orders": None, "clients": "CommitConflictError"}


def test_maintenance_is_what_it_did_to_each_table(store: MemoryObjectStore) -> None:
    put(store, "maintain_tables", "orders", MaintainTablesResult(table="orders", busy="run r2"))
    store.put(layout.job_failure_key("r", "maintain_tables", "clients"), b"{}")

    assert [each.busy for each in report_maintenance(store, "r")] == ["run r2"]
