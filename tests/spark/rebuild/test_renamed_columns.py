"""A table is derived again though contracts without any run have renamed columns."""

import pytest

from lakekit.errors import SchemaMismatchError
from lakekit.spark.schema.create_tables import create_or_evolve
from tests.spark.support.people import people, renamed
from tests.spark.support.rebuilt import World, person, shadows
from tests.tiers import long

TOWN = people(sequence_by="at", rename={"city": "town"})
# `renamed_from` is not needed any more.
TOWN_ALONE = people(sequence_by="at", columns={"city": None, "town": "string"})
PLACE = people(sequence_by="at", columns={"city": None, "place": renamed("town")})
# Another column has taken the free name.
TOWN_AND_CITY = people(sequence_by="at", rename={"city": "town"}, columns={"city": "string"})


@pytest.mark.long
@pytest.mark.parametrize(
    ("last", "name"), [(PLACE, "place"), long(TOWN_ALONE, "town"), long(TOWN_AND_CITY, "town")]
)
def test_a_renaming_that_no_run_has_seen(spark, table, tmp_path, last, name):
    world = World(spark, table, tmp_path)
    world.merge(6, person(1, "ann", 5, city="x"), person(2, "ben", 5, city="y"))
    create_or_evolve(spark, TOWN, table)
    world.merge(8, person(1, "anna", 7, **{name: "z"}), contract=last, extract="incremental")
    before = world.rows()

    result = world.rebuild()

    assert (result.missing, result.wrong, result.committed) == (0, 0, False)
    assert (result.journal_missing, result.journal_wrong) == (0, 0)
    assert world.rows() == before
    found = spark.table(table).orderBy("id", "_valid_from").select(name)
    assert [row[0] for row in found.collect()] == ["x", "z", "y"]


NAME_THEN_NICK = {"city": None, "name": renamed("city"), "nick": renamed("name")}


@pytest.mark.long
@pytest.mark.parametrize(
    "columns", [{"rename": {"name": "nick", "city": "name"}}, long({"columns": NAME_THEN_NICK})]
)
def test_a_column_that_takes_the_name_which_another_leaves(spark, table, tmp_path, columns):
    world = World(spark, table, tmp_path)
    world.merge(6, person(1, "ann", 5, city="x"))
    swapped = people(sequence_by="at", **columns)
    world.merge(8, person(1, "y", 7, nick="anna"), contract=swapped, extract="incremental")
    before = world.rows()

    result = world.rebuild()

    assert (result.missing, result.wrong, result.committed) == (0, 0, False)
    assert world.rows() == before
    found = spark.table(table).orderBy("_valid_from").select("nick", "name").collect()
    assert [tuple(row) for row in found] == [("ann", "x"), ("anna", "y")]


@pytest.mark.long
def test_a_new_column_whose_name_another_gets_later_is_not_taken_for_it(spark, table, tmp_path):
    world = World(spark, table, tmp_path)
    world.merge(6, person(1, "ann", 5, city="x"))
    world.merge(8, person(1, "ann", 7, town="y"), contract=TOWN_ALONE)
    world.merge(9, person(1, "ann", 8, place="y"), contract=PLACE)
    both = {"city": None, "town": renamed("city"), "place": renamed("town")}
    back = people(sequence_by="at", columns=both)
    world.merge(10, person(1, "ann", 9, place="y", town="z"), contract=back)
    before = world.rows()

    result = world.rebuild()

    assert (result.missing, result.wrong, result.committed) == (0, 0, False)
    assert world.rows() == before


def test_a_renaming_that_the_runs_do_not_show_is_not_taken_for_a_new_column(spark, table, tmp_path):
    """The column that had the free name for a while may have been another one."""
    world = World(spark, table, tmp_path)
    world.merge(6, person(1, "ann", 5, city="x"))
    create_or_evolve(spark, TOWN, table)
    world.merge(8, person(1, "anna", 7, town="z"), contract=TOWN_ALONE, extract="incremental")
    world.merge(9, person(1, "anne", 8, place="z"), contract=PLACE, extract="incremental")
    before = world.rows()

    with pytest.raises(SchemaMismatchError, match="city became place by contracts that no run"):
        world.rebuild()

    assert world.rows() == before
    assert not shadows(world)
