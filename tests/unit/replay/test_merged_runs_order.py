"""In which order the runs of a table were merged, and which of several merged a landing."""

from datetime import timedelta

import pytest

from lakekit.replay.merged_runs import CommittedRun
from tests.unit.replay.bucket import NEW, OLD, Bucket, result
from tests.unit.runs.kit import NOON


def test_the_lease_orders_what_the_table_does_not_show(bucket: Bucket) -> None:
    # `waiting` began first, but got the lease last; its landing is the oldest, too.
    waiting = bucket.land("waiting", 1)
    bucket.run("waiting", waiting, epoch=9, at=0)
    bucket.record("waiting", result("waiting", 1))
    bucket.complete(waiting)
    for name, epoch in (("same", 5), ("expired", 3)):
        bucket.load(name, epoch, epoch=epoch, committed=name == "expired")

    assert bucket.merged("waiting") == ["expired", "same", "waiting"]


def test_within_a_run_the_plan_orders(bucket: Bucket) -> None:
    new, old = bucket.land("new", 9), bucket.land("old", 1)
    bucket.run("r", new, old, epoch=1)
    bucket.record("r", result("new"), result("old", 4))
    bucket.complete(new, old)

    assert bucket.merged() == ["new", "old"]


def test_the_ancestry_of_main_outweighs_the_documents(bucket: Bucket) -> None:
    for epoch, name in enumerate(("a", "b", "c", "same"), 1):
        bucket.load(name, epoch, epoch=epoch, committed=name != "same")

    assert bucket.merged("b", "a", "c") == ["b", "a", "c", "same"]


def test_a_merge_whose_result_was_lost_is_of_the_run_that_was_at_work(bucket: Bucket) -> None:
    batch = bucket.land("lost", 1)
    bucket.run("crashed", batch, epoch=1, at=1, contract=OLD)
    bucket.run("later", batch, epoch=3, at=30, contract=NEW)
    bucket.load("between", 2, epoch=2)

    # It has no result, but main shows it.
    committed = CommittedRun("lost", NOON + timedelta(minutes=5))
    assert bucket.collect(committed, "between")[0] == (OLD, batch)
    # The run after it found it there; then its snapshot expired.
    bucket.record("later", result("lost", 7, committed=False))
    bucket.complete(batch)
    assert bucket.collect("between")[0] == (OLD, batch)


def test_a_merge_that_failed_first_is_of_the_run_that_did_it(bucket: Bucket) -> None:
    batch = bucket.land("twice", 1)
    bucket.run("refused", batch, epoch=1, contract=OLD)
    bucket.run("mended", batch, epoch=2, at=30, contract=NEW)
    bucket.record("mended", result("twice", 7))
    bucket.complete(batch)

    assert bucket.collect() == [(NEW, batch)]


@pytest.mark.parametrize("recorded", [("did", "waited"), ("waited",), ()])
def test_a_run_that_waited_while_another_merged_did_not_do_it(
    bucket: Bucket, recorded: tuple[str, ...]
) -> None:
    batch = bucket.land("once", 1)
    # It began before the commit; without any result, its lease shows that it was not at work yet.
    bucket.run("did", batch, epoch=1, at=0, contract=OLD)
    bucket.run("waited", batch, epoch=2, at=1, leased=None if recorded else 20, contract=NEW)
    for name in recorded:
        bucket.record(name, result("once", 7, committed=name == "did"))

    assert bucket.collect(CommittedRun("once", NOON + timedelta(minutes=10))) == [(OLD, batch)]


def test_the_last_of_two_runs_that_committed_a_landing_counts(bucket: Bucket) -> None:
    batch = bucket.land("twice", 1)
    # The commit of the first was rolled back, and the landing opened again.
    bucket.run("one", batch, epoch=1, contract=OLD)
    bucket.load("between", 2, epoch=2)
    bucket.run("two", batch, epoch=3, at=30, contract=NEW)
    for name, snapshot in (("one", 5), ("two", 9)):
        bucket.record(name, result("twice", snapshot))
    bucket.complete(batch)

    assert [(each.version, one.run_id) for each, one in bucket.collect("between")] == [
        (1, "between"), (2, "twice"),
    ]  # fmt: skip


def test_a_run_that_wrote_the_journal_before_another_found_its_entries_did_the_merge(
    bucket: Bucket,
) -> None:
    quiet, loud = bucket.land("quiet", 1), bucket.land("loud", 2)
    bucket.run("first", quiet, loud, epoch=1, contract=OLD)
    bucket.run("later", quiet, loud, epoch=2, at=60, contract=NEW)
    bucket.record("later", result("quiet"), result("loud", 8))
    bucket.complete(quiet, loud)

    found = bucket.collect("loud", journal=[CommittedRun("quiet", NOON + timedelta(minutes=5))])

    assert found == [(OLD, quiet), (NEW, loud)]
