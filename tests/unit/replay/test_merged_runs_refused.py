"""A merged run is refused if the bucket no longer has its landing, or has another one."""

from datetime import UTC, datetime

import pytest

from lakekit import layout
from lakekit.errors import LandingCorruptError, MissingEvidenceError
from lakekit.replay.merged_runs import CommittedRun
from tests.unit.replay.bucket import OLD, Bucket, result
from tests.unit.runs.kit import NOON, begun, landed


def test_a_completed_landing_that_was_rolled_back_is_refused_until_a_person_rejects_it(
    bucket: Bucket,
) -> None:
    bucket.load("first", 1, epoch=1)
    bad = bucket.land("bad", 2)
    bucket.run("bad", bad, epoch=2)
    bucket.record("bad", result("bad", 8))
    bucket.complete(bad)

    # A rollback of the table leaves the journal as it is.
    for journal in ([], [CommittedRun("bad", NOON)]):
        with pytest.raises(MissingEvidenceError, match=r"1 .*20260101_020000.*rolled back"):
            bucket.merged("first", journal=journal, off_main={8})
    bucket.complete(bad, marker=".rejected")
    for journal in ([], [CommittedRun("bad", NOON)]):
        assert bucket.merged("first", journal=journal, off_main={8}) == ["first"]
        assert bucket.merged("first", journal=journal) == ["first"]


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


def test_an_empty_landing_that_closes_all_is_missed_in_the_plans(bucket: Bucket) -> None:
    bucket.load("a", 1, epoch=1)
    begun(bucket.store, OLD, run_id="r")
    key = landed(bucket.store, hour=2)
    bucket.store.put(layout.complete_key(layout.prefix_of(key)), b"r")

    with pytest.raises(LandingCorruptError, match="20260101_020000"):
        bucket.merged("a")


def test_refuses_when_no_plan_has_what_the_table_shows(bucket: Bucket) -> None:
    bucket.load("a", 1, epoch=1)

    with pytest.raises(LandingCorruptError, match=r"1 merged runs \(by-hand\)"):
        bucket.merged("a", "by-hand")
    with pytest.raises(LandingCorruptError, match="by-hand"):
        bucket.merged("a", journal=[CommittedRun("by-hand", datetime(2026, 1, 1, tzinfo=UTC))])


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
