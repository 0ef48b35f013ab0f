"""A run of two tables: what is complete, blocked or failed when it ends, and what comes next."""

from datetime import datetime
from typing import Any

import pytest

from lakekit import layout
from lakekit.batch import MergeResult
from lakekit.config.workers import Jobs
from lakekit.ports import JobUse
from lakekit.runs.complete_run import TableLoaded, complete_run, with_shares
from lakekit.runs.documents import FailureRecord, LandingVerdict, Verdicts, read_document
from lakekit.runs.next_run import Backoff, back_off, next_name
from lakekit.runs.plan_tables import plan_tables
from lakekit.runs.record_failure import keep
from lakekit.steps.functions import CompleteRun, CompleteRunResult, Failure, PlanTables
from lakekit.steps.jobs import MergeScd2Result
from tests.unit.runs.kit import (
    NOON,
    Catalog,
    begun,
    claimed,
    contract,
    landed,
    published,
    snapshot,
    table,
    world,
)


class Story:
    """A run of two tables up to its merges."""

    def __init__(self) -> None:
        self.world = world()
        self.store = self.world.store
        self.announced: list[TableLoaded] = []
        self.keys = tuple(
            landed(self.store, {"id": 1}, endpoint=name) for name in ("orders", "clients")
        )
        begun(self.store, contract("orders"), contract("clients"))
        self.store.put(layout.open_run_key("shop", "r"), b"")
        self.claim = claimed(self.store, *self.keys)
        for name in ("orders", "clients"):
            self.world.leases.acquire(name, "r")
        self.plan()

    def plan(self, **tables: Any) -> None:
        step = PlanTables(run_id="r", source="shop")
        plan_tables(step, self.store, Catalog(**tables), Jobs())

    def found(self, number: int, **verdict: Any) -> None:
        """Let ValidateLanding have found something in one of the landings."""
        own = (LandingVerdict(manifest=self.claim.share(number)[0], **verdict),)
        document = Verdicts(share=number, landings=own)
        self.store.put(layout.verdicts_key("r", number), document.to_json())
        self.plan()

    def merged(self, name: str, *, maintain: bool = False, **result: Any) -> None:
        merge = MergeResult(**{"table": f"lake.db.{name}", "run_id": "r"} | result)
        document = MergeScd2Result(table=name, merges=(merge,), maintain=maintain)
        self.store.put(layout.result_key("r", "merge_scd2", name), document.to_json())

    def job_failed(self, name: str, error: str, step: str = "merge_scd2") -> None:
        record = FailureRecord(
            run_id="r", source="shop", table=name, error=error, cause="why", recorded_at=NOON
        )
        self.store.put(layout.job_failure_key("r", step, name), record.to_json())

    def complete(self, failure: Failure | None = None, **tables: Any) -> CompleteRunResult:
        both = {"orders": GOOD, "clients": GOOD}
        step = CompleteRun(run_id="r", source="shop", failure=failure)
        return complete_run(
            step, self.world.flow, Catalog(**both | tables), self.announced.append,
            {"r": JobUse(480, 0.06)}.__getitem__,
        )  # fmt: skip

    def completed(self) -> list[str]:
        return [key for key in self.keys if self._marker(key)]

    def _marker(self, key: str) -> bool:
        return self.store.head(layout.complete_key(layout.prefix_of(key))) is not None


GOOD = table(snapshot(1), published(2, "r", parent=1))
JOB = Failure(Error="States.TaskFailed", Cause="1 of 2 tables failed")


@pytest.fixture
def story() -> Story:
    return Story()


def test_marks_the_landings_whose_batches_main_shows(story: Story) -> None:
    assert story.complete() == CompleteRunResult(outcome="done")
    assert story.completed() == list(story.keys)
    assert all(story.store.head(layout.pending_key(layout.prefix_of(k))) for k in story.keys)
    assert story.world.keys("index/") == []


def test_gives_the_tables_back_and_starts_nothing_where_nothing_is_pending(story: Story) -> None:
    story.complete()

    assert [story.world.leases.holder(name) for name in ("orders", "clients")] == [None, None]
    assert story.world.executions.started == {}


def test_starts_the_next_run_if_landings_came_meanwhile(story: Story) -> None:
    landed(story.store, {"id": 1}, hour=13, run_id="later")

    story.complete()

    request = {"source": "shop", "extract": False, "origin": "next"}
    assert story.world.executions.started == {next_name("r"): request}


