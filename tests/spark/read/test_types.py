"""A value enters the table as it was landed; values of another type are quarantined.

A line is one record. A second one on the line would be lost, and its key taken for deleted.
"""

import json

import pytest

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


KINDS = {
    "day": "date", "at": "timestamp", "local": "timestamp_ntz", "far": "double", "near": "float",
    "note": "string", "small": "tinyint", "price": "decimal(4,2)", "tags": "map<string,string>",
    "days": "array<date>", "fars": "array<double>", "nears": "map<string,float>",
    "smalls": "array<tinyint>", "prices": "map<string,decimal(4,2)>",
    "shop": "struct<`10:30`:timestamp,far:double,note:string,tags:array<map<string,int>>>",
    "visits": "map<string,struct<at:array<timestamp>,day:array<date>,price:decimal(4,2)>>",
}  # fmt: skip
DATES = {"2026-02-28": "2026-02-28", "0001-01-01": "0001-01-01", "9999-12-31": "9999-12-31"}
DAYS = {day: f"{day} 00:00:00" for day in DATES}
LOCAL = {
    "2026-01-31T06:30": "2026-01-31 06:30:00",
    "2026-01-31 06:30:59": "2026-01-31 06:30:59",
    "2026-01-31T06:30:00.1": "2026-01-31 06:30:00.1",
    "2026-01-31T06:30:00.123456000": "2026-01-31 06:30:00.123456",
    "9999-12-31T23:59:59.999999": "9999-12-31 23:59:59.999999",
}
ZONED = {
    "2026-01-31T06:30:00Z": "2026-01-31 06:30:00",
    "2026-01-31T06:30:00.120Z": "2026-01-31 06:30:00.12",
    "2026-01-31 06:30:00+05:45": "2026-01-31 00:45:00",
    "2026-01-31T06:30:00-0100": "2026-01-31 07:30:00",
    "2026-01-31T06:30:00+01": "2026-01-31 05:30:00",
    "2026-01-31T06:30:00-00:00": "2026-01-31 06:30:00",
}
NUMBERS = {
    0: "1970-01-01 00:00:00",
    -5: "1969-12-31 23:59:55",
    2026: "1970-01-01 00:33:46",
    1767225600: "2026-01-01 00:00:00",
    253402300799: "9999-12-31 23:59:59",
}
# Spark makes a time of today of them, in their zone.
UNDATED = ["10:30", "T10:30", " 1:2:3", "T9", "\t10:30", "\x7f10:30", "23:59 Pacific/Kiritimati"]
NO_DATES = [
    "", " ", "1030", "2026", "2026-01", "2026-", "2026-1-5", "20260102", "260102", "5", "-5", "1e9",
    "+2026-01-31", "-2026-01-31", "12026-01-31", "0000-01-01", "2026-02-30", "2026-13-01",
    "2026-01-00", "31.01.2026", "01/31/2026", "2026/01/31", "2026-W05-6", "2026-031", "Jan 31 2026",
    " 2026-01-31", "2026-01-31 ", "2026-01-31\n", "2026-01-31\u0000", "\uff12026-01-31",
    "epoch", "now", "today", "yesterday", "tomorrow", "infinity", "NaT", "null", "1767225600",
    *UNDATED,
]  # fmt: skip
NO_TIMES = [
    *NO_DATES, "2026-01-31T", "2026-01-31Tx", "2026-01-31T06", "2026-01-31T6:30", "2026-01-31T0630",
    "2026-01-31t06:30:00", "2026-01-31  06:30:00", "2026-01-31T06:30:0", "2026-01-31T06:30:00.",
    "2026-01-31T06:30:00,5", "2026-01-31T06:30:00.1234567", "2026-01-31T24:00:00",
    "2026-01-31T23:59:60", "2026-01-31T06:60:00", "2026-02-30T06:30:00", "12345-01-01T00:00:00",
]  # fmt: skip
NO_ZONES = [
    "2026-01-31Z", "2026-01-31T06:30Z", "2026-01-31T06:30:00z", "2026-01-31T06:30:00 Z",
    "2026-01-31T06:30:00 UTC", "2026-01-31T06:30:00Europe/Berlin", "2026-01-31T06:30:00+1",
    "2026-01-31T06:30:00+01:60", "2026-01-31T06:30:00+19:00", "2026-01-31T06:30:00+01:00:00",
    "0001-01-01T00:00:00+05:00", "9999-12-31T23:59:59-05:00",
]  # fmt: skip
NO_SECONDS = [1767225600000, -62135596801, 253402300800, 18446744073710, 1e9, 0.5, True, [], {}]
HUGE = ["1e400", "-1e400", "1e99999999999", "9" * 400]
BIG = [*HUGE, "1e39", "-1e39", "9" * 40]
NO_NUMBERS = ['"NaN"', '"Infinity"', '"-Infinity"', '"INF"', '"1.5"', '""', "true"]


