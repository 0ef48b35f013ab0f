from datetime import UTC, datetime

import pytest

from lakekit import layout
from lakekit.config.source import load_source
from lakekit.contract.contract import load_contract
from lakekit.errors import LandingCorruptError, UnknownSourceError
from lakekit.runs.documents import Plan, Run, TablePlan, read_plan, read_run, write_once
from tests.fakes import MemoryObjectStore

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
CONTRACT = load_contract(
    "contract: e\nsource: s\nendpoint: {path: /e}\n"
    "schema: [{name: id, type: bigint, required: true}]\nhistory: {keys: [id]}"
)
RUN = Run(
    run_id="r",
    started_at=NOON,
    extraction_time=NOON,
    source=load_source("source: s\nbase_url: https://a.org"),
    contracts=(CONTRACT,),
)


def test_reads_a_run_document_as_it_was_written() -> None:
    store = MemoryObjectStore()

    write_once(store, layout.run_key("r"), RUN)

    assert read_run(store, "r") == RUN
    assert b'"schema"' in store.get(layout.run_key("r"))


def test_reads_a_plan_as_it_was_written() -> None:
    store = MemoryObjectStore()
    table = TablePlan(table="e", contract=CONTRACT, create=True, batches=())
    plan = Plan(run_id="r", tables=(table,))

    write_once(store, layout.plan_key("r"), plan)

    assert read_plan(store, "r") == plan


def test_the_first_document_stays() -> None:
    store = MemoryObjectStore()

    assert write_once(store, layout.run_key("r"), RUN)
    assert not write_once(store, layout.run_key("r"), RUN.model_copy(update={"run_id": "x"}))
    assert read_run(store, "r") == RUN


def test_says_that_a_document_is_missing() -> None:
    with pytest.raises(LandingCorruptError, match=r"plan\.json: missing"):
        read_plan(MemoryObjectStore(), "r")


def test_knows_the_contracts_of_its_run_only() -> None:
    assert RUN.contract("e") == CONTRACT
    with pytest.raises(UnknownSourceError, match="knows no 'x'"):
        RUN.contract("x")
