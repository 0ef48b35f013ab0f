"""What makes a merge fast, read from its physical plans and from the files that it opens."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from lakekit.spark import context, late_facts, stage
from lakekit.spark.session import session_settings
from lakekit.sql.line_hash import DIGEST
from tests.spark.people import ANN, BEN, TIMED

NARROW = {"id", "_is_current", "_valid_from", "_row_hash"}


def scans(plan: str, table: str) -> list[set[str]]:
    """Return the columns of each scan of a table."""
    found = re.findall(rf"BatchScan {re.escape(table)}\[([^\]]*)\]", plan)
    return [{column.partition("#")[0].strip() for column in each.split(",")} for each in found]


def up_to_the_join(plan: str, table: str) -> Iterator[str]:
    """Yield the operators above the scan of a table, up to the first join."""
    return up_to("Join", plan, table)


def up_to(last: str, plan: str, table: str) -> Iterator[str]:
    """Yield the operators above the scan of a table, up to the first of a kind."""
    lines = plan.splitlines()
    (start,) = (n for n, line in enumerate(lines) if f"BatchScan {table}[" in line)
    depth = _depth(lines[start])
    for line in reversed(lines[:start]):
        if _depth(line) < depth:
            depth = _depth(line)
            yield line
            if last in line:
                return
    raise AssertionError(f"no {last} above the scan in {plan}")


def _depth(line: str) -> int:
    found = re.search(r"[A-Za-z]", re.sub(r"\(\d+\)", lambda m: " " * len(m.group()), line))
    return found.start() if found else len(line)


def assert_only_the_change_set_moves(plan: str, table: str) -> None:
    """Hold a MERGE to it that up to the join, nothing of its target is shuffled or sorted."""
    way = list(up_to_the_join(plan, table))
    assert "BroadcastHashJoin" in way[-1]
    assert not [line for line in way if "Exchange" in line or "Sort" in line]


def files(spark: SparkSession, listing: str) -> list[Path]:
    """Return the files that a table of metadata lists."""
    rows = spark.sql(f"SELECT file_path FROM {listing}").collect()
    return [Path(row["file_path"].removeprefix("file:")) for row in rows]


@pytest.fixture
def staged_plans(spark, monkeypatch):
    """The physical plans by which change sets are staged, whole: an adaptive one is not yet."""
    plans, real = [], stage.order.select_staged

    def select_staged(resolved, contract):
        frame = real(resolved, contract)
        plans.append(frame._jdf.queryExecution().executedPlan().toString())
        return frame

    monkeypatch.setattr(stage.order, "select_staged", select_staged)
    with session_settings(spark, {"spark.sql.adaptive.enabled": "false"}):
        yield plans


@pytest.fixture
def merge_plans(spark, monkeypatch):
    """The physical plans of MERGE statements."""
    plans, real = [], type(spark).sql

    def sql(self, text, *arguments, **options):
        if text.startswith("MERGE INTO"):
            plans.append(real(self, f"EXPLAIN {text}").first()[0])
        return real(self, text, *arguments, **options)

    monkeypatch.setattr(type(spark), "sql", sql)
    return plans


@pytest.fixture
def nothing_is_sent_unasked(spark):
    """Tables as small as these Spark would send to every worker by itself."""
    with session_settings(spark, {"spark.sql.autoBroadcastJoinThreshold": "-1"}):
        yield


@pytest.mark.parametrize("extract", ["full", "incremental"])
def test_the_table_is_scanned_narrow_and_vectorised(load, table, staged_plans, extract):
    load(1, ANN, BEN)
    staged_plans.clear()

    load(2, {**ANN, "city": "Rome"}, BEN, extract=extract)

    (plan,) = staged_plans
    (columns,) = scans(plan, table)
    assert columns <= NARROW
    assert "_is_current = true" in plan
    assert "ColumnarToRow" in next(up_to_the_join(plan, table))


@pytest.mark.usefixtures("nothing_is_sent_unasked")
def test_the_records_of_a_small_batch_are_shuffled_once(load, staged_plans):
    load(1, ANN, BEN)
    staged_plans.clear()

    load(2, {**ANN, "city": "Rome"}, extract="incremental")

    (plan,) = staged_plans
    # Their keys are too, for the scan of the current versions; of the table nothing is.
    whole, keys_alone = "REPARTITION_BY_COL", r"Exchange hashpartitioning\(id#\d+, 1\), ENSURE"
    assert len(re.findall(whole, plan)) == 1
    assert len(re.findall(keys_alone, plan)) == 1
    assert len(re.findall(r"Exchange (hash|Single)", plan)) == 2
    assert re.search(r"BroadcastHashJoin .* LeftOuter, BuildRight", plan)


@pytest.mark.usefixtures("every_full_extract_is_sifted", "nothing_is_sent_unasked")
def test_of_the_table_a_sifted_extract_shuffles_only_what_no_known_line_shows(
    load, table, staged_plans
):
    load(1, ANN, BEN)
    staged_plans.clear()

    load(2, {**ANN, "city": "Rome"}, BEN)

    (plan,) = staged_plans
    (columns,) = scans(plan, table)
    assert columns <= NARROW | {*DIGEST}
    way = [re.findall(r"[A-Z]\w+", line)[0] for line in up_to("Exchange", plan, table)]
    # Lists and keys come to the versions, and what they leave of these is shuffled.
    assert [step for step in way if step != "Project"] == [
        "ColumnarToRow", "BroadcastHashJoin", "BroadcastHashJoin", "CollectMetrics", "Filter",
        "Exchange",
    ]  # fmt: skip


@pytest.mark.usefixtures("nothing_is_sent_unasked")
def test_closing_versions_shuffles_nothing_of_the_table(load, table, merge_plans):
    """iceberg #7832: a MERGE sorts all of its target."""
    load(1, ANN, BEN)
    merge_plans.clear()

    load(2, {**ANN, "city": "Rome"}, BEN)

    (plan,) = merge_plans
    assert_only_the_change_set_moves(plan, table)


