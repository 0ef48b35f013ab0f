"""Spark compiles a plan to Java, which becomes fast over time: a later run finds it again."""

from itertools import pairwise

import pytest

from tests.spark.support.people import ANN, BEN, PEOPLE, REFUSED, TIMED
from tests.tiers import long


@pytest.fixture
def compiled(spark, planned_as_in_production):
    """How many classes Spark has generated and compiled so far."""
    metrics = spark._jvm.org.apache.spark.metrics.source.CodegenMetrics
    return lambda: metrics.METRIC_COMPILATION_TIME().getCount()


@pytest.mark.parametrize(
    ("contract", "extract", "questions"),
    # Two queries prune files by their time, which is in their code.
    [
        long(PEOPLE, "full", 0, id="by extraction time"),
        pytest.param(TIMED, "full", 2, id="exact"),
        long(REFUSED, "changes", 0, id="changes"),
    ],
)
def test_a_run_like_the_one_before_compiles_nothing(load, compiled, contract, extract, questions):
    counts = []

    for day in range(1, 7):
        ann = {**ANN, "city": f"Town {day}", "at": f"2026-01-0{day}T00:00:00Z"}
        ben = {**BEN, "at": "2026-01-01T00:00:00Z"}
        load(day, ann, ben, contract=contract, extract=extract)
        counts.append(compiled())

    assert counts[0] > 0
    # On a busy machine, planning again between the stages sometimes splits a run otherwise.
    assert min(after - before for before, after in pairwise(counts[2:])) == questions


@pytest.mark.long
def test_an_extract_with_skipped_lines_like_the_one_before_compiles_nothing(
    load, compiled, every_table_is_large
):
    people, counts = [{"id": n, "name": f"P{n}", "city": "Oslo"} for n in range(20)], []

    for day in range(1, 9):
        # From the fifth day on all lines are known.
        load(day, *people[:-1], {**people[-1], "city": f"Town {min(day, 5)}"})
        counts.append(compiled())

    assert counts[1] > counts[0] > 0
    assert counts[4] == counts[3]
    assert counts[-1] == counts[-2]
