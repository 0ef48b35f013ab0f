"""A load of a source in this process, with an engine that only keeps what it was asked to merge."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from lakekit.batch import MergeResult
from lakekit.config.source import Source, load_source
from lakekit.contract.contract import Contract, load_contract
from lakekit.errors import (
    InvalidStepInputError,
    TableBusyError,
    UnknownSourceError,
)
from lakekit.local.run import load as local_load
from lakekit.local.run.load import LocalLoad, Outcome
from lakekit.local.run.log import RunLog
from lakekit.local.run.place import LocalPlace, refuse_loaded, refuse_merged, source_of
from lakekit.runs.documents import read_plan
from lakekit.spark import jobs
from lakekit.steps.jobs import MergeScd2Result

PAGES = {"data": [{"id": 1}, {"id": 2}]}


class Engine:
    """Stands where Spark does: each landing opens a version per record, and no table appears."""

    def __init__(self) -> None:
        self.created: list[str] = []
        self.merged: list[str] = []
        self.failing: Exception | None = None

    def create_tables(self, _: Any, store: Any, arguments: Any, *, clock: Any) -> None:
        plans = read_plan(store, arguments.run_id).tables
        self.created += [plan.table for plan in plans if plan.create]

    def merge_tables(self, _: Any, store: Any, arguments: Any, *, clock: Any) -> None:
        if self.failing:
            raise self.failing
        for plan in read_plan(store, arguments.run_id).tables:
            merges = tuple(self._merge(plan.table, each) for each in plan.batches)
            result = MergeScd2Result(table=plan.table, merges=merges, seconds=1.25)
            key = f"runs/{arguments.run_id}/results/merge_scd2/{plan.table}.json"
            store.put(key, result.to_json())

    def _merge(self, table: str, batch: Any) -> MergeResult:
        self.merged.append(batch.run_id)
        # Nothing to commit is the one proof that needs no table.
        return MergeResult(table=table, run_id=batch.run_id, unchanged=2, committed=False)


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> Engine:
    found = Engine()
    monkeypatch.setattr(jobs, "create_tables", found.create_tables)
    monkeypatch.setattr(jobs, "merge_tables", found.merge_tables)
    monkeypatch.setattr(local_load.time, "sleep", lambda _: None)
    # One landing has one time, to the second.
    days = count(1)
    monkeypatch.setattr(local_load, "utc_now", lambda: datetime(2026, 1, next(days), tzinfo=UTC))
    return found


@contextmanager
def no_spark() -> Iterator[Any]:
    yield None


@pytest.fixture
def source(httpserver: HTTPServer) -> Source:
    return load_source(
        f"source: shop\nbase_url: {httpserver.url_for('').rstrip('/')}\n"
        "auth: {type: bearer, secret: 'lakekit/{environment}/shop'}\n"
    )


def contract(name: str) -> Contract:
    return load_contract(
        f"contract: {name}\nsource: shop\nendpoint: {{path: /{name}, records: $.data}}\n"
        "schema: [{name: id, type: bigint}]\nhistory: {keys: [id]}\n"
    )


class Loading:
    def __init__(self, warehouse: Path, source: Source, *names: str) -> None:
        self.place, self.source = LocalPlace(warehouse), source
        self.contracts = tuple(map(contract, names))
        self.lines: list[str] = []

    def load(self) -> Outcome:
        return LocalLoad(
            self.place, self.source, self.contracts, no_spark, lambda _: "t0ken", self.lines.append
        ).load()


def serve(httpserver: HTTPServer, *names: str) -> None:
    for name in names:
        headers = {"Authorization": "Bearer t0ken"}
        httpserver.expect_request(f"/{name}", headers=headers).respond_with_json(PAGES)


def test_a_load_goes_through_all_steps_and_says_what_each_table_got(
    engine: Engine, source: Source, httpserver: HTTPServer, tmp_path: Path
) -> None:
    serve(httpserver, "a", "b")
    loading = Loading(tmp_path, source, "a", "b")

    done = loading.load()

    assert done.error is None
    assert [(each.table, each.unchanged, each.seconds) for each in done.tables] == [
        ("a", 2, 1.2), ("b", 2, 1.2)
    ]  # fmt: skip
    assert engine.created == ["a", "b"]
    assert {*loading.lines} == {
        "a: 2 records on 1 page", "b: 2 records on 1 page", "merging"
    }  # fmt: skip
    keys = [each.key for each in loading.place.store.list("raw/")]
    assert len([key for key in keys if key.endswith(".complete")]) == 2
    assert [*loading.place.store.list("index/")] == []


def test_the_next_load_takes_up_what_a_failed_one_left(
    engine: Engine, source: Source, httpserver: HTTPServer, tmp_path: Path
) -> None:
    serve(httpserver, "a")
    loading = Loading(tmp_path, source, "a")
    engine.failing = RuntimeError("1 of 1 tables failed: a: no memory")

    failed = loading.load()
    engine.failing = None
    done = loading.load()

    assert (failed.error, failed.cause) == (
        "RuntimeError", "a: RuntimeError: 1 of 1 tables failed: a: no memory"
    )  # fmt: skip
    assert done.error is None
    assert len(engine.merged) == 2


def test_an_endpoint_that_fails_stops_no_other(
    engine: Engine, source: Source, httpserver: HTTPServer, tmp_path: Path
) -> None:
    serve(httpserver, "b")
    httpserver.expect_request("/a").respond_with_data("", status=403)

    done = Loading(tmp_path, source, "a", "b").load()

    assert done.error == "SourceRejectedError"
    assert done.cause is not None
    assert done.cause.startswith("a: SourceRejectedError: http")
    assert [each.table for each in done.tables] == ["b"]


def test_a_source_that_breaks_is_asked_again(
    engine: Engine, source: Source, httpserver: HTTPServer, tmp_path: Path
) -> None:
    answers = iter([503] * 4)

    def answer(_: Request) -> Response:
        status = next(answers, 200)
        return Response(json.dumps(PAGES), status=status, content_type="application/json")

    httpserver.expect_request("/a").respond_with_handler(answer)
    loading = Loading(tmp_path, source, "a")

    assert loading.load().error is None
    assert any(line.startswith("a: again in") for line in loading.lines)


def test_runs_are_listed_with_how_they_ended(
    engine: Engine, source: Source, httpserver: HTTPServer, tmp_path: Path
) -> None:
    serve(httpserver, "a")
    loading = Loading(tmp_path, source, "a")
    loading.load()
    httpserver.clear()
    httpserver.expect_request("/a").respond_with_data("", status=403)
    loading.load()

    log = RunLog(loading.place.store)
    newest, oldest = log.newest(5)
    assert (newest.status, oldest.status) == ("FAILED", "SUCCEEDED")
    assert log.details(newest.name).error == "SourceRejectedError"
    assert log.details(oldest.name).request == {"source": "shop"}
    assert [each.name for each in log.newest(1)] == [newest.name]


def test_a_source_without_contracts_is_refused(
    engine: Engine, source: Source, tmp_path: Path
) -> None:
    with pytest.raises(UnknownSourceError, match="no contract has 'source: shop'"):
        Loading(tmp_path, source).load()


def test_one_run_at_a_time_works_in_a_warehouse(tmp_path: Path) -> None:
    place = LocalPlace(tmp_path)

    busy = pytest.raises(TableBusyError, match="another `lakekit run`")
    with place.alone(), busy, place.alone():
        pass
    with place.alone():
        pass


def test_files_are_not_merged_into_a_table_of_runs_nor_runs_into_one_of_files(
    tmp_path: Path,
) -> None:
    own = contract("a")
    refuse_loaded(tmp_path, own)
    refuse_merged(tmp_path, (own,))

    LocalPlace(tmp_path).store.put("tables/shop/a/runs/0000000001-r", b"")
    (tmp_path / "landing/a").mkdir(parents=True)
    (tmp_path / "landing/a/contract.yaml").touch()

    assert source_of(tmp_path, "a") == "shop"
    with pytest.raises(InvalidStepInputError, match="`lakekit run` loads this table"):
        refuse_loaded(tmp_path, own)
    with pytest.raises(InvalidStepInputError, match="`lakekit merge` has made this table"):
        refuse_merged(tmp_path, (own,))