@pytest.mark.usefixtures("nothing_is_sent_unasked")
def test_the_check_of_a_branch_shuffles_nothing_of_the_table(load, table, monkeypatch):
    plans, real = [], DataFrame.first

    def first(self):
        if self.columns == ["keys", "most"]:
            plans.append(self._jdf.queryExecution().executedPlan().toString())
        return real(self)

    load(1, ANN, BEN)
    monkeypatch.setattr(DataFrame, "first", first)

    load(2, {**ANN, "city": "Rome"}, BEN)

    (plan,) = plans
    assert_only_the_change_set_moves(plan, table)


@pytest.mark.usefixtures("nothing_is_sent_unasked")
def test_without_late_records_nothing_of_the_history_is_shuffled_or_opened(
    load, spark, table, merge_plans
):
    """Nor is anything of the companion: the files of both are gone, and nothing notices."""

    def told(day, *cities):
        records = [
            {**ANN, "city": city, "at": f"2026-01-{at:02}T00:00:00Z"}
            for at, city in enumerate(cities, start=day)
        ]
        load(day, *records, promise=TIMED, extract="changes")

    told(1, "Oslo", "Rome", "Rome")
    closed = files(spark, f"{table}.files WHERE partition._is_current = false")
    known = files(spark, f"{table}_facts.files")
    for file in (*closed, *known):
        file.unlink()
    merge_plans.clear()

    told(4, "Lima")

    (plan,) = merge_plans
    assert_only_the_change_set_moves(plan, table)
    assert (len(closed), len(known)) == (1, 1)
    assert spark.table(table).where("_is_current").select("city").collect() == [("Lima",)]


@pytest.mark.usefixtures("nothing_is_sent_unasked")
def test_a_change_set_too_large_for_one_worker_is_not_sent_to_all(
    load, rows, merge_plans, monkeypatch
):
    load(1, ANN, BEN)
    merge_plans.clear()
    monkeypatch.setattr(context, "MOST_SENT", 1)

    load(2, {**ANN, "city": "Rome"}, {**BEN, "city": "Bern"})

    (plan,) = merge_plans
    assert "BroadcastHashJoin" not in plan
    assert [row[2:] for row in rows()] == [
        ("Oslo", 1, 2, False), ("Rome", 2, None, True),
        ("Bonn", 1, 2, False), ("Bern", 2, None, True),
    ]  # fmt: skip


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
