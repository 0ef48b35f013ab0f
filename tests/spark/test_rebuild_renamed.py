"""A table is derived again though columns were renamed by contracts that no run was merged by."""

import pytest

from lakekit.contract.contract import load_contract
from lakekit.errors import SchemaMismatchError
from lakekit.spark.schema.create_tables import create_or_evolve
from tests.spark.people import TIMED_TEXT
from tests.spark.rebuilt import World, person, shadows

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


NICK, NAME = "{name: nick, type: string, renamed_from: name}", "{name: name, type: string}"
FROM_CITY = NAME.replace("}", ", renamed_from: city}")


@pytest.mark.parametrize("columns", [(NICK, FROM_CITY), (FROM_CITY, NICK)])
def test_a_column_that_takes_the_name_which_another_leaves(spark, table, tmp_path, columns):
    world = World(spark, table, tmp_path)
    world.merge(6, person(1, "ann", 5, city="x"))
    text = TIMED_TEXT.replace(f"  - {CITY}\n", "").replace(NAME, "\n  - ".join(columns))
    world.merge(8, person(1, "y", 7, nick="anna"), text=text, extract="incremental")
    before = world.rows()

    result = world.rebuild()

    assert (result.missing, result.wrong, result.committed) == (0, 0, False)
    assert world.rows() == before
    found = spark.table(table).orderBy("_valid_from").select("nick", "name").collect()
    assert [tuple(row) for row in found] == [("ann", "x"), ("anna", "y")]


def test_a_new_column_whose_name_another_gets_later_is_not_taken_for_it(spark, table, tmp_path):
    world = World(spark, table, tmp_path)
    world.merge(6, person(1, "ann", 5, city="x"))
    new = TIMED_TEXT.replace(CITY, "{name: town, type: string}")
    world.merge(8, person(1, "ann", 7, town="y"), text=new)
    place = new.replace("{name: town,", "{name: place, renamed_from: town,")
    world.merge(9, person(1, "ann", 8, place="y"), text=place)
    back = place.replace(
        "  - {name: place,", "  - {name: town, renamed_from: city, type: string}\n  - {name: place,"
    )
    world.merge(10, person(1, "ann", 9, place="y", town="z"), text=back)
    before = world.rows()

    result = world.rebuild()

    assert (result.missing, result.wrong, result.committed) == (0, 0, False)
    assert world.rows() == before


def test_a_renaming_that_the_runs_do_not_tell_is_not_taken_for_a_new_column(spark, table, tmp_path):
    """What was renamed to the name that is left again may have been another column's."""
    world = World(spark, table, tmp_path)
    world.merge(6, person(1, "ann", 5, city="x"))
    create_or_evolve(spark, load_contract(TOWN), table)
    tidied = TOWN.replace(", renamed_from: city", "")
    world.merge(8, person(1, "anna", 7, town="z"), text=tidied, extract="incremental")
    world.merge(9, person(1, "anne", 8, place="z"), text=PLACE, extract="incremental")
    before = world.rows()

    with pytest.raises(SchemaMismatchError, match="city became place by contracts that no run"):
        world.rebuild()

    assert world.rows() == before
    assert not shadows(world)
