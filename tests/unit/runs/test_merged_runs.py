"""Which runs of a table are merged, and in which order, as the landing bucket and the table say."""

from datetime import UTC, datetime, timedelta
from typing import Any

import boto3
import pytest
from moto import mock_aws

from lakekit import layout
from lakekit.aws.object_store import S3ObjectStore
from lakekit.batch import Batch, MergeResult
from lakekit.contracts import Contract
from lakekit.errors import LandingCorruptError, MissingEvidenceError
from lakekit.job_steps import MergeScd2Result
from lakekit.landing import load_manifest
from lakekit.runs.documents import (
    Plan,
    Superseded,
    SupersededLandings,
    TablePlan,
    to_json,
    write_once,
)
from lakekit.runs.merged_runs import Seen, Shown, merged_runs
from lakekit.runs.plan_tables import batch_of
from tests.fakes import MemoryObjectStore
from tests.unit.runs.kit import NOON, begun, contract, landed

OLD, NEW = contract(), contract(version=2)


class Bucket:
    """A landing bucket with runs of the table `orders`."""

    def __init__(self, store: Any = None) -> None:
        self.store = store or MemoryObjectStore()

    def land(self, batch: str, hour: int) -> Batch:
        """Land one record; the landing has the batch's name."""
        key = landed(self.store, {"id": hour, "price": 1.0}, hour=hour, run_id=batch)
        return batch_of(self.store, load_manifest(self.store, key))

    def run(
        self,
        run_id: str,
        *batches: Batch,
        epoch: int,
        at: int = 0,
        leased: int | None = None,
        promise: Contract = OLD,
    ) -> None:
        """Plan landings in one run, which began and got its lease some minutes after noon."""
        start = NOON + timedelta(minutes=at)
        lease = None if leased is None else NOON + timedelta(minutes=leased)
        begun(
            self.store, promise, run_id=run_id, started_at=start, epochs={"orders": epoch},
            leased_at=lease,
        )  # fmt: skip
        plan = TablePlan(table="orders", contract=promise, create=False, batches=batches)
        write_once(self.store, layout.plan_key(run_id), Plan(run_id=run_id, tables=(plan,)))

    def tell(self, run_id: str, *merges: MergeResult) -> None:
        document = MergeScd2Result(table="orders", merges=merges)
        self.store.put(layout.result_key(run_id, "merge_scd2", "orders"), to_json(document))

    def complete(self, *batches: Batch, marker: str = ".complete") -> None:
        for batch in batches:
            prefix = layout.raw_prefix("shop", "orders", batch.extraction_time)
            self.store.put(f"{prefix}{marker}", b"r")

    def load(self, run_id: str, hour: int, *, epoch: int, committed: bool = True) -> Batch:
        """Land, plan, merge and complete a landing in a run of the same name."""
        batch = self.land(run_id, hour)
        self.run(run_id, batch, epoch=epoch)
        self.tell(run_id, result(run_id, 1 if committed else None))
        self.complete(batch)
        return batch

    def merged(self, *shown: Shown | str, **more: Any) -> list[str]:
        runs = self.collect(*shown, **more)
        return [batch.run_id for _, batch in runs]

    def collect(self, *shown: Shown | str, **more: Any) -> list[tuple[Contract, Batch]]:
        runs = [each if isinstance(each, Shown) else Shown(each) for each in shown]
        return merged_runs(self.store, "shop", "orders", Seen(runs, **more))

    def note(self, run_id: str, late: Batch) -> None:
        """Leave a landing out because a newer one superseded it."""
        manifest = layout.manifest_key(layout.raw_prefix("shop", "orders", late.extraction_time))
        landings = (Superseded(manifest=manifest, by="newer"),)
        key = layout.result_key(run_id, "plan_tables", "orders")
        self.store.put(key, to_json(SupersededLandings(table="orders", landings=landings)))


def result(batch: str, snapshot: int | None = None, *, committed: bool = True) -> MergeResult:
    return MergeResult(
        table="lake.db.orders", run_id=batch, snapshot_id=snapshot,
        committed=committed and snapshot is not None,
    )  # fmt: skip


