"""A table is derived again though columns were renamed by contracts that no run was merged by."""

import pytest

from lakekit.contracts import load_contract
from lakekit.spark.tables import create_or_evolve
from tests.spark.people import TIMED_TEXT
from tests.spark.rebuilt import World, person

CITY = "{name: city, type: string}"
TOWN = TIMED_TEXT.replace(CITY, "{name: town, type: string, renamed_from: city}")
PLACE = TIMED_TEXT.replace(CITY, "{name: place, type: string, renamed_from: town}")


@pytest.mark.parametrize(
    ("last", "name"),
    [
        (PLACE, "place"),
        # What says how it was called has done its work.
        (TOWN.replace(", renamed_from: city", ""), "town"),
        # Another column has got the name that is free.
        (TOWN.replace("  - {name: at,", f"  - {CITY}\n  - {{name: at,"), "town"),
    ],
)
def test_a_renaming_that_no_run_has_seen(spark, table, tmp_path, last, name):
    world = World(spark, table, tmp_path)
    world.merge(6, person(1, "ann", 5, city="x"), person(2, "ben", 5, city="y"))
    create_or_evolve(spark, load_contract(TOWN), table)
    world.merge(8, person(1, "anna", 7, **{name: "z"}), text=last, extract="incremental")
    before = world.rows()

    result = world.rebuild()

    assert (result.missing, result.wrong, result.committed) == (0, 0, False)
    assert (result.facts_missing, result.facts_wrong) == (0, 0)
    assert world.rows() == before
    found = spark.table(table).orderBy("id", "_valid_from").select(name)
    assert [row[0] for row in found.collect()] == ["x", "z", "y"]
