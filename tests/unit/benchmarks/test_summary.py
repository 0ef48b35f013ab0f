"""Medians, ratios and the table of a report."""

import pytest

from benchmarks.summary import across, markdown, summarise
from benchmarks.workloads import shape
from tests.unit.benchmarks.kit import MACHINE, MODEL, contestant, measurement, swept


def test_the_median_leaves_the_warm_up_out():
    found = summarise(measurement(lakekit=contestant(90, 3, 1, 2)))

    assert found["contestants"]["lakekit"]["seconds"] == 2
    assert found["contestants"]["lakekit"]["all_runs"] == [90, 3, 1, 2]


def test_as_many_batches_warm_up_as_the_workload_says():
    found = swept(shape(10, 1, 0.1, "full", warm_up=2), lakekit=contestant(90, 30, 1, 2, 3))

    assert found["contestants"]["lakekit"]["seconds"] == 2
    assert found["contestants"]["lakekit"]["timed_runs"] == [1, 2, 3]


def test_ratios_are_to_lakekit_and_to_the_floor():
    found = summarise(
        measurement(
            lakekit=contestant(9, 2, written=30, read=12),
            floor=contestant(9, 1, written=20, read=10),
            article_cow=contestant(9, 10),
        )
    )["contestants"]

    assert found["article_cow"]["ratio_to_lakekit"] == 5
    assert found["article_cow"]["ratio_to_floor"] == 10
    assert found["lakekit"]["written_to_floor"] == 1.5
    assert found["lakekit"]["read_to_floor"] == 1.2
    assert found["floor"]["read_to_floor"] == 1


def test_without_the_floor_no_ratio_to_it_is_claimed():
    found = summarise(measurement(lakekit=contestant(9, 2)))

    assert "ratio_to_floor" not in found["contestants"]["lakekit"]


def test_an_absent_and_a_failed_contestant_stay_in_the_report_with_their_reasons():
    measured = measurement(
        lakekit=contestant(9, 2),
        mack={"absent": "its packages cannot be installed"},
        dbt={"about": "", "runs": [], "error": "run: no answer"},
    )

    text = markdown({"machine": MACHINE, "workloads": [summarise(measured)]})

    assert "| mack | absent |" in text
    assert "- mack: its packages cannot be installed" in text
    assert "| dbt | failed |" in text
    assert "- dbt: run: no answer" in text


def test_a_wrong_result_is_shown_next_to_its_time():
    measured = measurement(sqlmesh=contestant(9, 2, correct=False))

    text = markdown({"machine": MACHINE, "workloads": [summarise(measured)]})

    assert "**no**" in text
    assert "3 unexpected" in text
    assert "{'city': 3}" in text


def test_a_contestant_of_another_kind_is_marked_as_apart():
    measured = measurement(dlt_duckdb=contestant(9, 2) | {"apart": True})

    text = markdown({"machine": MACHINE, "workloads": [summarise(measured)]})

    assert "| dlt_duckdb (apart) |" in text
    assert "another kind of engine" in text


def test_the_ratios_of_bytes_are_next_to_them_in_the_table():
    mega = 1_000_000
    measured = measurement(
        lakekit=contestant(9, 2, read=12 * mega, written=30 * mega),
        floor=contestant(9, 1, read=10 * mega, written=20 * mega),
    )

    text = markdown({"machine": MACHINE, "workloads": [summarise(measured)]})

    assert "| read MB | / floor | written MB | / floor |" in text
    assert "| 12.0 | 1.20 | 30.0 | 1.50 |" in text


def test_the_cells_of_every_row_are_as_many_as_those_of_the_head():
    measured = measurement(
        lakekit=contestant(9, 2), mack={"absent": "no"}, dbt={"runs": [], "error": "no answer"}
    )

    text = markdown({"machine": MACHINE, "workloads": [summarise(measured)]})

    assert len({line.count("|") for line in text.splitlines() if line.startswith("|")}) == 1


def test_what_the_model_says_of_the_expectation_is_shown():
    part = summarise(measurement(lakekit=contestant(9, 2)))
    texts = [
        markdown({"machine": MACHINE, "workloads": [{**part, MODEL: agrees}]})
        for agrees in (True, False, None)
    ]

    assert "The expected table agrees with the independent model." in texts[0]
    assert "The expected table DISAGREES with the independent model." in texts[1]
    assert "model" not in texts[2]


@pytest.mark.parametrize("extract", ["full", "incremental"])
def test_most_versions_are_shown_as_a_ratio_to_none(extract):
    found = across(
        [
            swept(shape(500, 0, 0.01, extract), lakekit=contestant(9, 2), dbt=contestant(9, 4)),
            swept(shape(500, 4, 0.01, extract), lakekit=contestant(9, 9), dbt=contestant(9, 9)),
            swept(shape(500, 9, 0.01, extract), lakekit=contestant(9, 3), dbt=contestant(9, 8)),
        ]
    )

    assert [each["what"] for each in found] == ["9 / 0 closed versions"]
    assert found[0]["ratios"] == {"lakekit": 1.5, "dbt": 2}


@pytest.mark.parametrize("extract", ["full", "incremental"])
def test_an_unchanged_extract_is_shown_as_a_ratio_to_a_changed_one(extract):
    found = across(
        [
            swept(shape(500, 4, 0.0, extract), lakekit=contestant(9, 1)),
            swept(shape(500, 4, 0.01, extract), lakekit=contestant(9, 4)),
        ]
    )

    assert [(each["what"], each["ratios"]) for each in found] == [
        ("unchanged / 1 % changed", {"lakekit": 0.25})
    ]


@pytest.mark.parametrize(
    "other",
    [
        shape(900, 0, 0.01, "full"),
        shape(500, 0, 0.01, "incremental"),
        shape(500, 0, 0.01, "full", key_type="string"),
        shape(500, 0, 0.1, "full"),
    ],
)
def test_workloads_that_differ_in_more_are_not_shown_as_a_ratio(other):
    one = swept(shape(500, 9, 0.01, "full"), lakekit=contestant(9, 1))

    assert across([one, swept(other, lakekit=contestant(9, 1))]) == []


def test_the_ratios_of_workloads_are_a_table_and_who_failed_has_none():
    failed = {"runs": [], "error": "run: no answer"}
    none = swept(shape(500, 0, 0.01, "full"), lakekit=contestant(9, 2), dbt=contestant(9, 1))
    most = swept(shape(500, 9, 0.01, "full"), lakekit=contestant(9, 3), dbt=failed)
    ratios = across([none, most])

    text = markdown({"machine": MACHINE, "workloads": [none, most], "across": ratios})

    assert "| ratio of the seconds | of | lakekit |" in text
    assert f"| 9 / 0 closed versions | {most['workload']} | 1.50 |" in text


def test_who_did_which_stage_of_a_cluster_is_a_table():
    stages = [
        {"stage": 3, "name": "a|b", "tasks": {"0": 4, "1": 2}, "seconds": {"0": 1.5, "1": 0.25}},
        {"stage": 5, "name": "c", "tasks": {"1": 1}, "seconds": {"1": 2.0}},
    ]
    others = {"cluster": {"text": "It merged.", "stages": stages}}

    text = markdown({"machine": MACHINE, "workloads": [], "others": others})

    assert "| stage | what | tasks of 0 | seconds of 0 | tasks of 1 | seconds of 1 |" in text
    assert "| 3 | a\\|b | 4 | 1.50 | 2 | 0.25 |" in text
    assert "| 5 | c | 0 | 0.00 | 1 | 2.00 |" in text