def test_leaves_what_others_hold_to_them(story: Story) -> None:
    landed(story.store, {"id": 1}, endpoint="others")
    story.world.leases.acquire("others", "q")

    story.complete()

    assert story.world.executions.started == {}


def test_looks_for_what_is_pending_after_it_has_given_the_tables_back(story: Story) -> None:
    """A file that lands before the tables are free finds them held, and starts no run."""
    release = story.world.leases.release

    def land_then_release(table: str, owner: str) -> None:
        landed(story.store, {"id": 1}, hour=13, run_id="later")
        release(table, owner)

    story.world.leases.release = land_then_release  # type: ignore[method-assign]

    story.complete()

    assert next_name("r") in story.world.executions.started


def test_a_run_that_claimed_nothing_is_deferred_if_others_hold_what_is_pending(
    story: Story,
) -> None:
    begun(story.store, run_id="late")
    empty = story.claim.model_copy(update={"run_id": "late", "tables": (), "deferred": ("orders",)})
    story.store.put(layout.claim_key("late"), empty.to_json())
    step = CompleteRun(run_id="late", source="shop")

    result = complete_run(step, story.world.flow, Catalog(), story.announced.append)

    assert result.outcome == "deferred"
    assert story.world.leases.holder("orders") == "r"


def test_a_run_that_claimed_nothing_starts_no_next_one(story: Story) -> None:
    """Whatever is pending that it could not claim, such runs would follow each other for ever."""
    begun(story.store, run_id="late")
    empty = story.claim.model_copy(update={"run_id": "late", "tables": ()})
    story.store.put(layout.claim_key("late"), empty.to_json())
    landed(story.store, {"id": 1}, endpoint="unknown")

    step = CompleteRun(run_id="late", source="shop")
    complete_run(step, story.world.flow, Catalog(), story.announced.append)

    assert story.world.executions.started == {}


def test_announces_for_every_table_what_was_done(story: Story) -> None:
    story.merged("orders", opened=3, closed=2, quarantined=1, snapshot_id=2, committed=True)

    story.complete()

    first, _ = story.announced
    assert (first.table, first.opened, first.closed, first.quarantined) == ("orders", 3, 2, 1)
    assert first.snapshot_id == 2


def test_a_second_time_it_announces_again_and_changes_nothing(story: Story) -> None:
    story.merged("orders", opened=1, snapshot_id=2, committed=True)
    first = story.complete()
    before = dict(story.store.objects)

    assert story.complete() == first
    assert story.store.objects == before
    assert len(story.announced) == 4


def test_keeps_the_newest_landings_for_those_that_come_late(story: Story) -> None:
    story.complete()

    [own] = [key for key in story.keys if "/orders/" in key]
    text = story.store.get(layout.newest_key("shop", "orders")).decode()
    assert text.count(own) == 2


def test_a_table_that_shows_no_published_run_keeps_its_landing_pending_and_stops_no_other(
    story: Story,
) -> None:
    result = story.complete(orders=table(snapshot(1)))

    assert (result.outcome, result.error) == ("failed", "MissingEvidenceError")
    assert "orders: MissingEvidenceError: no snapshot and no result" in str(result.cause)
    assert story.completed() == [story.keys[1]]
    assert story.world.pending() == ["shop/orders/20260101_120000"]
    # Once more at once: it may have been the infrastructure.
    assert list(story.world.executions.started) == [next_name("r")]


def test_a_table_whose_merges_keep_failing_is_left_alone_for_longer_and_longer(
    story: Story,
) -> None:
    for run_id in ("o", "p", "q"):
        back_off(story.store, "shop", "orders", run_id, NOON)

    story.complete(orders=table(snapshot(1)))

    found = read_document(story.store, layout.backoff_key("shop", "orders"), Backoff)
    assert (found.failures, (found.until - NOON).total_seconds()) == (4, 4 * 15 * 60)
    assert story.world.executions.started == {}


def test_a_success_ends_the_pauses(story: Story) -> None:
    back_off(story.store, "shop", "orders", "q", NOON)

    story.complete()

    assert story.world.keys("index/backoff/") == []


def test_a_landing_more_ends_the_pauses_too(story: Story) -> None:
    """A backlog that is longer than a job may run is merged run by run, without pauses between."""
    back_off(story.store, "shop", "orders", "q", NOON)
    later = landed(story.store, {"id": 2}, hour=13, run_id="later")
    story.keys = (story.keys[0], later)
    story.claim = claimed(story.store, *story.keys)
    story.plan()

    story.complete(Failure(Error="States.Timeout"))

    found = read_document(story.store, layout.backoff_key("shop", "orders"), Backoff)
    assert (story.completed(), found.failures) == ([story.keys[0]], 1)
    assert list(story.world.executions.started) == [next_name("r")]


