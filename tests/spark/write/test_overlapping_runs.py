"""Two runs that overlap: the second begins before the first has ended, and ends after it."""

import json
import threading
from datetime import UTC, datetime

import pytest
from pyspark import inheritable_thread_target

from lakekit.batch import Batch
from lakekit.spark.merge_scd2 import merge_scd2
from lakekit.spark.session.tuning import INTERPRETED
from tests.spark.support.people import SILENT
from tests.spark.support.phases import ann
from tests.spark.support.seams import at_the_end_of

PATIENCE = 120


@pytest.fixture
def merge_changes(spark, table, tmp_path):
    """Merge changes as one run; the journal alone records repeated content."""

    def merge(day, *records, session=spark):
        file = tmp_path / f"{day}.ndjson"
        file.write_text("".join(json.dumps(record) + "\n" for record in records))
        batch = Batch(
            run_id=f"run-{day}",
            extract="changes",
            extraction_time=datetime(2026, 1, day, tzinfo=UTC),
            files=(str(file),),
        )
        return merge_scd2(session, SILENT, batch, table, staging=(tmp_path / f"s{day}").as_uri())

    return merge


@pytest.fixture
def overlapping(spark, monkeypatch):
    """Begin a second run at the end of a phase of the first; in one phase it waits for its end."""
    session, done = spark.newSession(), {}
    for name, value in INTERPRETED.items():
        session.conf.set(name, value)

    def overlap(first, phase, second, until):
        waits, ended = threading.Event(), threading.Event()

        def wait():
            waits.set()
            assert ended.wait(PATIENCE)

        def begin():
            at_the_end_of(monkeypatch, until, wait)
            other.start()
            assert waits.wait(PATIENCE)

        def go():
            done["second"] = second(session)

        other = threading.Thread(target=inheritable_thread_target(go), daemon=True)
        at_the_end_of(monkeypatch, phase, begin)
        try:
            done["first"] = first()
        finally:
            ended.set()
        other.join(PATIENCE)
        return done["first"], done["second"]

    return overlap


def test_a_run_that_has_ended_since_the_other_was_planned_is_not_missed(
    merge_changes, overlapping, assert_rows
):
    """It did not move main, and its journal entries were not read: it was in progress.

    Oslo, repeated at 5, shows in no version until Rome at 3 comes in between.
    """
    merge_changes(1, ann("Oslo", 1))

    first, second = overlapping(
        lambda: merge_changes(5, ann("Oslo", 5)), "journal alone",
        lambda session: merge_changes(6, ann("Rome", 3), session=session), "check",
    )  # fmt: skip

    assert (first.committed, second.committed) == (False, True)
    assert_rows(
        (1, "Oslo", 1, 3, False),
        (1, "Rome", 3, 5, False),
        (1, "Oslo", 5, None, True),
        columns="id, city",
    )
