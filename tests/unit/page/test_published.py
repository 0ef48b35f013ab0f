"""What CompleteRun publishes: bounded, conditional, and never a reason for a run to fail."""

from datetime import timedelta

import pytest

from lakekit.errors import NewerDocumentError
from lakekit.layout import PUBLISHED
from lakekit.page.published import (
    MOST_BYTES,
    MOST_RUNS,
    PublishedLoad,
    PublishedRun,
    PublishedRuns,
    publish,
    publish_run,
    read_published,
)
from lakekit.ports import PreconditionFailedError
from lakekit.runs.complete_run import TableLoaded
from lakekit.steps.functions import CompleteRunResult
from tests.fakes import MemoryObjectStore
from tests.unit.page.examples import NOW
from tests.unit.runs.kit import begun, world


def run(number: int, tables: int = 1) -> PublishedRun:
    loads = tuple(
        PublishedLoad(table=f"t_{n}", opened=1, closed=0, quarantined=0, records=1)
        for n in range(tables)
    )
    return PublishedRun(
        run_id=f"r-{number}", source="shop", started_at=NOW, ended_at=NOW + timedelta(seconds=9),
        outcome="done", loads=loads,
    )  # fmt: skip


class Contended(MemoryObjectStore):
    """Another run publishes between reading and writing, some times."""

    def __init__(self, times: int) -> None:
        super().__init__()
        self.times = times

    def put(
        self, key: str, body: bytes, *, if_absent: bool = False, if_match: str | None = None
    ) -> str:
        if self.times:
            self.times -= 1
            raise PreconditionFailedError(key)
        return super().put(key, body, if_absent=if_absent, if_match=if_match)


def test_the_newest_run_comes_first_and_the_same_one_is_not_doubled() -> None:
    store = MemoryObjectStore()

    for number in (1, 2, 1):
        assert publish(store, run(number))

    assert [each.run_id for each in read_published(store).runs] == ["r-1", "r-2"]


def test_the_document_is_bounded_in_runs_and_bytes() -> None:
    store = MemoryObjectStore()
    many = tuple(run(n) for n in range(MOST_RUNS))
    store.put(PUBLISHED, PublishedRuns(runs=many).to_json())
    publish(store, run(-1))
    assert len(read_published(store).runs) <= MOST_RUNS

    for number in range(60):
        publish(store, run(number, tables=100))
    assert len(store.get(PUBLISHED)) <= MOST_BYTES
    assert read_published(store).runs[0].run_id == "r-59"


@pytest.mark.parametrize(("times", "written"), [(2, True), (3, False)])
def test_another_run_that_publishes_meanwhile_is_waited_for_a_few_times(
    times: int, written: bool
) -> None:
    store = Contended(times)

    assert publish(store, run(1)) is written


def test_a_document_that_cannot_be_read_is_begun_again_but_not_that_of_a_newer_release() -> None:
    store = MemoryObjectStore()
    store.put(PUBLISHED, b"no json")
    publish(store, run(1))
    assert len(read_published(store).runs) == 1

    store.put(PUBLISHED, b'{"schema_version": 9}')
    with pytest.raises(NewerDocumentError):
        publish(store, run(2))


def test_a_run_is_published_with_what_it_did_and_cost() -> None:
    flow, results = world().flow, MemoryObjectStore()
    begun(flow.store)
    loaded = TableLoaded(
        table="orders", run_id="r", source="shop", snapshot_id=1, opened=3, closed=2,
        unchanged=0, quarantined=1, rows=6,
    )  # fmt: skip
    done = CompleteRunResult(outcome="failed", error="E", cause="x" * 999)

    assert publish_run(results, flow, "r", done, [loaded], 0.01) is None

    (found,) = read_published(results).runs
    assert (found.outcome, found.error, found.cost_usd) == ("failed", "E", 0.01)
    assert len(found.cause or "") == 300
    assert found.loads == (
        PublishedLoad(table="orders", opened=3, closed=2, quarantined=1, records=6),
    )


def test_a_fault_is_returned_not_raised() -> None:
    flow, results = world().flow, MemoryObjectStore()
    results.put(PUBLISHED, b'{"schema_version": 9}')
    begun(flow.store)
    done = CompleteRunResult(outcome="done")

    assert "NewerDocumentError" in str(publish_run(results, flow, "r", done, [], 0))
    assert "missing" in str(publish_run(results, flow, "r-unknown", done, [], 0))
