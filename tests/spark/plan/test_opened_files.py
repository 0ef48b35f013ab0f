"""Why a merge is fast: the files that it opens, its questions and what it writes."""

import pytest
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException

from tests.spark.support.people import ANN, BEN, TIMED
from tests.spark.support.physical_plans import files
from tests.spark.support.seams import around


def test_no_file_of_the_history_is_opened(load, rows, spark, table):
    """The files are deleted, and only a query of the whole history fails.

    iceberg #3607, #7514, #13768: a MERGE scans all of its target.
    """
    load(1, ANN, BEN)
    load(2, {**ANN, "city": "Rome"}, {**BEN, "city": "Bern"})
    closed = files(spark, f"{table}.files WHERE partition._is_current = false")
    for file in closed:
        file.unlink()

    load(3, {**ANN, "city": "Lima"}, BEN)
    load(4, {**ANN, "city": "Oslo"}, extract="incremental")
    load(5, {**ANN, "city": "Oslo"})

    assert closed
    current = spark.table(table).where("_is_current").select("id", "city").collect()
    assert current == [(1, "Oslo")]
    with pytest.raises((PySparkException, Py4JJavaError)):
        rows()


def test_no_file_of_the_journal_is_opened_without_late_records(load, assert_rows, spark, table):
    """The files are deleted, and only a late record fails."""

    def load_city(day, city, at=None):
        record = {**ANN, "city": city, "at": f"2026-01-{at or day:02}T00:00:00Z"}
        load(day, record, contract=TIMED, extract="changes")

    load_city(1, "Oslo")
    load_city(3, "Oslo")
    known = files(spark, f"{table}_journal.files")
    for file in known:
        file.unlink()

    load_city(5, "Rome")
    load_city(6, "Lima")

    assert known
    assert_rows(
        (1, "Oslo", 1, 5, False),
        (1, "Rome", 5, 6, False),
        (1, "Lima", 6, None, True),
        columns="id, city",
    )
    with pytest.raises((PySparkException, Py4JJavaError)):
        load_city(8, "Bern", at=2)


def test_a_full_extract_that_changes_nothing_writes_nothing(load, spark, table):
    load(1, ANN, BEN)
    before = spark.table(f"{table}.metadata_log_entries").count()

    assert not load(2, ANN, BEN).committed

    assert spark.table(f"{table}.metadata_log_entries").count() == before


@pytest.mark.long
def test_a_full_extract_that_changes_nothing_is_written_to_the_journal_alone(load, spark, table):
    """A branch of the table comes and goes meanwhile: metadata, but no snapshot."""
    record = {**ANN, "at": "2026-01-01T00:00:00Z"}

    def versions():
        names = (
            f"{table}.snapshots",
            f"{table}.metadata_log_entries",
            f"{table}_journal.snapshots",
        )
        return [spark.table(name).count() for name in names]

    load(1, record, contract=TIMED)
    snapshots, metadata, journal = versions()

    assert not load(2, record, contract=TIMED).committed

    assert versions() == [snapshots, metadata + 2, journal + 1]


@pytest.mark.long
def test_a_late_change_asks_no_full_extract_before_it(load, assert_rows, monkeypatch):
    asked = []

    def full_extract_events(real, *arguments):
        found = real(*arguments)
        asked.extend(row["__event_time"].day for row in found.collect())
        return found

    around(monkeypatch, "full extracts", full_extract_events)
    first = {**ANN, "at": "2026-01-01T00:00:00Z"}
    for day in (2, 3, 4, 10):
        load(day, first, contract=TIMED)

    late = {**first, "city": "Rome", "at": "2026-01-09T00:00:00Z"}
    load(11, late, extract="incremental", contract=TIMED)

    assert asked == [10]
    assert_rows(("Oslo", 1, 9, False), ("Rome", 9, None, True), columns="city")


def test_late_changes_alone_are_one_commit_that_closes_and_one_that_opens(load, spark, table):
    first = {"id": 1, "name": "Ann", "city": "Oslo", "at": "2026-01-01T00:00:00Z"}
    last = {**first, "city": "Lima", "at": "2026-01-09T00:00:00Z"}
    load(10, first, last, extract="incremental", contract=TIMED)
    before = spark.table(f"{table}.snapshots").count()

    load(11, {**first, "city": "Rome", "at": "2026-01-05T00:00:00Z"}, extract="incremental",
         contract=TIMED)  # fmt: skip

    assert spark.table(f"{table}.snapshots").count() - before == 2
