"""The same run in two processes at once: its lease has expired, or its execution was aborted.

Both work on one branch; one of them gets ahead, and nothing is on main twice.
"""

import json
import threading
from datetime import UTC, datetime

import pytest
from pyspark import inheritable_thread_target

from lakekit.batch import Batch
from lakekit.contract.contract import load_contract
from lakekit.errors import CommitConflictError
from lakekit.layout import branch_name
from lakekit.spark.iceberg import branch
from lakekit.spark.iceberg.branch import drop_branch, give_up, open_branch, work_of
from lakekit.spark.iceberg.table import load_table, main_snapshot
from lakekit.spark.journal import Facts
from lakekit.spark.merge_scd2 import merge_scd2
from lakekit.spark.schema.create_tables import create_or_evolve
from lakekit.spark.session import tuning as small
from lakekit.spark.write import publish
from tests.spark.people import ANN, BEN, CONTRACT, MOVED, SILENT, TIMED_TEXT

APPENDED = load_contract(CONTRACT.replace("keys: [id], max_deleted_ratio: 1", "mode: append"))
DELETING = load_contract(
    TIMED_TEXT.replace("keys: [id]", "keys: [id], apply_as_deletes: \"name = 'gone'\"")
)
TOLD = {**ANN, "at": "2026-01-01T00:00:00Z"}


class Meeting:
    """Where the two wait for each other, once each at a place."""

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
    meeting, write = Meeting(), publish.write

    def together(*arguments):
        meeting.at("begun")
        try:
            return write(*arguments)
        finally:
            meeting.at("written")

    def merge(contract, day, *records, extract):
        monkeypatch.setattr(publish, "write", together)
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
            # As two processes of one run have it.
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


@pytest.mark.parametrize("few", [8 << 20, -1])
def test_versions_are_closed_and_opened_once(load, rows, twins, monkeypatch, few):
    monkeypatch.setattr(small, "FEW_BYTES", few)
    load(1, ANN, BEN)

    done = twins(load_contract(CONTRACT), 2, {**ANN, "city": "Rome"}, BEN, extract="full")

    assert rows() == MOVED
    assert sum(each.committed for each in results_of(done)) == 1


def test_records_are_appended_once(load, spark, table, twins):
    load(1, ANN, promise=APPENDED, extract="incremental")

    done = twins(APPENDED, 2, BEN, extract="incremental")

    assert sorted(row[0] for row in spark.sql(f"SELECT id FROM {table}").collect()) == [1, 2]
    assert sum(each.committed for each in results_of(done)) == 1


def test_an_attempt_that_gives_up_takes_nothing_from_the_other_process(spark, table, load):
    """What that has told would count, though what it writes was lost."""
    load(1, ANN)
    head, own = main_snapshot(spark, table), branch_name("twin")
    first, second = work_of(own), work_of(own)
    for work in (first, second):
        open_branch(spark, table, own, head, work)

    give_up(spark, table, own, first, told=False)
    assert {*load_table(spark, table).refs()} == {"main", own, second}
    give_up(spark, table, own, second, told=False)
    assert {*load_table(spark, table).refs()} == {"main"}


def test_a_process_that_only_tells_keeps_the_branch_when_the_other_gives_up(
    load, spark, table, monkeypatch
):
    """Without it what it tells would count before it ends."""
    load(1, TOLD, promise=SILENT, extract="incremental")
    own, remember, seen = branch_name("twin"), Facts.remember, []

    def told(*arguments):
        give_up(spark, table, own, work_of(own), told=False)
        seen.append(own in load_table(spark, table).refs())
        return remember(*arguments)

    monkeypatch.setattr(Facts, "remember", told)
    again = {**TOLD, "at": "2026-01-05T00:00:00Z"}

    load(5, again, promise=SILENT, extract="incremental", run_id="twin")

    assert seen == [True]
    assert {*load_table(spark, table).refs()} == {"main"}


def test_a_branch_of_an_empty_table_that_the_other_process_drops_is_begun_anew(
    spark, table, monkeypatch
):
    create_or_evolve(spark, load_contract(CONTRACT), table)
    own, commit = branch_name("twin"), branch.committed

    def committed(change):
        done = commit(change)
        monkeypatch.undo()
        drop_branch(spark, table, f"new_{own}")
        return done

    monkeypatch.setattr(branch, "committed", committed)

    assert not open_branch(spark, table, own, None)
    assert open_branch(spark, table, own, None)


def test_a_version_that_is_closed_at_once_is_there_once(load, rows, twins):
    def told(number, name, day):
        return {"id": number, "name": name, "at": f"2026-01-{day:02}T00:00:00Z"}

    load(1, told(1, "Ann", 1), promise=DELETING, extract="changes")

    done = twins(DELETING, 4, told(2, "Ben", 2), told(2, "gone", 3), extract="changes")

    assert rows("id, name") == [(1, "Ann", 1, None, True), (2, "Ben", 2, 3, False)]
    assert sum(each.committed for each in results_of(done)) == 1
