from typing import Any

import pytest

from lakekit import layout
from lakekit.contracts import Column
from lakekit.errors import SchemaMismatchError
from lakekit.landing import load_manifest
from lakekit.runs.documents import Superseded, SupersededLandings, read_document, read_plan
from lakekit.runs.plan_tables import plan_tables
from lakekit.steps import PlanTables, PlanTablesResult
from tests.fakes import MemoryObjectStore
from tests.unit.runs.kit import NOON, Catalog, begun, contract, landed, published, table


@pytest.fixture
def store() -> MemoryObjectStore:
    return MemoryObjectStore()


def plan(store: MemoryObjectStore, *manifests: str, **tables: Any) -> PlanTablesResult:
    step = PlanTables(run_id="r", source="shop", started_at=NOON, manifests=manifests)
    return plan_tables(step, store, Catalog(**tables))


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


def completed(store: MemoryObjectStore, key: str) -> str:
    store.put(layout.complete_key(layout.prefix_of(key)), b"")
    return key


def test_a_full_extract_that_is_older_than_a_merged_one_is_left_out_with_a_note(
    store: MemoryObjectStore,
) -> None:
    begun(store)
    late, newer = (landed(store, {"id": 1}, hour=hour, run_id=f"r{hour}") for hour in (8, 9))
    completed(store, newer)

    result = plan(store, late, orders=table())

    assert result == PlanTablesResult(create=False, merge=False, superseded={late: newer})
    note = read_document(store, "runs/r/results/plan_tables/orders.json", SupersededLandings)
    assert note.landings == (Superseded(manifest=late, by=newer),)


@pytest.mark.parametrize("extract", ["full", "incremental"])
def test_what_was_rejected_afterwards_supersedes_nothing(
    store: MemoryObjectStore, extract: str
) -> None:
    begun(store)
    good, bad = (
        landed(store, {"id": 1}, hour=hour, run_id=f"r{hour}", extract=extract) for hour in (8, 9)
    )
    store.put(layout.rejected_key(layout.prefix_of(completed(store, bad))), b"rolled back")

    assert plan(store, good, orders=table()).superseded == {}
    assert read_plan(store, "r").tables[0].batches[0].merged_until is None


def test_a_newer_one_that_main_shows_and_no_marker_yet_counts_as_merged(
    store: MemoryObjectStore,
) -> None:
    begun(store)
    late, newer = (landed(store, {"id": 1}, hour=hour, run_id=f"r{hour}") for hour in (8, 9))

    result = plan(store, late, newer, orders=table(published(2, "r9")))

    assert result.superseded == {late: newer}
    assert [batch.run_id for batch in read_plan(store, "r").tables[0].batches] == ["r9"]


def test_an_older_one_that_main_shows_is_planned_so_that_its_evidence_is_found(
    store: MemoryObjectStore,
) -> None:
    begun(store)
    old, newer = (landed(store, {"id": 1}, hour=hour, run_id=f"r{hour}") for hour in (8, 9))
    completed(store, newer)

    assert plan(store, old, orders=table(published(2, "r8"))).superseded == {}


@pytest.mark.parametrize(
    ("extract", "history"),
    [
        ("incremental", {}),
        ("changes", {}),
        ("full", {"sequence_by": "at"}),
        ("full", {"mode": "append"}),
    ],
)
def test_records_that_stand_nowhere_else_or_carry_their_time_are_never_left_out(
    store: MemoryObjectStore, extract: str, history: dict[str, Any]
) -> None:
    plain = contract(columns=(*contract().columns, Column(name="at", type="timestamp")))
    begun(store, plain.model_copy(update={"history": plain.history.model_copy(update=history)}))
    late = landed(store, {"id": 1}, hour=8, run_id="r8", extract=extract)
    completed(store, landed(store, {"id": 1}, hour=9, run_id="r9", extract=extract))

    assert plan(store, late).superseded == {}
    assert read_plan(store, "r").tables[0].batches[0].run_id == "r8"


def test_only_a_full_extract_supersedes_one(store: MemoryObjectStore) -> None:
    begun(store)
    late = landed(store, {"id": 1}, hour=8, run_id="r8")
    completed(store, landed(store, {"id": 1}, hour=9, run_id="r9", extract="incremental"))

    assert plan(store, late).superseded == {}


@pytest.mark.parametrize("history", [{}, {"mode": "scd1"}])
@pytest.mark.parametrize("extract", ["incremental", "changes"])
def test_a_batch_knows_of_a_younger_landing_that_may_have_changed_nothing(
    store: MemoryObjectStore, extract: str, history: dict[str, Any]
) -> None:
    plain = contract()
    options = plain.history.model_copy(update=history)
    begun(store, plain.model_copy(update={"history": options}))
    late = landed(store, {"id": 1}, hour=8, run_id="r8", extract=extract)
    completed(store, landed(store, {"id": 1}, hour=9, run_id="r9", extract=extract))
    completed(store, landed(store, hour=10, run_id="r10", extract=extract))
    newest = landed(store, {"id": 1}, hour=11, run_id="r11", extract=extract)

    plan(store, late, newest)

    batches = read_plan(store, "r").tables[0].batches
    assert [batch.merged_until for batch in batches] == [NOON.replace(hour=9), None]


@pytest.mark.parametrize("history", [{"sequence_by": "at"}, {"mode": "append"}])
def test_where_nothing_comes_too_late_no_younger_landing_is_looked_for(
    store: MemoryObjectStore, history: dict[str, Any]
) -> None:
    plain = contract(columns=(*contract().columns, Column(name="at", type="timestamp")))
    begun(store, plain.model_copy(update={"history": plain.history.model_copy(update=history)}))
    late = landed(store, {"id": 1}, hour=8, run_id="r8", extract="incremental")
    completed(store, landed(store, {"id": 1}, hour=9, run_id="r9", extract="incremental"))

    plan(store, late)

    assert read_plan(store, "r").tables[0].batches[0].merged_until is None


def test_an_empty_full_extract_counts_where_absence_is_marked(store: MemoryObjectStore) -> None:
    plain = contract()
    marks = plain.history.model_copy(update={"deletes": "mark"})
    begun(store, plain.model_copy(update={"history": marks}))

    assert plan(store, landed(store)).merge
