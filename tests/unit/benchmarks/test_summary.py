"""Medians, ratios and the table of a report."""

from benchmarks.summary import markdown, summarise

MACHINE = {"text": "two cores"}


def _run(seconds, written=10):
    return {
        "seconds": seconds, "read": 5, "written": written, "new_files": 1, "new_bytes": 9,
        "peak_rss": 7_000_000,
    }  # fmt: skip


def _measured(**contestants):
    return {"workload": "w", "contestants": contestants}


def _contestant(*seconds, correct=True, written=10):
    verdict = {"correct": correct, "missing": 0, "unexpected": 3, "columns": {"city": 3}}
    runs = [_run(s, written) for s in seconds]
    return {"about": "", "runs": runs, "files": {"data": 2}, "verdict": verdict}


def test_the_median_leaves_the_warm_up_out():
    found = summarise(_measured(lakekit=_contestant(90, 3, 1, 2)))

    assert found["contestants"]["lakekit"]["seconds"] == 2
    assert found["contestants"]["lakekit"]["all_runs"] == [90, 3, 1, 2]


def test_ratios_are_to_lakekit_and_to_the_floor():
    found = summarise(
        _measured(
            lakekit=_contestant(9, 2, written=30),
            floor=_contestant(9, 1, written=20),
            article_cow=_contestant(9, 10),
        )
    )["contestants"]

    assert found["article_cow"]["ratio_to_lakekit"] == 5
    assert found["article_cow"]["ratio_to_floor"] == 10
    assert found["lakekit"]["written_to_floor"] == 1.5


def test_without_the_floor_no_ratio_to_it_is_claimed():
    found = summarise(_measured(lakekit=_contestant(9, 2)))

    assert "ratio_to_floor" not in found["contestants"]["lakekit"]


def test_an_absent_and_a_failed_contestant_stay_in_the_report_with_their_reasons():
    measured = _measured(
        lakekit=_contestant(9, 2),
        mack={"absent": "its packages cannot be installed"},
        dbt={"about": "", "runs": [], "error": "run: no answer"},
    )

    text = markdown({"machine": MACHINE, "workloads": [summarise(measured)]})

    assert "| mack | absent |" in text
    assert "- mack: its packages cannot be installed" in text
    assert "| dbt | failed |" in text
    assert "- dbt: run: no answer" in text


def test_a_wrong_result_is_told_beside_its_time():
    measured = _measured(sqlmesh=_contestant(9, 2, correct=False))

    text = markdown({"machine": MACHINE, "workloads": [summarise(measured)]})

    assert "**no**" in text
    assert "3 unexpected" in text
    assert "{'city': 3}" in text


def test_a_contestant_of_another_kind_is_marked_as_apart():
    measured = _measured(dlt_duckdb=_contestant(9, 2) | {"apart": True})

    text = markdown({"machine": MACHINE, "workloads": [summarise(measured)]})

    assert "| dlt_duckdb (apart) |" in text
    assert "another kind of engine" in text