@pytest.mark.parametrize(("leased_at", "own"), [(NOON, True), (NOON.replace(hour=13), False)])
def test_what_main_shows_of_a_job_that_died_is_kept_for_a_rebuild(
    story: Story, leased_at: datetime, own: bool
) -> None:
    """Snapshots expire; without a result nothing would say when the landing was merged."""
    claim = story.claim.model_copy(update={"leased_at": leased_at})
    story.store.put(layout.claim_key("r"), claim.to_json())

    story.complete(JOB)

    found = read_document(
        story.store, layout.result_key("r", "merge_scd2", "orders"), MergeScd2Result
    )
    [merge] = found.merges
    assert (merge.run_id, merge.snapshot_id, merge.committed) == ("r", 2, own)


def test_a_failed_job_names_the_error_of_its_table_and_its_neighbour_is_complete(
    story: Story,
) -> None:
    story.job_failed("orders", "CommitConflictError")

    result = story.complete(JOB, orders=table(snapshot(1)))

    assert (result.error, result.cause) == (
        "CommitConflictError", "orders: CommitConflictError: why"
    )  # fmt: skip
    assert story.completed() == [story.keys[1]]


def test_a_job_that_died_without_a_word_is_named_itself(story: Story) -> None:
    result = story.complete(JOB, orders=table(snapshot(1)))

    assert (result.error, result.cause) == (
        "States.TaskFailed", "orders: States.TaskFailed: 1 of 2 tables failed"
    )  # fmt: skip


def test_a_job_that_died_when_all_was_done_is_no_failure(story: Story) -> None:
    assert story.complete(JOB).outcome == "done"


@pytest.mark.parametrize("error", ["TooManyDeletedError", "LateExtractError"])
def test_a_landing_that_a_guard_refused_waits_for_a_person(story: Story, error: str) -> None:
    story.job_failed("orders", error)

    result = story.complete(JOB, orders=table(snapshot(1)))

    assert (result.outcome, result.error) == ("failed", error)
    assert "waits for a person" in str(result.cause)
    assert story.world.blocked() == ["shop/orders/20260101_120000"]
    assert story.world.pending() == []
    assert story.world.executions.started == {}


def test_a_landing_that_does_not_hold_waits_for_a_person(story: Story) -> None:
    story.found(0, error="LandingCorruptError", cause="it is broken")

    result = story.complete()

    assert (result.outcome, result.error) == ("failed", "LandingCorruptError")
    assert story.world.blocked() == ["shop/orders/20260101_120000"]
    assert story.completed() == [story.keys[1]]


def test_what_waits_behind_a_refused_landing_is_not_complete(story: Story) -> None:
    own = contract("orders")
    endpoint = own.endpoint.model_copy(update={"extract": "incremental"})
    key = landed(story.store, {"id": 2}, hour=13, run_id="later")
    story.store.delete(layout.run_key("r"))
    begun(story.store, own.model_copy(update={"endpoint": endpoint}), contract("clients"))
    story.claim = claimed(story.store, story.keys[0], key)
    story.found(0, error="LandingCorruptError", cause="missing")

    story.complete()

    assert story.world.pending() == ["shop/clients/20260101_120000", "shop/orders/20260101_130000"]
    assert story.store.head(layout.complete_key(layout.prefix_of(key))) is None


def test_a_landing_that_was_decided_before_leaves_the_index(story: Story) -> None:
    story.found(0, decided=True)

    assert story.complete().outcome == "done"
    assert story.world.keys("index/") == []


def test_a_table_that_cannot_be_evolved_is_a_failure_of_its_own(story: Story) -> None:
    other = table() | {"partition-specs": [{"spec-id": 0, "fields": []}], "format-version": 1}
    other["schemas"][0]["fields"][1]["type"] = "binary"
    story.plan(orders=other)

    result = story.complete()

    assert (result.outcome, result.error) == ("failed", "SchemaMismatchError")
    assert story.completed() == [story.keys[1]]


