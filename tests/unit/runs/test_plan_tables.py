"""The plan of a run: its tables and their batches."""

from typing import Any

import pytest

from lakekit.contract.contract import Column
from lakekit.errors import SchemaMismatchError
from lakekit.landing.writer import load_manifest
from lakekit.runs.documents import read_plan
from lakekit.runs.plan_tables import plan_tables
from lakekit.steps.functions import PlanTables, PlanTablesResult
from tests.fakes import MemoryObjectStore
from tests.unit.runs.kit import NOON, Catalog, begun, contract, landed, plan, table


def test_a_table_that_is_absent_is_to_be_created_and_merged(store: MemoryObjectStore) -> None:
    begun(store)

    assert plan(store, landed(store, {"id": 1})) == PlanTablesResult(create=True, merge=True)
    assert read_plan(store, "r").tables[0].create


def test_a_table_that_is_as_its_contract_says_is_only_merged(store: MemoryObjectStore) -> None:
    begun(store)

    result = plan(store, landed(store, {"id": 1}), orders=table())

    assert result == PlanTablesResult(create=False, merge=True)


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


def test_a_table_that_cannot_become_its_contract_ends_the_run_early(
    store: MemoryObjectStore,
) -> None:
    begun(store, contract(columns=(Column(name="id", type="bigint"),
                                   Column(name="price", type="date"))))  # fmt: skip

    with pytest.raises(SchemaMismatchError, match="price: double cannot become date"):
        plan(store, landed(store, {"id": 1}), orders=table())


def test_nothing_landed_means_nothing_to_do(store: MemoryObjectStore) -> None:
    begun(store)

    assert plan(store) == PlanTablesResult(create=False, merge=False)
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
    plan_tables(
        PlanTables(run_id="next", source="shop", started_at=NOON, manifests=(key,)),
        store,
        Catalog(),
    )

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
