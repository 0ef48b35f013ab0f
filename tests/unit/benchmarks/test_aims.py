"""The aims, and what a run has measured."""

import pytest

from benchmarks.aims import LARGE, LONG, judged, table


def _summary(workload, **contestants):
    part = {"workload": workload, "contestants": contestants}
    return {"workloads": [part], "across": [], "others": {}}


def _across(what, workload, ratio):
    ratios = {"lakekit": ratio, "article_mor": 9.0}
    return {
        "workloads": [],
        "across": [{"what": what, "of": workload, "to": LARGE} | {"ratios": ratios}],
    }


@pytest.mark.parametrize(
    ("workload", "name", "ratio", "met"),
    [
        (LARGE, "article_mor", 5.0, True),
        (LARGE, "article_cow", 4.99, False),
        (LARGE, "sqlmesh", 9.9, False),
        (LARGE, "mack", 10.1, True),
        (LONG, "article_mor", 9.9, False),
        (LONG, "article_cow", 10.0, True),
    ],
)
def test_another_contestant_takes_so_many_times_as_long(workload, name, ratio, met):
    (aim,) = judged(_summary(workload, **{name: {"ratio_to_lakekit": ratio}}))

    assert (aim["what"], aim["measured"], aim["met"]) == (f"{name} / lakekit", ratio, met)


def test_lakekit_takes_and_writes_so_much_more_than_the_floor_at_most():
    found = judged(_summary(LARGE, lakekit={"ratio_to_floor": 1.31, "written_to_floor": 1.5}))

    assert [(aim["bound"], aim["met"]) for aim in found] == [(1.3, False), (1.5, True)]


def test_without_its_contestants_an_aim_is_not_judged():
    failed = {"error": "out of memory"}

    assert judged(_summary(LARGE, dbt=failed, lakekit={})) == []


@pytest.mark.parametrize("keys", ["50 k", "2.5 M", "20 M"])
def test_aims_are_for_the_large_size_only(keys):
    other = LARGE.replace("2 M", keys)
    faster = {"article_mor": {"ratio_to_lakekit": 9.0}}

    assert judged(_summary(other, **faster)) == []
    assert judged(_across("unchanged / 1 % changed", other, 0.4)) == []


@pytest.mark.parametrize(
    ("what", "ratio", "met"),
    [
        ("9 / 0 closed versions", 1.09, True),
        ("9 / 0 closed versions", 1.2, False),
        ("unchanged / 1 % changed", 0.5, True),
        ("unchanged / 1 % changed", 0.51, False),
    ],
)
def test_one_workload_takes_so_much_of_another_at_most(what, ratio, met):
    (aim,) = judged(_across(what, LARGE, ratio))

    assert (aim["measured"], aim["met"]) == (ratio, met)


def test_small_tables_take_a_fifth_of_the_time_in_one_job():
    (aim,) = judged({"workloads": [], "others": {"small": {"ratio": 0.147}}})

    assert aim["met"]


@pytest.mark.parametrize(("ratio", "met"), [(8.5, True), (7.9, False)])
def test_a_cold_read_takes_an_eighth_of_sparks_time_at_most(ratio, met):
    (aim,) = judged({"workloads": [], "others": {"cold-reads": {"ratio": ratio}}})

    assert aim["met"] is met


def test_the_table_says_what_is_missed_and_what_the_floor_would_reach():
    text = table(
        judged(_summary(LONG, article_mor={"ratio_to_lakekit": 1.7, "ratio_to_floor": 5.7}))
    )

    assert text[-1] == f"| article_mor / lakekit | {LONG} | ≥ 10 | 1.70 | 5.70 | **no** |"
