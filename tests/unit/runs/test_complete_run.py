from typing import Any

import pytest

from lakekit import layout
from lakekit.batch import MergeResult
from lakekit.errors import MissingEvidenceError
from lakekit.runs.complete_run import TableLoaded, complete_run
from lakekit.runs.documents import to_json
from lakekit.runs.plan_tables import plan_tables
from lakekit.steps.functions import CompleteRun, CompleteRunResult, ExtractPagesResult, PlanTables
from lakekit.steps.jobs import MergeScd2Result
from tests.fakes import MemoryObjectStore
from tests.unit.runs.kit import (
    NOON,
    Catalog,
    Leases,
    begun,
    contract,
    landed,
    published,
    snapshot,
    table,
)


class Story:
    """A run of two tables up to its merges."""

    def __init__(self) -> None:
        self.store = MemoryObjectStore()
        self.leases = Leases(orders="r", clients="r")
        self.announced: list[TableLoaded] = []
        self.keys = tuple(
            landed(self.store, {"id": 1}, endpoint=name) for name in ("orders", "clients")
        )
        begun(self.store, contract("orders"), contract("clients"), claimed=self.keys)
        step = PlanTables(run_id="r", source="shop", started_at=NOON, manifests=self.keys)
        plan_tables(step, self.store, Catalog())

    def merged(self, name: str, *, maintain: bool = False, **result: Any) -> None:
        merge = MergeResult(**{"table": f"lake.db.{name}", "run_id": "r"} | result)
        document = MergeScd2Result(table=name, merges=(merge,), maintain=maintain)
        self.store.put(layout.result_key("r", "merge_scd2", name), to_json(document))

    def complete(
        self, *extracted: ExtractPagesResult, manifests: Any = None, **tables: Any
    ) -> CompleteRunResult:
        both = {"orders": GOOD, "clients": GOOD}
        step = CompleteRun(
            run_id="r", source="shop", started_at=NOON, extracted=extracted,
            manifests=self.keys if manifests is None else manifests,
        )  # fmt: skip
        catalog = Catalog(**both | tables)
        return complete_run(step, self.store, catalog, self.leases, self.announced.append)

    def completed(self) -> list[str]:
        return [key for key in self.keys if self._marker(key)]

    def _marker(self, key: str) -> bool:
        return self.store.head(layout.complete_key(layout.prefix_of(key))) is not None


GOOD = table(snapshot(1), published(2, "r", parent=1))


@pytest.fixture
def story() -> Story:
    return Story()


def test_marks_the_landings_whose_batches_main_shows(story: Story) -> None:
    result = story.complete()

    assert result == CompleteRunResult(maintain=False, partial=False, tables=("orders", "clients"))
    assert story.completed() == list(story.keys)
    assert all(story.store.head(layout.pending_key(layout.prefix_of(k))) for k in story.keys)


def test_gives_the_tables_back(story: Story) -> None:
    story.complete()

    assert story.leases.held == {}


def test_announces_for_every_table_what_was_done(story: Story) -> None:
    story.merged("orders", opened=3, closed=2, quarantined=1, snapshot_id=2, committed=True)

    story.complete()

    first = story.announced[0]
    assert (first.table, first.opened, first.closed, first.quarantined) == ("orders", 3, 2, 1)
    assert first.snapshot_id == 2


def test_a_second_time_it_announces_again_and_changes_nothing(story: Story) -> None:
    first = story.complete()
    before = dict(story.store.objects)

    assert story.complete() == first
    assert story.store.objects == before
    assert len(story.announced) == 4


def test_a_table_that_shows_no_published_run_keeps_its_landing_pending_and_stops_no_other(
    story: Story,
) -> None:
    with pytest.raises(MissingEvidenceError, match="orders: no snapshot and no result"):
        story.complete(orders=table(snapshot(1)))

    assert story.completed() == [story.keys[1]]
    assert story.leases.held == {"orders": "r", "clients": "r"}


def test_a_table_that_was_dropped_shows_no_published_run(story: Story) -> None:
    with pytest.raises(MissingEvidenceError, match="orders"):
        story.complete(orders=None)


def test_a_snapshot_on_a_branch_does_not_show_that_a_run_is_published(story: Story) -> None:
    story.merged("orders", opened=1, snapshot_id=2, committed=True)

    with pytest.raises(MissingEvidenceError, match="snapshot 2 of batch r is not on main"):
        story.complete(orders=table(snapshot(1), published(2, "r", parent=1), main=1))


def test_a_rebuild_that_names_the_run_shows_that_it_is_published(story: Story) -> None:
    rebuilt = snapshot(2) | {"summary": {"lakekit.rebuilt-runs": '["q", "r"]'}}
    story.merged("orders", snapshot_id=2)

    story.complete(orders=table(rebuilt))

    assert story.completed() == list(story.keys)


def test_a_merge_that_found_nothing_to_do_needs_no_snapshot(story: Story) -> None:
    story.merged("orders", unchanged=1)

    assert story.complete(orders=table(snapshot(1))).tables == ("orders", "clients")


def test_a_merge_that_moved_versions_must_name_its_snapshot(story: Story) -> None:
    story.merged("orders", opened=1)

    with pytest.raises(MissingEvidenceError, match="names no snapshot"):
        story.complete(orders=table(snapshot(1)))


def test_a_snapshot_that_expired_since_counts(story: Story) -> None:
    story.merged("orders", opened=1, snapshot_id=2, committed=True)

    assert "orders" in story.complete(orders=table(snapshot(9, parent=8))).tables


def test_a_snapshot_cannot_have_expired_before_older_ones(story: Story) -> None:
    story.merged("orders", opened=1, snapshot_id=2, committed=True)
    old = snapshot(-5, parent=-6)

    with pytest.raises(MissingEvidenceError, match="does not exist any more"):
        story.complete(orders=table(old, snapshot(9, parent=-5)))


def test_a_replay_of_what_an_old_run_committed_may_point_at_what_expired(story: Story) -> None:
    story.merged("orders", snapshot_id=-7)

    assert "orders" in story.complete(orders=table(snapshot(-5, parent=-6))).tables


def test_a_failed_endpoint_makes_the_run_partial(story: Story) -> None:
    failed = ExtractPagesResult(endpoint="orders", done=False, error="SourceRejectedError")

    assert story.complete(failed).partial


def test_a_rejected_landing_makes_the_run_partial_and_stays_pending(story: Story) -> None:
    result = story.complete(manifests=story.keys[:1])

    assert result.partial
    assert story.completed() == [story.keys[0]]


def test_one_table_whose_merge_says_so_wants_maintenance(story: Story) -> None:
    story.merged("orders", unchanged=1)
    assert not story.complete().maintain

    story.merged("clients", unchanged=1, maintain=True)
    assert story.complete().maintain
