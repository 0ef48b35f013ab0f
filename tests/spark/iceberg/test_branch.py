"""The same run in two processes at once: its lease has expired, or its execution was aborted.

Both work on one branch. One of them gets ahead, and nothing is on main twice.
"""

import json
import threading
from datetime import UTC, datetime

import pytest
from pyspark import inheritable_thread_target

from lakekit.batch import Batch
from lakekit.errors import CommitConflictError
from lakekit.layout import branch_name
from lakekit.spark.iceberg.branch import abandon_branch, drop_branch, open_branch, work_branch
from lakekit.spark.iceberg.table import load_table, main_snapshot
from lakekit.spark.merge_scd2 import merge_scd2
from lakekit.spark.schema.create_tables import create_or_evolve
from tests.spark.support.people import ANN, BEN, MOVED, PEOPLE, SILENT, people
from tests.spark.support.seams import around
from tests.tiers import long

APPENDED = people(mode="append", keys=[])
DELETING = people(sequence_by="at", apply_as_deletes="name = 'deleted'")
TIMED_ANN = {**ANN, "at": "2026-01-01T00:00:00Z"}


class Meeting:
    """A meeting of the two processes, once at each place."""

    def __init__(self):
        self._barrier = threading.Barrier(2, timeout=30)
        self._seen = threading.local()

    def at(self, place):
        if not hasattr(self._seen, place):
            setattr(self._seen, place, True)
            self._barrier.wait()


@pytest.fixture
def twins(spark, table, tmp_path, monkeypatch):
    """Merge one batch twice at once: both begin the branch before either writes or publishes."""
    meeting = Meeting()

    def together(write, *arguments):
        meeting.at("begun")
        try:
            return write(*arguments)
        finally:
            meeting.at("written")

    def merge(contract, day, *records, extract):
        around(monkeypatch, "write", together)
        file = tmp_path / "twins.ndjson"
        file.write_text("".join(json.dumps(record) + "\n" for record in records))
        batch = Batch(
            run_id="twin",
            extract=extract,
            extraction_time=datetime(2026, 1, day, tzinfo=UTC),
            files=(str(file),),
        )
        done = {}

        def go(number):
            # As in two processes of one run.
            staging = (tmp_path / "s").as_uri()
            try:
                session = spark.newSession()
                done[number] = merge_scd2(session, contract, batch, table, staging=staging)
            except CommitConflictError as error:
                done[number] = error

        threads = [
            threading.Thread(target=inheritable_thread_target(go), args=(n,)) for n in range(2)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return done

    return merge


def results_of(done):
    assert len(done) == 2
    return [each for each in done.values() if not isinstance(each, CommitConflictError)]


@pytest.mark.parametrize("few", [8 << 20, long(-1)])
def test_versions_are_closed_and_opened_once(load, assert_rows, twins, tuned, few):
    tuned(few_bytes=few)
    load(1, ANN, BEN)

    done = twins(PEOPLE, 2, {**ANN, "city": "Rome"}, BEN, extract="full")

    assert_rows(*MOVED)
    assert sum(each.committed for each in results_of(done)) == 1


def test_records_are_appended_once(load, spark, table, twins):
    load(1, ANN, contract=APPENDED, extract="incremental")

    done = twins(APPENDED, 2, BEN, extract="incremental")

    assert sorted(row[0] for row in spark.sql(f"SELECT id FROM {table}").collect()) == [1, 2]
    assert sum(each.committed for each in results_of(done)) == 1


def test_an_attempt_that_gives_up_takes_nothing_from_the_other_process(spark, table, load):
    """Otherwise its journal entries would count, though its rows were lost."""
    load(1, ANN)
    head, own = main_snapshot(spark, table), branch_name("twin")
    first, second = work_branch(own), work_branch(own)
    for work in (first, second):
        open_branch(spark, table, own, head, work)

    abandon_branch(spark, table, own, first, recorded=False)
    assert {*load_table(spark, table).refs()} == {"main", own, second}
    abandon_branch(spark, table, own, second, recorded=False)
    assert {*load_table(spark, table).refs()} == {"main"}


def test_a_process_that_only_writes_the_journal_keeps_the_branch_when_the_other_gives_up(
    load, spark, table, monkeypatch
):
    """Without the branch its journal entries would count before it has ended."""
    load(1, TIMED_ANN, contract=SILENT, extract="incremental")
    own, seen = branch_name("twin"), []

    def record_after_other(record, *arguments):
        abandon_branch(spark, table, own, work_branch(own), recorded=False)
        seen.append(own in load_table(spark, table).refs())
        return record(*arguments)

    around(monkeypatch, "record", record_after_other)
    again = {**TIMED_ANN, "at": "2026-01-05T00:00:00Z"}

    load(5, again, contract=SILENT, extract="incremental", run_id="twin")

    assert seen == [True]
    assert {*load_table(spark, table).refs()} == {"main"}


@pytest.mark.long
def test_a_branch_of_an_empty_table_that_the_other_process_drops_is_opened_again(
    spark, table, monkeypatch
):
    create_or_evolve(spark, PEOPLE, table)
    own = branch_name("twin")

    def committed(commit, change):
        done = commit(change)
        monkeypatch.undo()
        drop_branch(spark, table, f"new_{own}")
        return done

    around(monkeypatch, "commit branch", committed)

    assert not open_branch(spark, table, own, None)
    assert open_branch(spark, table, own, None)


@pytest.mark.long
def test_a_version_that_is_closed_at_once_is_there_once(load, assert_rows, twins):
    def person(number, name, day):
        return {"id": number, "name": name, "at": f"2026-01-{day:02}T00:00:00Z"}

    load(1, person(1, "Ann", 1), contract=DELETING, extract="changes")

    done = twins(DELETING, 4, person(2, "Ben", 2), person(2, "deleted", 3), extract="changes")

    assert_rows((1, "Ann", 1, None, True), (2, "Ben", 2, 3, False), columns="id, name")
    assert sum(each.committed for each in results_of(done)) == 1