def texts(values):
    return [json.dumps(value) for value in values]


WRONG = {
    "day": texts([*NO_TIMES, *LOCAL, *ZONED, 20260131, 2026]),
    "at": [*texts([*NO_TIMES, *NO_ZONES, *NO_SECONDS]), '"\\u0031030"'],
    "local": texts([*NO_TIMES, *NO_ZONES, *ZONED, *NO_SECONDS, *NUMBERS]),
    "far": HUGE,
    "near": BIG,
    "note": HUGE[:-1],
    "small": ["128", "200", "256", "-129"],
    "price": ["1.234"],
    "tags": ['{"a":"x","a":"y"}', '{"a":1e400}'],
    "days": ['["20260101"]', '["2026-02-28","2026"]', '["2026-02-28T00:00:00"]'],
    "fars": ["[1e400]", "[0.5,-1e400]"],
    "nears": ['{"a":1e39}', '{"a":1,"a":2}'],
    "smalls": ["[200]", "[1,-129]"],
    "prices": ['{"a":1.255}'],
    "shop": [
        '{"10:30":"10:30"}', '{"10:30":"1030"}', '{"far":1e400}', '{"note":-1e400}',
        '{"tags":[null,{"a":1,"\\u0061":2}]}',
    ],
    "visits": [
        '{"a":{"at":["12345-01-01T00:00:00Z"]}}', '{"a":{"at":["1030"]}}',
        '{"a":{"at":[1767225600,"1767225600"]}}', '{"a":{"price":1.234}}',
        '{"a":{"day":["9999-12-31"]},"b":{"day":["2026"]}}',
    ],
}  # fmt: skip
RIGHT = {
    "day": dict(zip(texts(DATES), DATES.values(), strict=True)),
    "at": {json.dumps(text): value for text, value in (DAYS | LOCAL | ZONED | NUMBERS).items()}
    | {'"\\u0032026-01-31"': "2026-01-31 00:00:00"},
    "local": {json.dumps(text): value for text, value in (DAYS | LOCAL).items()},
    # What is too small for a double is zero, the nearest that it has.
    "far": {"1e308": "1.0E308", "-0": "0.0", "1e-400": "0.0", "1e39": "1.0E39", "5": "5.0"},
    "near": {"3.4e38": "3.4E38", "1e-50": "0.0"},
    "note": {'"Infinity"': "Infinity", '"NaN"': "NaN", '"1e400"': "1e400", "1e300": "1.0E300",
             "9" * 400: "9" * 400},
    "small": {"127": "127", "-128": "-128"},
    "price": {"1.5": "1.50"},
    "tags": {'{"a":"Infinity","b":null}': "{a -> Infinity, b -> null}", "{}": "{}"},
    "days": {'["2026-01-31",null]': "[2026-01-31, null]", "[]": "[]"},
    "nears": {'{"a":0.5}': "{a -> 0.5}"},
    "smalls": {"[1,null]": "[1, null]"},
    "prices": {'{"a":1.5}': "{a -> 1.50}"},
    "shop": {
        '{"10:30":1767225600,"note":"10:30","tags":[{"a":1}]}':
            "{2026-01-01 00:00:00, null, 10:30, [{a -> 1}]}",
    },
    "visits": {
        '{"a":{"at":[1767225600,"2026-01-31T06:30:00Z",null],"price":1},"b":null}':
            "{a -> {[2026-01-01 00:00:00, 2026-01-31 06:30:00, null], null, 1.00}, b -> null}",
    },
}  # fmt: skip
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
