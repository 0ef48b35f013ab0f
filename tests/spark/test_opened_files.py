"""What makes a merge fast, read from the files that it opens and from what it asks and writes."""

import pytest
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException

from lakekit.spark.late import events as late_facts
from tests.spark.people import ANN, BEN, TIMED
from tests.spark.physical_plans import files


def test_no_file_of_the_history_is_opened(load, rows, spark, table):
    """The files are gone, and nothing but a reading of the history notices.

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


def test_no_file_of_the_companion_is_opened_without_late_records(load, rows, spark, table):
    """The files are gone, and nothing but a late record notices."""

    def told(day, city, at=None):
        record = {**ANN, "city": city, "at": f"2026-01-{at or day:02}T00:00:00Z"}
        load(day, record, promise=TIMED, extract="changes")

    told(1, "Oslo")
    told(3, "Oslo")
    known = files(spark, f"{table}_facts.files")
    for file in known:
        file.unlink()

    told(5, "Rome")
    told(6, "Lima")

    assert known
    assert rows("id, city") == [
        (1, "Oslo", 1, 5, False), (1, "Rome", 5, 6, False), (1, "Lima", 6, None, True),
    ]  # fmt: skip
    with pytest.raises((PySparkException, Py4JJavaError)):
        told(8, "Bern", at=2)


def test_a_full_extract_that_changes_nothing_writes_nothing(load, spark, table):
    load(1, ANN, BEN)
    before = spark.table(f"{table}.metadata_log_entries").count()

    assert not load(2, ANN, BEN).committed

    assert spark.table(f"{table}.metadata_log_entries").count() == before


def test_a_full_extract_that_changes_nothing_is_told_to_the_companion_alone(load, spark, table):
    """Of the table a branch comes and goes meanwhile: metadata, but no snapshot."""
    record = {**ANN, "at": "2026-01-01T00:00:00Z"}

    def versions():
        names = (f"{table}.snapshots", f"{table}.metadata_log_entries", f"{table}_facts.snapshots")
        return [spark.table(name).count() for name in names]

    load(1, record, promise=TIMED)
    snapshots, metadata, told = versions()

    assert not load(2, record, promise=TIMED).committed

    assert versions() == [snapshots, metadata + 2, told + 1]


def test_a_late_change_asks_no_full_extract_before_it(load, rows, monkeypatch):
    asked, real = [], late_facts.full_extract_facts

    def full_extract_facts(*arguments):
        told = real(*arguments)
        asked.extend(row["__moment"].day for row in told.collect())
        return told

    monkeypatch.setattr(late_facts, "full_extract_facts", full_extract_facts)
    first = {**ANN, "at": "2026-01-01T00:00:00Z"}
    for day in (2, 3, 4, 10):
        load(day, first, promise=TIMED)

    late = {**first, "city": "Rome", "at": "2026-01-09T00:00:00Z"}
    load(11, late, extract="incremental", promise=TIMED)

    assert asked == [10]
    assert rows("city") == [("Oslo", 1, 9, False), ("Rome", 9, None, True)]


def test_late_changes_alone_are_one_commit_that_closes_and_one_that_opens(load, spark, table):
    first = {"id": 1, "name": "Ann", "city": "Oslo", "at": "2026-01-01T00:00:00Z"}
    last = {**first, "city": "Lima", "at": "2026-01-09T00:00:00Z"}
    load(10, first, last, extract="incremental", promise=TIMED)
    before = spark.table(f"{table}.snapshots").count()

    load(11, {**first, "city": "Rome", "at": "2026-01-05T00:00:00Z"}, extract="incremental",
         promise=TIMED)  # fmt: skip

    assert spark.table(f"{table}.snapshots").count() - before == 2
