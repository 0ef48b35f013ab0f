"""A column that the contract drops, and that comes back.

A record is named by its day of January, the day it holds from; a run by the day of its extract.
"""

import pytest

from lakekit.contracts import load_contract
from lakekit.spark.tables import create_or_evolve
from tests.spark.late import TEXT, at, told

CITY, PLACE = "  - {name: city, type: string}\n", "  - {name: place, type: 'struct<x:int,y:int>'}\n"
WITH = TEXT.replace(CITY, CITY + PLACE).replace(", track_history_columns: [name]", "")
WITHOUT = WITH.replace(CITY, "").replace("struct<x:int,y:int>", "struct<y:int>")


@pytest.mark.parametrize("ended", [False, True])
def test_an_old_version_keeps_what_it_held_when_a_late_record_comes(
    load, rows, spark, table, ended
):
    """Meanwhile the version was renewed, and the companion told which record it began with."""
    with_it, without = load_contract(WITH), load_contract(WITHOUT)
    told(load, "changes", 6, at(5, "a", city="x", place={"x": 1, "y": 2}), promise=with_it)
    create_or_evolve(spark, without, table)
    told(load, "changes", 8, at(7, "a", place={"y": 2}), promise=without)
    if ended:
        told(load, "changes", 9, at(9, "b"), promise=without)
    create_or_evolve(spark, with_it, table)

    told(load, "changes", 11, at(3, "z", city="q"), promise=with_it)

    found = [row[1:5] for row in rows("id, name, city, place.x")]
    assert found[:2] == [("z", "q", None, 3), ("a", "x", 1, 5)]
