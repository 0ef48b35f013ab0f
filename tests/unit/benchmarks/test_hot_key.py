"""Changes of a hot key, the history that follows from them, and how its times are reported."""

from collections import Counter
from datetime import timedelta

from benchmarks.aims import judged
from benchmarks.hot_key import LATE, START, history, measured, mostly_one_key, one_key

MINUTE = timedelta(minutes=1)
MIXED = {
    "seconds": {"first run": 9.0}, "records": {"first run": 200}, "peak": {"first run": 2e9},
}  # fmt: skip


def test_a_late_record_cuts_the_version_in_the_middle_and_deletions_leave_gaps():
    batches = one_key(20)
    before = history(batches["first run"])
    after = history([*batches["first run"], *batches["one late record"]])

    assert len(before) == 20 and before[-1][-1] == START + 19 * MINUTE + 2 * LATE
    assert before[9][-1] == START + 9 * MINUTE + 2 * LATE < before[10][2]
    assert {*after} - {*before} == {
        (0, "on time 10", START + 10 * MINUTE, START + 10 * MINUTE + LATE),
        (0, "late 10", START + 10 * MINUTE + LATE, START + 11 * MINUTE),
    }


def test_two_fifths_of_a_mixed_batch_are_of_one_key():
    batches = mostly_one_key(800)

    for records in batches.values():
        keys = Counter(record["id"] for record in records)
        assert 0.39 < keys[0] / len(records) < 0.43
        assert set(keys.values()) - {keys[0]} == {3}


def test_the_report_has_a_ratio_for_each_doubling_and_says_whether_the_aim_is_met():
    times = {"first run": [1.0, 1.5, 3.0], "one late record": [2.0, 4.0, 10.0]}

    report = measured([8, 16, 32], times, MIXED, [])

    assert report["text"].splitlines()[:5] == [
        "| versions of a key | first run, s | ratio | one late record, s | ratio |",
        "|---:|---:|---:|---:|---:|",
        "| 8 | 1.0 |  | 2.0 |  |",
        "| 16 | 1.5 | 1.50 | 4.0 | 2.00 |",
        "| 32 | 3.0 | 2.00 | 10.0 | 2.50 |",
    ]
    assert "the aim, at most 2.3, is missed" in report["text"]
    (aim,) = judged({"workloads": [], "others": {"hot-key": report}})
    assert (aim["measured"], aim["met"]) == (2.5, False)
