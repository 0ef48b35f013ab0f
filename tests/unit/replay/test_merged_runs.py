"""Which runs of a table are merged, as the landing bucket and the table say."""

import boto3
import pytest
from moto import mock_aws

from lakekit import layout
from lakekit.aws.object_store import S3ObjectStore
from lakekit.replay.merged_runs import CommittedRun
from tests.fakes import MemoryObjectStore
from tests.unit.replay.bucket import OLD, Bucket, result
from tests.unit.runs.kit import NOON, begun, contract, landed


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


def test_a_run_that_only_wrote_the_journal_is_merged(bucket: Bucket) -> None:
    bucket.load("first", 1, epoch=1)
    bucket.run("quiet", bucket.land("quiet", 2), epoch=2)

    assert bucket.merged("first", journal=[CommittedRun("quiet", NOON)]) == ["first", "quiet"]


def test_an_open_landing_that_the_table_does_not_show_is_left_to_the_next_run(
    bucket: Bucket,
) -> None:
    bucket.load("first", 1, epoch=1)
    rolled_back, rejected = bucket.land("rolled-back", 2), bucket.land("rejected", 3)
    bucket.run("r", rolled_back, rejected, epoch=2)
    bucket.record("r", result("rolled-back", 8), result("rejected", 9))
    bucket.complete(rejected, marker=".rejected")

    assert bucket.merged("first") == ["first"]
    assert bucket.merged("first", "rolled-back") == ["first", "rolled-back"]


def test_what_was_rolled_back_and_is_open_again_is_the_next_runs_to_merge(bucket: Bucket) -> None:
    bucket.load("first", 1, epoch=1)
    bucket.run("again", bucket.land("again", 2), epoch=2)
    bucket.record("again", result("again", 8))

    assert bucket.merged("first", journal=[CommittedRun("again", NOON)], off_main={8}) == ["first"]
    assert bucket.merged("first", journal=[CommittedRun("again", NOON)]) == ["first", "again"]


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


@pytest.mark.parametrize(("extract", "deletes"), [("incremental", "close"), ("full", "ignore")])
def test_an_empty_landing_that_moves_nothing_is_completed_without_a_plan(
    bucket: Bucket, extract: str, deletes: str
) -> None:
    bucket.load("a", 1, epoch=1)
    changed = contract(history=OLD.history.model_copy(update={"deletes": deletes}))
    begun(bucket.store, changed, run_id="r")
    key = landed(bucket.store, hour=2, extract=extract)
    bucket.store.put(layout.complete_key(layout.prefix_of(key)), b"r")

    assert bucket.merged("a") == ["a"]


def test_a_copy_of_the_bucket_under_another_name_is_read_where_it_is(bucket: Bucket) -> None:
    batch = bucket.load("a", 1, epoch=1)
    copied = MemoryObjectStore()
    copied.objects = dict(bucket.store.objects)
    copied.uri = lambda key: f"memory://copied/{key}"  # type: ignore[method-assign]

    ((_, found),) = Bucket(copied).collect("a")

    assert found.files == (batch.files[0].replace("memory://", "memory://copied/"),)
