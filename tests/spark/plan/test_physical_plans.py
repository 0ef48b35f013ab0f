"""Why a merge is fast: its physical plans."""

import re

import pytest
from pyspark.sql import DataFrame

from lakekit.spark.session.session import session_settings
from lakekit.sql.line_hash import DIGEST
from tests.spark.support.people import ANN, BEN, TIMED
from tests.spark.support.physical_plans import (
    assert_only_the_change_set_moves,
    files,
    scans,
    up_to,
    up_to_the_join,
)
from tests.spark.support.seams import captured_plans
from tests.tiers import long

NARROW = {"id", "_is_current", "_valid_from", "_row_hash"}


@pytest.fixture
def staged_plans(spark, monkeypatch):
    """The physical plans that stage change sets, complete; adaptive ones would not be yet."""
    plans = captured_plans(monkeypatch, lambda execution: execution.executedPlan().toString())
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
    """Spark itself would broadcast tables as small as these."""
    with session_settings(spark, {"spark.sql.autoBroadcastJoinThreshold": "-1"}):
        yield


@pytest.mark.parametrize("extract", ["full", long("incremental")])
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
    # Their keys are shuffled too, for the scan of the current versions; the table is not.
    whole, keys_alone = "REPARTITION_BY_COL", r"Exchange hashpartitioning\(id#\d+, 1\), ENSURE"
    assert len(re.findall(whole, plan)) == 1
    assert len(re.findall(keys_alone, plan)) == 1
    assert len(re.findall(r"Exchange (hash|Single)", plan)) == 2
    assert re.search(r"BroadcastHashJoin .* LeftOuter, BuildRight", plan)


@pytest.mark.usefixtures("every_full_extract_skips_lines", "nothing_is_sent_unasked")
def test_an_extract_with_skipped_lines_shuffles_only_rows_that_no_known_line_shows(
    load, table, staged_plans
):
    load(1, ANN, BEN)
    staged_plans.clear()

    load(2, {**ANN, "city": "Rome"}, BEN)

    (plan,) = staged_plans
    (columns,) = scans(plan, table)
    assert columns <= NARROW | {*DIGEST}
    way = [re.findall(r"[A-Z]\w+", line)[0] for line in up_to("Exchange", plan, table)]
    # Lists and keys are joined to the versions, and only the rest of these is shuffled.
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
    (columns,) = scans(plan, table)
    assert "city" in columns and not columns & {*DIGEST}


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
    """The journal is not read either: the files of both are deleted, and nothing fails."""

    def load_cities(day, *cities):
        records = [
            {**ANN, "city": city, "at": f"2026-01-{at:02}T00:00:00Z"}
            for at, city in enumerate(cities, start=day)
        ]
        load(day, *records, contract=TIMED, extract="changes")

    load_cities(1, "Oslo", "Rome", "Rome")
    closed = files(spark, f"{table}.files WHERE partition._is_current = false")
    known = files(spark, f"{table}_journal.files")
    for file in (*closed, *known):
        file.unlink()
    merge_plans.clear()

    load_cities(4, "Lima")

    (plan,) = merge_plans
    assert_only_the_change_set_moves(plan, table)
    assert (len(closed), len(known)) == (1, 1)
    assert spark.table(table).where("_is_current").select("city").collect() == [("Lima",)]


@pytest.mark.usefixtures("nothing_is_sent_unasked")
def test_a_change_set_too_large_for_one_worker_is_not_sent_to_all(load, rows, merge_plans, tuned):
    load(1, ANN, BEN)
    merge_plans.clear()
    tuned(most_broadcast=1)

    load(2, {**ANN, "city": "Rome"}, {**BEN, "city": "Bern"})

    (plan,) = merge_plans
    assert "BroadcastHashJoin" not in plan
    assert [row[2:] for row in rows()] == [
        ("Oslo", 1, 2, False), ("Rome", 2, None, True),
        ("Bonn", 1, 2, False), ("Bern", 2, None, True),
    ]  # fmt: skip
