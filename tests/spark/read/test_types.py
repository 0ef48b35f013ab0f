"""A value enters the table as it was landed; values of another type are quarantined.

A line is one record. A second one on the line would be lost, and its key taken for deleted.
"""

import json
from datetime import UTC, datetime

import pytest

from tests.spark.support.people import ANN, BEN, TIMED, people
from tests.tiers import long


def typed(kind):
    return people(columns={"name": kind})


@pytest.mark.parametrize(
    "behind",
    [
        json.dumps(BEN),
        *map(long, [" " + json.dumps(BEN), "," + json.dumps(BEN), ",", "]"]),
        long("}"),
        " garbage",
    ],
)
def test_a_line_with_more_than_one_record_is_none(load, rows, behind):
    load(1, ANN, BEN)

    done = load(2, ANN, BEN, json.dumps({**ANN, "city": "Rome"}) + behind)

    assert (done.quarantined, done.deleted) == (1, 0)
    assert [row[2:] for row in rows()] == [("Oslo", 1, None, True), ("Bonn", 1, None, True)]


@pytest.mark.parametrize(
    "line", [long("null"), '[{"id": 1}]', '{"id": 1', *map(long, ["5", '"x"', "[]", "{"])]
)
def test_a_line_that_is_no_object_is_none(load, rows, line):
    done = load(1, ANN, BEN, line)

    assert (done.quarantined, len(rows())) == (1, 2)


@pytest.mark.parametrize(
    ("kind", "wrong", "right"),
    [
        long(
            "date",
            ["2026-02-30", "2026-13-01", "0000-00-00", "2026-01-00", "20260101", "5", "01.02.2026"],
            {"2026-02-28": "2026-02-28", "0001-01-01": "0001-01-01", "9999-12-31": "9999-12-31"},
        ),
        long("array<date>", [["20260101"], ["2026-02-30"], ["2026-02-28", "12345-01-01"]], {}),
        (
            "map<string,struct<at:timestamp,day:array<date>>>",
            [
                {"a": {"at": "12345-01-01T00:00:00Z"}},
                {"a": {"day": ["9999-12-31"]}, "b": {"day": [None, "12345-01-01"]}},
            ],
            {},
        ),
        ("tinyint", [128, 200, 255, 256, -129], {127: "127", -128: "-128"}),
        long("array<tinyint>", [[200], [1, -129]], {}),
        (
            "timestamp",
            [1767225600000, "12345-01-01T00:00:00Z", "99999-12-31T00:00:00Z", "2026-02-30"],
            {
                "9999-12-31T23:59:59.999999Z": "9999-12-31 23:59:59.999999",
                "0001-01-01T00:00:00Z": "0001-01-01 00:00:00",
            },
        ),
        long(
            "timestamp_ntz",
            ["12345-01-01T00:00:00", "10:30"],
            {"0001-01-01": "0001-01-01 00:00:00"},
        ),
    ],
)
def test_what_is_no_value_of_its_type_is_quarantined(load, rows, kind, wrong, right):
    records = [{"id": n, "name": value} for n, value in enumerate(wrong)]
    good = [{"id": 50 + n, "name": value} for n, value in enumerate(right)]

    done = load(1, *records, *good, *({"id": 90 + n} for n in range(8)), contract=typed(kind))

    assert done.quarantined == len(wrong)
    held = [row[1] for row in rows("id, CAST(name AS string)") if row[0] < 90]
    assert held == list(right.values())


def test_a_sequence_that_is_out_of_range_stops_no_other_record(load, rows):
    beyond = ["99999-12-31T00:00:00Z", 1767225600000]
    records = [{**BEN, "at": event_time} for event_time in beyond]

    good = [{**ANN, "id": n, "at": "2026-01-05T00:00:00Z"} for n in (4, 5)]

    done = load(9, *good, *records, contract=TIMED)

    assert done.quarantined == 2
    assert rows() == [(n, "Ann", "Oslo", 5, None, True) for n in (4, 5)]


# Spark makes a time of today of them, in their zone.
UNDATED = ["10:30", "T10:30", " 1:2:3", "T9", "\t10:30", "\x7f10:30", "23:59 Pacific/Kiritimati"]


def test_a_time_without_a_date_is_none(load, rows):
    now = datetime.now(UTC).isoformat()
    texts = [*UNDATED, now, 1767225600, "2026", None]
    records = [{"id": n, "name": text} for n, text in enumerate(texts)]

    done = load(1, *records, {"id": 99, "name": now, "city": "10:30"}, contract=typed("timestamp"))

    assert done.quarantined == len(UNDATED)
    seen = [row[0] for row in rows("id")]
    assert seen == [*range(len(UNDATED), len(texts)), 99]


@pytest.mark.parametrize(
    "line", [long('\ufeff{{"id": 1, "name": "{}"}}'), '{{"id": 1, "name": "\\u0031{}"}}']
)
def test_a_time_without_a_date_is_found_however_its_line_is_written(load, rows, line):
    done = load(1, line.format("0:30"), {"id": 2}, contract=typed("timestamp"))

    assert (done.quarantined, [row[0] for row in rows("id")]) == (1, [2])


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        long("array<timestamp>", ["{}"]),
        long("map<string,timestamp>", {"10:30": "{}"}),
        long("struct<at:timestamp,`10:30`:string>", {"at": "{}", "10:30": "10:30"}),
        ("array<struct<at:array<timestamp>,price:decimal(4,2)>>", [{"at": ["{}"], "price": 1.5}]),
    ],
)
def test_a_nested_time_without_a_date_is_none_either(load, rows, kind, value):
    now = datetime.now(UTC).isoformat()
    lines = [f'{{"id": {n}, "name": {json.dumps(value)}}}'.replace("{}", text)
             for n, text in enumerate(["10:30", now])]  # fmt: skip

    done = load(1, *lines, {"id": 2, "name": None}, contract=typed(kind))

    assert (done.quarantined, [row[0] for row in rows("id")]) == (1, [1, 2])


def test_a_time_without_a_date_is_no_key(load, rows):
    timed = people(columns={"id": "timestamp"})
    load(1, {"id": "2026-01-01"}, {"id": "2026-01-02"}, contract=timed)

    done = load(2, {"id": "2026-01-01"}, {"id": "10:30"}, contract=timed)

    assert (done.quarantined, done.deleted) == (1, 1)
