"""A value enters the table as it was landed; values of another type are quarantined.

A line is one record. A second one on the line would be lost, and its key taken for deleted.
"""

import json

import pytest

from tests.landed_values import KINDS, RIGHT, WRONG
from tests.spark.support.people import ANN, BEN, TIMED, people
from tests.spark.support.readers import read_everywhere
from tests.tiers import long


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


ALL = people(base={"id": "int", **KINDS}, quality={"max_rejected_ratio": 1})


def test_a_value_is_stored_as_it_was_landed_or_quarantined(load, spark, table):
    wrong = [(name, text) for name, found in WRONG.items() for text in found]
    right = [(name, text, value) for name, found in RIGHT.items() for text, value in found.items()]
    lines = [f'{{"id":{n},"{name}":{text}}}' for n, (name, text) in enumerate(wrong)]
    good = [f'{{"id":{n},"{name}":{text}}}' for n, (name, text, _) in enumerate(right)]

    load(1, *lines, *good, contract=ALL)

    kept = read_everywhere(spark, f"{table}_quarantine")
    reasons = {line: f"{name}: does not fit {ALL.column(name).type}"
               for line, (name, text) in zip(lines, wrong, strict=True)}  # fmt: skip
    assert {row[0]: row[2] for row in kept} == reasons
    held = ", ".join(f"CAST(`{name}` AS string) AS `{name}`" for name in KINDS)
    rows = spark.sql(f"SELECT {held} FROM {table} ORDER BY id").collect()
    assert [row[name] for row, (name, *_) in zip(rows, right, strict=True)] == [
        value for *_, value in right
    ]
    assert len(read_everywhere(spark, table)) == len(right)


def test_a_sequence_that_is_out_of_range_stops_no_other_record(load, rows):
    beyond = ["99999-12-31T00:00:00Z", 1767225600000]
    records = [{**BEN, "at": event_time} for event_time in beyond]

    good = [{**ANN, "id": n, "at": "2026-01-05T00:00:00Z"} for n in (4, 5)]

    done = load(9, *good, *records, contract=TIMED)

    assert done.quarantined == 2
    assert rows() == [(n, "Ann", "Oslo", 5, None, True) for n in (4, 5)]


def test_a_text_that_is_no_time_is_no_key(load, rows):
    """Spark would take it for the year, and the key for deleted."""
    timed = people(columns={"id": "timestamp"})
    load(1, {"id": "2026-01-01"}, {"id": "2026-01-02"}, contract=timed)

    done = load(2, {"id": "2026-01-01"}, {"id": "2026"}, contract=timed)

    assert (done.quarantined, done.deleted) == (1, 1)
