"""A column that the contract drops, and that comes back.

Days are of January: the day from which a record holds, and the day of a run's extract.
"""

import pytest

from lakekit.spark.schema.create_tables import create_or_evolve
from tests.spark.support.late import at, cdc, load_as

WITH = cdc(columns={"place": "struct<x:int,y:int>"}, track_history_columns=None)
WITHOUT = cdc(columns={"city": None, "place": "struct<y:int>"}, track_history_columns=None)


@pytest.fixture
def without_city(load, spark, table):
    """Merge changes with the column, then without it, then once more with it.

    A run is its day, then its records.
    """

    def merge(*before, then=(), last=None):
        for runs, contract in ((before, WITH), (then, WITHOUT), ((last,) if last else (), WITH)):
            if runs:
                create_or_evolve(spark, contract, table)
            for day, *records in runs:
                load_as(load, "changes", day, *records, contract=contract)

    return merge


def test_a_dropped_column_is_null_in_versions_that_are_derived_again(without_city, rows):
    without_city(
        (6, at(5, "a", city="x"), at(5, "a", city="x", id=2)),
        then=[(8, at(3, "z"), at(7, "b"), at(9, "b", id=2))],
    )

    assert [row[:4] for row in rows("id, name, city")] == [
        (1, "z", None, 3), (1, "a", "x", 5), (1, "b", None, 7),
        (2, "a", "x", 5), (2, "b", None, 9),
    ]  # fmt: skip
