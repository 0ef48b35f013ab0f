"""What a query returns comes to Python with its structure, whatever Spark calls its types."""

from datetime import date, datetime
from decimal import Decimal
from math import isnan

from lakekit.spark.schema.display import collect_shown

QUERY = """
SELECT
  1 AS a, 2 AS a,
  struct(1 AS a, 'x' AS b, 2 AS a) AS struct,
  array(struct(map('k', array(CAST(NULL AS int))) AS m), NULL) AS nested,
  map(named_struct('a', array(1)), map(X'00ff', DATE '2026-01-01')) AS maps,
  CAST(NULL AS map<int, int>) AS no_map, CAST(NULL AS struct<a: map<int, int>>) AS no_struct,
  CAST(1.1 AS float) AS f, array(CAST('-Infinity' AS float)) AS fs, CAST('NaN' AS double) AS nan,
  CAST('1.10' AS decimal(38, 2)) AS d, X'00ff' AS bytes,
  TIMESTAMP '0001-01-01 00:00:00Z' AS t, map('t', TIMESTAMP '2026-01-01 00:00:00+01:00') AS ts,
  INTERVAL '1' MONTH AS m, array(INTERVAL '1' DAY) AS days, make_interval(1, 2) AS i,
  array(make_interval(1)) AS intervals, NULL AS nothing, array() AS none
"""


def test_values_keep_their_structure(spark):
    columns, rows = shown = collect_shown(spark.sql(QUERY))

    assert columns[:2] == ["a", "a"]
    assert rows[0][:2] == (1, 2)
    (record,) = shown.records()
    assert isnan(record.pop("nan"))
    del record["a"]
    assert record == {
        "struct": {"a": 1, "b": "x", "a_2": 2},
        "nested": [{"m": {"k": [None]}}, None],
        "maps": {'{"a": [1]}': {"AP8=": date(2026, 1, 1)}},
        "no_map": None, "no_struct": None,
        "f": 1.1, "fs": [float("-inf")],
        "d": Decimal("1.10"), "bytes": b"\x00\xff",
        "t": datetime(1, 1, 1), "ts": {"t": datetime(2025, 12, 31, 23)},
        "m": "INTERVAL '1' MONTH", "days": ["INTERVAL '1' DAY"], "i": "1 years 2 months",
        "intervals": "[1 years]", "nothing": None, "none": [],
    }  # fmt: skip