def test_an_endpoint_that_could_not_be_extracted_is_a_failure(story: Story) -> None:
    record = FailureRecord(
        run_id="r", source="shop", endpoint="orders", error="SourceRejectedError", cause="401",
        recorded_at=NOON,
    )  # fmt: skip
    keep(story.store, record)

    result = story.complete()

    assert (result.outcome, result.error) == ("failed", "SourceRejectedError")
    assert result.cause == "orders: SourceRejectedError: 401"
    assert story.completed() == list(story.keys)
    # For the sweeper: the extraction may have left objects behind.
    assert story.world.keys("index/open/") == [layout.open_run_key("shop", "r")]


def test_what_it_says_of_many_errors_is_bounded(story: Story) -> None:
    story.found(0, error="LandingCorruptError", cause="x" * 5000)

    cause = str(story.complete().cause)

    assert len(cause) < 2100
    assert cause.endswith("… (1 errors)")


def test_a_table_that_was_dropped_shows_no_published_run(story: Story) -> None:
    assert story.complete(orders=None).error == "MissingEvidenceError"


def test_a_snapshot_on_a_branch_does_not_show_that_a_run_is_published(story: Story) -> None:
    story.merged("orders", opened=1, snapshot_id=2, committed=True)

    result = story.complete(orders=table(snapshot(1), published(2, "r", parent=1), main=1))

    assert "snapshot 2 of batch r is not on main" in str(result.cause)


def test_a_rebuild_that_names_the_run_shows_that_it_is_published(story: Story) -> None:
    rebuilt = snapshot(2) | {"summary": {"lakekit.run-ids": '["q", "r"]'}}
    story.merged("orders", snapshot_id=2)

    story.complete(orders=table(rebuilt))

    assert story.completed() == list(story.keys)


def test_a_merge_that_found_nothing_to_do_needs_no_snapshot(story: Story) -> None:
    story.merged("orders", unchanged=1)

    assert story.complete(orders=table(snapshot(1))).outcome == "done"


def test_a_merge_that_moved_versions_must_name_its_snapshot(story: Story) -> None:
    story.merged("orders", opened=1)

    assert "names no snapshot" in str(story.complete(orders=table(snapshot(1))).cause)


def test_a_snapshot_that_expired_since_counts(story: Story) -> None:
    story.merged("orders", opened=1, snapshot_id=2, committed=True)

    assert story.complete(orders=table(snapshot(9, parent=8))).outcome == "done"


def test_a_snapshot_cannot_have_expired_before_older_ones(story: Story) -> None:
    story.merged("orders", opened=1, snapshot_id=2, committed=True)
    old = snapshot(-5, parent=-6)

    result = story.complete(orders=table(old, snapshot(9, parent=-5)))

    assert "does not exist any more" in str(result.cause)


def test_a_replay_of_what_an_old_run_committed_may_point_at_what_expired(story: Story) -> None:
    story.merged("orders", snapshot_id=-7)

    assert story.complete(orders=table(snapshot(-5, parent=-6))).outcome == "done"


def test_one_table_whose_merge_says_so_wants_maintenance(story: Story) -> None:
    story.merged("orders", unchanged=1)
    assert not story.complete().maintain

    story.merged("clients", unchanged=1, maintain=True)
    assert story.complete().maintain


def test_a_table_that_was_loaded_leaves_a_sign_for_the_sweeper(story: Story) -> None:
    story.merged("orders")
    story.complete(clients=table(snapshot(1)))

    assert story.store.head(layout.loaded_key("shop", "orders")) is not None
    assert story.store.head(layout.loaded_key("shop", "clients")) is None


def test_each_table_keeps_its_share_of_what_the_run_has_used(story: Story) -> None:
    story.merged("orders")
    story.merged("clients")
    story.complete()

    used = {(each.dpu_seconds, each.cost_usd) for each in story.announced}
    key = layout.result_key("r", "merge_scd2", "orders")
    kept = read_document(story.store, key, MergeScd2Result)
    assert used == {(240.0, 0.03)}
    assert (kept.dpu_seconds, kept.cost_usd, len(kept.merges)) == (240.0, 0.03, 1)


def test_tables_share_what_a_run_costs_by_the_seconds_of_their_merges() -> None:
    def loaded(seconds: float) -> TableLoaded:
        return TableLoaded(
            table="t", run_id="r", source="s", snapshot_id=1, opened=1, closed=0, unchanged=2,
            quarantined=1, rows=4, seconds=seconds,
        )  # fmt: skip

    assert [each.share for each in with_shares([loaded(30), loaded(10)])] == [0.75, 0.25]
    assert [each.share for each in with_shares([loaded(0), loaded(0)])] == [0.5, 0.5]
    assert with_shares([]) == []
    assert loaded(1).quarantine_ratio == 0.25