@pytest.fixture
def bucket() -> Bucket:
    return Bucket()


def test_finds_on_s3_what_was_merged_with_what_changed_nothing_and_nothing_else() -> None:
    with mock_aws():
        s3 = boto3.client("s3", "us-east-1", aws_access_key_id="x", aws_secret_access_key="x")  # noqa: S106
        s3.create_bucket(Bucket="landing")
        bucket = Bucket(S3ObjectStore("landing", s3))
        first = bucket.load("first", 1, epoch=1)
        same = bucket.load("same", 2, epoch=2, committed=False)
        bucket.run("failed", bucket.land("failed", 3), epoch=3)

        assert bucket.collect("first") == [(OLD, first), (OLD, same)]
        assert first.files[0].startswith("s3://landing/raw/shop/orders/")


def test_the_lease_orders_what_the_table_does_not_show(bucket: Bucket) -> None:
    # `waiting` began first, but got the lease last; its landing is the oldest, too.
    waiting = bucket.land("waiting", 1)
    bucket.run("waiting", waiting, epoch=9, at=0)
    bucket.tell("waiting", result("waiting", 1))
    bucket.complete(waiting)
    for name, epoch in (("same", 5), ("expired", 3)):
        bucket.load(name, epoch, epoch=epoch, committed=name == "expired")

    assert bucket.merged("waiting") == ["expired", "same", "waiting"]


def test_within_a_run_the_plan_orders(bucket: Bucket) -> None:
    new, old = bucket.land("new", 9), bucket.land("old", 1)
    bucket.run("r", new, old, epoch=1)
    bucket.tell("r", result("new"), result("old", 4))
    bucket.complete(new, old)

    assert bucket.merged() == ["new", "old"]


def test_the_ancestry_of_main_outweighs_the_documents(bucket: Bucket) -> None:
    for epoch, name in enumerate(("a", "b", "c", "same"), 1):
        bucket.load(name, epoch, epoch=epoch, committed=name != "same")

    assert bucket.merged("b", "a", "c") == ["b", "a", "c", "same"]


def test_a_merge_whose_result_was_lost_is_of_the_run_that_was_at_work(bucket: Bucket) -> None:
    batch = bucket.land("lost", 1)
    bucket.run("crashed", batch, epoch=1, at=1, promise=OLD)
    bucket.run("later", batch, epoch=3, at=30, promise=NEW)
    bucket.load("between", 2, epoch=2)

    # Nobody has told of it, but main shows it.
    committed = Shown("lost", NOON + timedelta(minutes=5))
    assert bucket.collect(committed, "between")[0] == (OLD, batch)
    # The run after it found it there; then its snapshot expired.
    bucket.tell("later", result("lost", 7, committed=False))
    bucket.complete(batch)
    assert bucket.collect("between")[0] == (OLD, batch)


def test_a_merge_that_failed_first_is_of_the_run_that_did_it(bucket: Bucket) -> None:
    batch = bucket.land("twice", 1)
    bucket.run("refused", batch, epoch=1, promise=OLD)
    bucket.run("mended", batch, epoch=2, at=30, promise=NEW)
    bucket.tell("mended", result("twice", 7))
    bucket.complete(batch)

    assert bucket.collect() == [(NEW, batch)]


@pytest.mark.parametrize("told", [("did", "waited"), ("waited",), ()])
def test_a_run_that_waited_while_another_merged_did_not_do_it(
    bucket: Bucket, told: tuple[str, ...]
) -> None:
    batch = bucket.land("once", 1)
    # It began before the commit; without any result, its lease tells that it was not at work yet.
    bucket.run("did", batch, epoch=1, at=0, promise=OLD)
    bucket.run("waited", batch, epoch=2, at=1, leased=None if told else 20, promise=NEW)
    for name in told:
        bucket.tell(name, result("once", 7, committed=name == "did"))

    assert bucket.collect(Shown("once", NOON + timedelta(minutes=10))) == [(OLD, batch)]


