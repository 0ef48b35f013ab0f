"""Renamed columns keep their history and their properties under the new name."""

import pytest

from lakekit.errors import SchemaMismatchError
from lakekit.spark.schema.create_tables import create_or_evolve
from tests.spark.schema.test_evolution import MORE, A, B
from tests.spark.support.late import CDC, at, cdc, deletion, load_as
from tests.spark.support.people import people, renamed
from tests.tiers import long

RENAMED = people(rename={"city": "town"}, columns={"id": "bigint"})
TOWN_A, TOWN_B = {"id": 1, "name": "a", "town": "x"}, {"id": 2, "name": "b", "town": "y"}


@pytest.mark.usefixtures("both_ways_of_writing")
def test_a_renamed_and_a_widened_column_open_nothing(load, assert_rows, spark, table):
    load(1, A, B)
    create_or_evolve(spark, RENAMED, table)

    same = load(2, TOWN_A, TOWN_B, contract=RENAMED)
    load(3, TOWN_A | {"town": "z"}, TOWN_B, contract=RENAMED)

    assert not same.committed
    assert_rows(
        (1, "x", 1, 3, False),
        (1, "z", 3, None, True),
        (2, "y", 1, None, True),
        columns="id, town",
    )


REUSED = people(rename={"city": "town"}, columns={"city": "string"})


@pytest.mark.long
def test_a_name_may_be_used_again_in_the_step_that_frees_it(load, assert_rows, spark, table):
    load(1, A, B)
    create_or_evolve(spark, REUSED, table)

    same = load(2, TOWN_A, TOWN_B, contract=REUSED)
    moved = load(3, {"id": 1, "name": "a", "city": "x"}, contract=REUSED, extract="incremental")

    assert (same.opened, same.closed, moved.opened) == (0, 0, 1)
    assert_rows(
        (1, "x", None, 1, 3, False),
        (1, None, "x", 3, None, True),
        (2, "y", None, 1, None, True),
        columns="id, town, city",
    )


def test_a_column_may_take_the_name_that_another_leaves(load, assert_rows, spark, table):
    chain = people(rename={"name": "nick", "city": "name"})
    load(1, A, B)
    load(2, A | {"name": "c"}, B)
    create_or_evolve(spark, chain, table)

    done = load(3, {"id": 1, "nick": "c", "name": "x"}, contract=chain, extract="incremental")

    assert done.opened == 0
    assert_rows(
        (1, "a", "x", 1, 2, False),
        (1, "c", "x", 2, None, True),
        (2, "b", "y", 1, None, True),
        columns="id, nick, name",
    )


def test_a_new_column_that_is_renamed_is_filled_still(load, assert_rows, spark, table):
    post = people(columns={"post": renamed("zip")})
    load(1, A, B)
    create_or_evolve(spark, MORE, table)
    create_or_evolve(spark, post, table)

    load(4, A | {"post": "2"}, B | {"post": "3"}, contract=post)

    assert_rows((1, "2", 1, None, True), (2, "3", 1, None, True), columns="id, post")


@pytest.mark.long
@pytest.mark.parametrize("renamed", [long(False), True])
def test_late_changes_compare_by_the_columns_that_are_tracked_now(
    load, rows, spark, table, renamed
):
    city = "town" if renamed else "city"
    after = cdc(rename={"city": "town"} if renamed else {}, track_history_columns=["name", city])
    load_as(load, "changes", 6, at(5, "a", seen=1, city="x"))
    load_as(load, "full", 10, at(5, "a", seen=1, city="x"))
    load_as(load, "changes", 21, at(20, "a", seen=2, city="x"))
    create_or_evolve(spark, after, table)

    load_as(load, "changes", 22, deletion(7), contract=after)
    load_as(load, "changes", 23, at(15, "b", seen=3, **{city: "x"}), contract=after)

    assert [row[:5] for row in rows("id, name, seen")] == [
        (1, "a", 1, 5, 7),
        (1, "a", 1, 10, 15),
        (1, "b", 3, 15, 20),
        (1, "a", 2, 20, None),
    ]


@pytest.mark.long
def test_a_renaming_that_was_cut_short_is_finished_before_it_is_taken_back(
    load, assert_rows, spark, table
):
    """Else the journal would get a new column of the old name, and late records its nulls."""
    after = cdc(rename={"name": "title"}, track_history_columns=["title"])
    load_as(load, "changes", 16, at(5, "a"), at(15, "a"), at(20, "c"))
    spark.sql(f"ALTER TABLE {table}_journal RENAME COLUMN name TO title")

    with pytest.raises(SchemaMismatchError, match="title where its table has name"):
        create_or_evolve(spark, CDC, table)
    create_or_evolve(spark, after, table)
    load(21, {"title": "b", **{k: v for k, v in at(12, "b").items() if k != "name"}},
         extract="changes", contract=after)  # fmt: skip

    assert_rows(
        (1, "a", 5, 12, False),
        (1, "b", 12, 15, False),
        (1, "a", 15, 20, False),
        (1, "c", 20, None, True),
        columns="id, title",
    )


def test_the_journal_is_brought_to_the_contract_before_its_table(load, spark, table):
    """A crash between the two leaves a table that the next run still renames."""
    load_as(load, "changes", 2, at(1, "a", city="x"))
    load_as(load, "changes", 4, at(3, "a", city="x"))

    done = create_or_evolve(spark, cdc(rename={"city": "town"}), table).changes

    (journal,) = (n for n, text in enumerate(done) if f"{table}_journal".split(".")[-1] in text)
    assert "RENAME COLUMN" in done[journal]
    assert journal == 0
    assert len(done) > 1
