"""Two runs that overlap: the second begins before the first has ended, and ends after it."""

import json
import threading
from datetime import UTC, datetime

import pytest
from pyspark import inheritable_thread_target

from lakekit.batch import Batch
from lakekit.spark.merge_scd2 import merge_scd2
from lakekit.spark.session import tuning as small
from tests.spark.people import SILENT
from tests.spark.phases import ann, at_the_end_of

PATIENCE = 120


@pytest.fixture
def told(spark, table, tmp_path):
    """Merge changes as one run; one that says what is known is told to the companion alone."""

    def tell(day, *records, session=spark):
        file = tmp_path / f"{day}.ndjson"
        file.write_text("".join(json.dumps(record) + "\n" for record in records))
        batch = Batch(
            run_id=f"run-{day}",
            extract="changes",
            extraction_time=datetime(2026, 1, day, tzinfo=UTC),
            files=(str(file),),
        )
        return merge_scd2(session, SILENT, batch, table, staging=(tmp_path / f"s{day}").as_uri())

    return tell


@pytest.fixture
def overlapping(spark, monkeypatch):
    """Begin a second run at the end of a phase of the first; it waits, in one, until that ends."""
    session, done = spark.newSession(), {}
    for name, value in small.INTERPRETED.items():
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


def test_a_run_that_has_ended_since_the_other_was_planned_is_not_missed(told, overlapping, rows):
    """It moved no main, and what it has told was not read, as it was under way.

    That Oslo was said again at 5 shows in no version, until Rome at 3 comes between.
    """
    told(1, ann("Oslo", 1))

    first, second = overlapping(
        lambda: told(5, ann("Oslo", 5)), "told",
        lambda session: told(6, ann("Rome", 3), session=session), "check",
    )  # fmt: skip

    assert (first.committed, second.committed) == (False, True)
    assert rows("id, city") == [
        (1, "Oslo", 1, 3, False),
        (1, "Rome", 3, 5, False),
        (1, "Oslo", 5, None, True),
    ]