def test_of_two_runs_that_committed_a_landing_the_last_counts(bucket: Bucket) -> None:
    batch = bucket.land("twice", 1)
    # The commit of the first was rolled back, and the landing opened again.
    bucket.run("one", batch, epoch=1, promise=OLD)
    bucket.load("between", 2, epoch=2)
    bucket.run("two", batch, epoch=3, at=30, promise=NEW)
    for name, snapshot in (("one", 5), ("two", 9)):
        bucket.tell(name, result("twice", snapshot))
    bucket.complete(batch)

    assert [(each.version, one.run_id) for each, one in bucket.collect("between")] == [
        (1, "between"), (2, "twice"),
    ]  # fmt: skip


def test_a_run_that_only_told_the_companion_is_merged(bucket: Bucket) -> None:
    bucket.load("first", 1, epoch=1)
    bucket.run("quiet", bucket.land("quiet", 2), epoch=2)

    assert bucket.merged("first", told=[Shown("quiet", NOON)]) == ["first", "quiet"]


def test_a_run_that_told_the_companion_before_another_found_it_there_did_it(
    bucket: Bucket,
) -> None:
    quiet, loud = bucket.land("quiet", 1), bucket.land("loud", 2)
    bucket.run("told", quiet, loud, epoch=1, promise=OLD)
    bucket.run("later", quiet, loud, epoch=2, at=60, promise=NEW)
    bucket.tell("later", result("quiet"), result("loud", 8))
    bucket.complete(quiet, loud)

    found = bucket.collect("loud", told=[Shown("quiet", NOON + timedelta(minutes=5))])

    assert found == [(OLD, quiet), (NEW, loud)]


def test_an_open_landing_that_the_table_does_not_show_is_left_to_the_next_run(
    bucket: Bucket,
) -> None:
    bucket.load("first", 1, epoch=1)
    rolled_back, rejected = bucket.land("rolled-back", 2), bucket.land("rejected", 3)
    bucket.run("r", rolled_back, rejected, epoch=2)
    bucket.tell("r", result("rolled-back", 8), result("rejected", 9))
    bucket.complete(rejected, marker=".rejected")

    assert bucket.merged("first") == ["first"]
    assert bucket.merged("first", "rolled-back") == ["first", "rolled-back"]


def test_a_completed_landing_that_was_rolled_back_is_refused_until_a_person_rejects_it(
    bucket: Bucket,
) -> None:
    bucket.load("first", 1, epoch=1)
    bad = bucket.land("bad", 2)
    bucket.run("bad", bad, epoch=2)
    bucket.tell("bad", result("bad", 8))
    bucket.complete(bad)

    # A rollback of the table leaves the companion as it is.
    for told in ([], [Shown("bad", NOON)]):
        with pytest.raises(MissingEvidenceError, match=r"1 .*20260101_020000.*rolled back"):
            bucket.merged("first", told=told, off_main={8})
    bucket.complete(bad, marker=".rejected")
    for told in ([], [Shown("bad", NOON)]):
        assert bucket.merged("first", told=told, off_main={8}) == ["first"]
        assert bucket.merged("first", told=told) == ["first"]


def test_what_was_rolled_back_and_is_open_again_is_the_next_runs_to_merge(bucket: Bucket) -> None:
    bucket.load("first", 1, epoch=1)
    bucket.run("again", bucket.land("again", 2), epoch=2)
    bucket.tell("again", result("again", 8))

    assert bucket.merged("first", told=[Shown("again", NOON)], off_main={8}) == ["first"]
    assert bucket.merged("first", told=[Shown("again", NOON)]) == ["first", "again"]


def test_a_landing_that_a_newer_one_superseded_is_not_merged(bucket: Bucket) -> None:
    late = bucket.land("late", 1)
    bucket.run("failed", late, epoch=1)
    bucket.load("new", 2, epoch=2)
    bucket.note("new", late)
    bucket.complete(late)
    assert bucket.merged("new") == ["new"]

    # All plans are read, because a result is lost.
    bucket.run("lost", bucket.land("lost", 3), epoch=3)
    assert bucket.merged("new", "lost") == ["new", "lost"]


