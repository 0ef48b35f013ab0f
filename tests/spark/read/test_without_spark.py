"""`lakekit try` reads lines without Spark: random values of all types, read by both, are equal."""

import json
from random import Random

import pytest

from lakekit.records.reader import read_record
from lakekit.spark.read.parse import parse_lines
from lakekit.spark.read.reasons import with_reasons
from lakekit.spark.schema.display import collect_shown
from lakekit.values import to_json
from tests.landed_values import KINDS, RIGHT, WRONG
from tests.spark.support.people import people

CONTRACT = people(
    base={
        "id": "int", **KINDS, "short": "smallint", "big": "bigint", "is_it": "boolean",
        "blob": "binary", "exact": "decimal(38,10)", "cents": "decimal(18,2)",
        "parts": "struct<a:int,b:struct<c:date,d:string>,e:array<struct<f:bigint>>>",
    }
)  # fmt: skip
ODD = [
    "null", "true", "false", "0", "-0", "1", "-1", "127", "128", "32768", "-32769", "2147483648",
    "9223372036854775807", "9223372036854775808", "1.0", "1.10", "-2.50e-7", "1e10", "0.001", "1e7",
    "12345678.125", "1e39", "1e400", "123456789012345678901234567890.12345678901",
    "0.1234567890123456789012345678901", '""', '"a"', '"YWI="', '"YWI"', '"-1.50"', '"1.5E2"',
    '"1.5e2"', '"+1"', '".5"', '"5."', '"-"', '"true"', '"2026-01-31"', '"2026-01-31T06:30:00Z"',
    '"2026-01-31T06:30:00.5+02:00"', '"\\u00e9\\n\\u0001\\"\\\\/"', '"\\ud83d\\ude00"', "[]", "{}",
    "[null]", '["2026-01-31"]', '[1,"a"]', '{"a":1}', '{"a":"x"}', '{"a":1,"a":2}', '{"a":null}',
    '{"a":1,"b":{"c":"2026-01-31","d":[1.50,{"x":1e22}]}}', '{"b":{"c":"2026"}}', '{"b":7}',
    '{"e":[{"f":1},{"f":"x"},null]}', '{"e":[{"f":9223372036854775807}]}', "1767225600",
]  # fmt: skip


def lines(seed: int, count: int) -> list[str]:
    choose = Random(seed)
    pool = [*ODD, *(text for found in WRONG.values() for text in found),
            *(text for found in RIGHT.values() for text in found)]  # fmt: skip
    names = [column.name for column in CONTRACT.columns[1:]]
    found = []
    for number in range(count):
        parts = [f"{json.dumps(name)}:{choose.choice(pool)}"
                 for name in choose.sample(names, choose.choice([1, 1, 1, 2, 3]))]  # fmt: skip
        found.append("{" + ",".join([f'"id":{number}', *parts]) + "}")
    return found


@pytest.mark.long
def test_what_is_read_without_spark_is_what_the_merge_reads(spark):
    written = lines(7, 2000)
    frame = spark.createDataFrame([(line,) for line in written], "__raw string")

    parsed = parse_lines(frame, CONTRACT)
    good = collect_shown(parsed.where("__fault IS NULL").drop("__fault", "__deleted")).records()
    bad = with_reasons(parsed.where("__fault IS NOT NULL"), CONTRACT).select("__raw", "__fault")
    faults = dict(map(tuple, bad.collect()))

    read = {line: read_record(line.encode(), CONTRACT) for line in written}
    ours = {line: record.fault for line, record in read.items() if record.fault}
    assert [line for line in written if ours.get(line) != faults.get(line)] == []
    assert len(good) > 100
    assert len(faults) > 500
    for row in good:
        assert to_json({"__raw": row["__raw"], **read[row["__raw"]].values}) == to_json(
            {"__raw": row["__raw"], **row}
        )
