"""Landings that come after a younger one of their endpoint was merged."""

from typing import Any

import pytest

from lakekit import layout
from lakekit.config.workers import Jobs
from lakekit.contract.contract import Column
from lakekit.landing.writer import load_manifest
from lakekit.runs.documents import (
    LandingVerdict,
    Superseded,
    SupersededLandings,
    read_document,
    read_plan,
    read_run,
)
from lakekit.runs.superseded import landings_to_merge, record_newest
from lakekit.steps.functions import PlanTablesResult
from tests.fakes import MemoryObjectStore
from tests.unit.runs.kit import NOON, begun, contract, landed, plan, published, table


def completed(store: MemoryObjectStore, key: str) -> str:
    """Let CompleteRun have finished a landing."""
    store.put(layout.complete_key(layout.prefix_of(key)), b"")
    record_newest(store, read_run(store, "r").contracts[0], [load_manifest(store, key)])
    return key


def test_a_full_extract_that_is_older_than_a_merged_one_is_left_out_with_a_note(
    store: MemoryObjectStore,
) -> None:
    begun(store)
    late, newer = (landed(store, {"id": 1}, hour=hour, run_id=f"r{hour}") for hour in (8, 9))
    completed(store, newer)

    result = plan(store, late, orders=table())

    assert result == PlanTablesResult(
        create=False, merge=False, superseded=1, workers=Jobs().workers(0)
    )
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

    assert plan(store, good, orders=table()).superseded == 0
    assert read_plan(store, "r").tables[0].batches[0].merged_until is None


@pytest.mark.parametrize(
    ("extract", "taken"), [("full", ["a", "b", "c"]), ("incremental", ["a", "b"])]
)
def test_what_is_as_old_as_its_extract_waits_behind_one_that_is_refused(
    extract: str, taken: list[str]
) -> None:
    plain = contract()
    own = plain.model_copy(
        update={"endpoint": plain.endpoint.model_copy(update={"extract": extract})}
    )
    verdicts = [
        LandingVerdict(manifest="a"),
        LandingVerdict(manifest="done", decided=True),
        LandingVerdict(manifest="b"),
        LandingVerdict(manifest="refused", error="TooManyRejectedError"),
        LandingVerdict(manifest="c"),
    ]

    assert landings_to_merge(own, verdicts) == taken


def test_a_newer_one_that_main_shows_and_no_marker_yet_counts_as_merged(
    store: MemoryObjectStore,
) -> None:
    begun(store)
    late, newer = (landed(store, {"id": 1}, hour=hour, run_id=f"r{hour}") for hour in (8, 9))

    result = plan(store, late, newer, orders=table(published(2, "r9")))

    assert result.superseded == 1
    assert [batch.run_id for batch in read_plan(store, "r").tables[0].batches] == ["r9"]


def test_an_older_one_that_main_shows_is_planned_so_that_it_is_found_published(
    store: MemoryObjectStore,
) -> None:
    begun(store)
    old, newer = (landed(store, {"id": 1}, hour=hour, run_id=f"r{hour}") for hour in (8, 9))
    completed(store, newer)

    assert plan(store, old, orders=table(published(2, "r8"))).superseded == 0


@pytest.mark.parametrize(
    ("extract", "history"),
    [
        ("incremental", {}),
        ("changes", {}),
        ("full", {"sequence_by": "at"}),
        ("full", {"mode": "append"}),
    ],
)
def test_records_that_are_nowhere_else_or_carry_their_time_are_never_left_out(
    store: MemoryObjectStore, extract: str, history: dict[str, Any]
) -> None:
    plain = contract(columns=(*contract().columns, Column(name="at", type="timestamp")))
    begun(store, plain.model_copy(update={"history": plain.history.model_copy(update=history)}))
    late = landed(store, {"id": 1}, hour=8, run_id="r8", extract=extract)
    completed(store, landed(store, {"id": 1}, hour=9, run_id="r9", extract=extract))

    assert plan(store, late).superseded == 0
    assert read_plan(store, "r").tables[0].batches[0].run_id == "r8"


def test_only_a_full_extract_supersedes_one(store: MemoryObjectStore) -> None:
    begun(store)
    late = landed(store, {"id": 1}, hour=8, run_id="r8")
    completed(store, landed(store, {"id": 1}, hour=9, run_id="r9", extract="incremental"))

    assert plan(store, late).superseded == 0


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