def test_refuses_when_a_merged_landing_has_expired(bucket: Bucket) -> None:
    for epoch, name in enumerate(("a", "b"), 1):
        bucket.load(name, epoch, epoch=epoch)
    for info in list(bucket.store.list("raw/shop/orders/20260101_010000/")):
        bucket.store.delete(info.key)

    for shown in (["a", "b"], ["b"]):
        with pytest.raises(LandingCorruptError, match=r"orders: 1 of 2 merged .*20260101_010000"):
            bucket.merged(*shown)


@pytest.mark.parametrize("lost", ["runs/b/", "runs/b/results/"])
def test_refuses_when_nothing_says_what_a_completed_landing_did(bucket: Bucket, lost: str) -> None:
    for epoch, name in enumerate(("a", "b"), 1):
        bucket.load(name, epoch, epoch=epoch)
    for info in list(bucket.store.list(lost)):
        bucket.store.delete(info.key)

    with pytest.raises(LandingCorruptError, match=r"1 completed landings .*20260101_020000"):
        bucket.merged("a")
    # What main shows needs no result.
    if lost == "runs/b/results/":
        assert bucket.merged("a", "b") == ["a", "b"]


@pytest.mark.parametrize(("extract", "deletes"), [("incremental", "close"), ("full", "ignore")])
def test_an_empty_landing_that_moves_nothing_is_completed_without_a_plan(
    bucket: Bucket, extract: str, deletes: str
) -> None:
    bucket.load("a", 1, epoch=1)
    promise = contract(history=OLD.history.model_copy(update={"deletes": deletes}))
    begun(bucket.store, promise, run_id="r")
    key = landed(bucket.store, hour=2, extract=extract)
    bucket.store.put(layout.complete_key(layout.prefix_of(key)), b"r")

    assert bucket.merged("a") == ["a"]


def test_an_empty_landing_that_closes_all_is_missed_in_the_plans(bucket: Bucket) -> None:
    bucket.load("a", 1, epoch=1)
    begun(bucket.store, OLD, run_id="r")
    key = landed(bucket.store, hour=2)
    bucket.store.put(layout.complete_key(layout.prefix_of(key)), b"r")

    with pytest.raises(LandingCorruptError, match="20260101_020000"):
        bucket.merged("a")


def test_a_copy_of_the_bucket_under_another_name_is_read_where_it_is(bucket: Bucket) -> None:
    batch = bucket.load("a", 1, epoch=1)
    copied = MemoryObjectStore()
    copied.objects = dict(bucket.store.objects)
    copied.uri = lambda key: f"memory://copied/{key}"  # type: ignore[method-assign]

    ((_, found),) = Bucket(copied).collect("a")

    assert found.files == (batch.files[0].replace("memory://", "memory://copied/"),)


def test_refuses_when_no_plan_has_what_the_table_shows(bucket: Bucket) -> None:
    bucket.load("a", 1, epoch=1)

    with pytest.raises(LandingCorruptError, match=r"1 merged runs \(by-hand\)"):
        bucket.merged("a", "by-hand")
    with pytest.raises(LandingCorruptError, match="by-hand"):
        bucket.merged("a", told=[Shown("by-hand", datetime(2026, 1, 1, tzinfo=UTC))])


def test_refuses_objects_that_are_not_those_of_the_manifest(bucket: Bucket) -> None:
    one, other = (
        bucket.load(name, hour, epoch=hour).files[0].removeprefix("memory://")
        for hour, name in enumerate(("a", "b"), 1)
    )
    bucket.store.put(one, bucket.store.get(other))

    with pytest.raises(LandingCorruptError, match="bytes or sha256 differ"):
        bucket.merged("a")


def test_refuses_a_landing_that_another_run_made(bucket: Bucket) -> None:
    batch = bucket.load("a", 1, epoch=1)
    key = layout.manifest_key(layout.raw_prefix("shop", "orders", batch.extraction_time))
    bucket.store.put(key, bucket.store.get(key).replace(b'"run_id": "a"', b'"run_id": "b"'))

    with pytest.raises(LandingCorruptError, match="not the landing that run a merged"):
        bucket.merged("a")
