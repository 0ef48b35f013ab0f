"""The plan of a run: its tables and their batches."""

from typing import Any

import pytest

from lakekit import layout
from lakekit.config.workers import Jobs, Workers
from lakekit.contract.contract import Column
from lakekit.landing.writer import load_manifest
from lakekit.runs.documents import LandingVerdict, Verdicts, read_plan
from lakekit.runs.plan_tables import plan_tables
from lakekit.steps.functions import PlanTables, PlanTablesResult
from tests.fakes import MemoryObjectStore
from tests.unit.runs.kit import Catalog, begun, claimed, contract, landed, plan, table

LEAST = Workers(number=2, type="G.1X", execution_class="STANDARD")


def test_a_table_that_is_absent_is_to_be_created_and_merged(store: MemoryObjectStore) -> None:
    begun(store)

    assert plan(store, landed(store, {"id": 1})) == PlanTablesResult(
        create=True, merge=True, workers=LEAST
    )
    assert read_plan(store, "r").tables[0].create


def test_a_table_that_is_as_its_contract_says_is_only_merged(store: MemoryObjectStore) -> None:
    begun(store)

    result = plan(store, landed(store, {"id": 1}), orders=table())

    assert result == PlanTablesResult(create=False, merge=True, workers=LEAST)


@pytest.mark.parametrize(
    "changes",
    [
        {"version": 2},
        {"columns": (*contract().columns, Column(name="colour", type="string"))},
    ],
)
def test_a_table_that_differs_from_its_contract_is_to_be_evolved(
    store: MemoryObjectStore, changes: dict[str, Any]
) -> None:
    begun(store, contract(**changes))

    assert plan(store, landed(store, {"id": 1}), orders=table()).create


def test_a_table_that_cannot_become_its_contract_is_named_and_stops_no_other(
    store: MemoryObjectStore,
) -> None:
    columns = (Column(name="id", type="bigint"), Column(name="price", type="date"))
    begun(store, contract(columns=columns), contract("clients"))
    keys = [landed(store, {"id": 1}, endpoint=name) for name in ("orders", "clients")]

    plan(store, *keys, orders=table())

    found = read_plan(store, "r")
    assert [each.table for each in found.tables] == ["clients"]
    assert "price: double cannot become date" in found.failed["orders"]


def test_what_was_refused_or_decided_is_not_merged(store: MemoryObjectStore) -> None:
    begun(store)
    keys = [landed(store, {"id": 1}, hour=hour, run_id=f"r{hour}") for hour in (7, 8, 9)]
    claim = claimed(store, *keys)
    for share, verdict in ((0, {"error": "X"}), (1, {"decided": True})):
        own = (LandingVerdict(manifest=claim.share(share)[0], **verdict),)
        store.put(layout.verdicts_key("r", share), Verdicts(share=share, landings=own).to_json())

    plan_tables(PlanTables(run_id="r", source="shop"), store, Catalog(), Jobs())

    assert [batch.run_id for batch in read_plan(store, "r").tables[0].batches] == ["r9"]


def test_the_runs_of_a_table_are_listed_in_the_order_of_their_leases(
    store: MemoryObjectStore,
) -> None:
    begun(store)
    claimed(store, landed(store, {"id": 1}), epoch=12)

    plan_tables(PlanTables(run_id="r", source="shop"), store, Catalog(), Jobs())

    assert store.head("tables/shop/orders/runs/0000000012-r")


def test_a_landing_that_a_person_has_approved_passes_the_guards(store: MemoryObjectStore) -> None:
    begun(store)
    first, second = (landed(store, {"id": 1}, hour=hour, run_id=f"r{hour}") for hour in (8, 9))
    store.put(layout.approved_key(layout.prefix_of(second)), b"{}")

    plan(store, first, second)

    batches = read_plan(store, "r").tables[0].batches
    assert [batch.approved for batch in batches] == [False, True]


def test_nothing_landed_means_nothing_to_do(store: MemoryObjectStore) -> None:
    begun(store)

    assert plan(store) == PlanTablesResult(create=False, merge=False, workers=LEAST)
    assert read_plan(store, "r").tables == ()


def test_batches_keep_the_order_of_the_landings(store: MemoryObjectStore) -> None:
    begun(store)
    keys = [landed(store, {"id": 1}, hour=hour, run_id=f"r{hour}") for hour in (8, 9)]

    plan(store, *keys)

    batches = read_plan(store, "r").tables[0].batches
    assert [batch.run_id for batch in batches] == ["r8", "r9"]
    assert [batch.extraction_time.hour for batch in batches] == [8, 9]


def test_a_batch_names_exactly_the_objects_of_its_manifest(store: MemoryObjectStore) -> None:
    begun(store)
    key = landed(store, {"id": 1})
    store.put("raw/shop/orders/20260101_120000/part-00001.ndjson.gz", b"stray")

    plan(store, key)

    parts = load_manifest(store, key).parts
    assert read_plan(store, "r").tables[0].batches[0].files == (f"memory://{parts[0].key}",)


def test_the_same_landing_has_the_same_batch_in_every_run(store: MemoryObjectStore) -> None:
    begun(store)
    key = landed(store, {"id": 1}, run_id="dead")
    plan(store, key)
    first = read_plan(store, "r").tables[0].batches

    begun(store, run_id="next")
    plan(store, key, run_id="next")

    assert read_plan(store, "next").tables[0].batches == first


@pytest.mark.parametrize(("extract", "merge"), [("full", True), ("incremental", False)])
def test_no_records_mean_something_only_for_a_full_extract(
    store: MemoryObjectStore, extract: str, merge: bool
) -> None:
    begun(store)

    assert plan(store, landed(store, extract=extract)).merge is merge


def test_an_empty_full_extract_counts_where_absence_is_marked(store: MemoryObjectStore) -> None:
    plain = contract()
    marks = plain.history.model_copy(update={"deletes": "mark"})
    begun(store, plain.model_copy(update={"history": marks}))

    assert plan(store, landed(store)).merge


def test_the_workers_follow_from_the_unpacked_bytes_of_all_tables(store: MemoryObjectStore) -> None:
    begun(store, contract("orders"), contract("clients"))
    for name in ("orders", "clients"):
        key = landed(store, {"id": 1}, endpoint=name)
        manifest = load_manifest(store, key)
        part = manifest.parts[0].model_copy(update={"bytes": 1, "uncompressed_bytes": 260_000_000})
        store.put(key, manifest.model_copy(update={"parts": (part,)}).to_json())
    keys = [each.key for each in store.list("raw/") if each.key.endswith("/manifest.json")]

    result = plan(store, *keys)

    assert result.workers == Workers(number=6, type="G.1X", execution_class="STANDARD")
    assert read_plan(store, "r").workers == result.workers
