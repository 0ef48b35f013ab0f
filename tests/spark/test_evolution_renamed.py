"""Columns that are renamed keep their history, and what is known of them, by the new name."""

import pytest

from lakekit.contract.contract import load_contract
from lakekit.errors import SchemaMismatchError
from lakekit.spark.schema.create_tables import create_or_evolve
from tests.spark.late import TEXT, at, gone, told
from tests.spark.people import CONTRACT
from tests.spark.test_evolution import MORE, A, B
from tests.tiers import long

RENAMED = load_contract(
    CONTRACT.replace("name: city,", "name: town, renamed_from: city,").replace(
        "id, type: int", "id, type: bigint"
    )
)
TOWN_A, TOWN_B = {"id": 1, "name": "a", "town": "x"}, {"id": 2, "name": "b", "town": "y"}


@pytest.mark.usefixtures("both_ways_of_writing")
def test_a_renamed_and_a_widened_column_open_nothing(load, rows, spark, table):
    load(1, A, B)
    create_or_evolve(spark, RENAMED, table)

    same = load(2, TOWN_A, TOWN_B, promise=RENAMED)
    load(3, TOWN_A | {"town": "z"}, TOWN_B, promise=RENAMED)

    assert not same.committed
    assert rows("id, town") == [
        (1, "x", 1, 3, False),
        (1, "z", 3, None, True),
        (2, "y", 1, None, True),
    ]


REUSED = load_contract(
    CONTRACT.replace(
        "name: city, type: string}",
        "name: town, type: string, renamed_from: city}\n  - {name: city, type: string}",
    )
)


def test_a_name_may_be_used_again_in_the_step_that_frees_it(load, rows, spark, table):
    load(1, A, B)
    create_or_evolve(spark, REUSED, table)

    same = load(2, TOWN_A, TOWN_B, promise=REUSED)
    moved = load(3, {"id": 1, "name": "a", "city": "x"}, promise=REUSED, extract="incremental")

    assert (same.opened, same.closed, moved.opened) == (0, 0, 1)
    assert rows("id, town, city") == [
        (1, "x", None, 1, 3, False),
        (1, None, "x", 3, None, True),
        (2, "y", None, 1, None, True),
    ]


def test_a_column_may_take_the_name_that_another_leaves(load, rows, spark, table):
    moved = CONTRACT.replace("name: city,", "name: name, renamed_from: city,")
    chain = load_contract(
        moved.replace("{name: name, type", "{name: nick, renamed_from: name, type")
    )
    load(1, A, B)
    load(2, A | {"name": "c"}, B)
    create_or_evolve(spark, chain, table)

    done = load(3, {"id": 1, "nick": "c", "name": "x"}, promise=chain, extract="incremental")

    assert done.opened == 0
    assert rows("id, nick, name") == [
        (1, "a", "x", 1, 2, False),
        (1, "c", "x", 2, None, True),
        (2, "b", "y", 1, None, True),
    ]


def test_a_new_column_that_is_renamed_is_filled_still(load, rows, spark, table):
    post = load_contract(
        CONTRACT.replace("history:", "  - {name: post, type: string, renamed_from: zip}\nhistory:")
    )
    load(1, A, B)
    create_or_evolve(spark, MORE, table)
    create_or_evolve(spark, post, table)

    load(4, A | {"post": "2"}, B | {"post": "3"}, promise=post)

    assert rows("id, post") == [(1, "2", 1, None, True), (2, "3", 1, None, True)]


@pytest.mark.parametrize("renamed", [long(False), True])
def test_late_changes_compare_by_the_columns_that_are_tracked_now(
    load, rows, spark, table, renamed
):
    name = "name: town, renamed_from: city," if renamed else "name: city,"
    tracked = "[name, town]" if renamed else "[name, city]"
    text = TEXT.replace("name: city,", name).replace("[name]", tracked)
    after, city = load_contract(text), "town" if renamed else "city"
    told(load, "changes", 6, at(5, "a", seen=1, city="x"))
    told(load, "full", 10, at(5, "a", seen=1, city="x"))
    told(load, "changes", 21, at(20, "a", seen=2, city="x"))
    create_or_evolve(spark, after, table)

    told(load, "changes", 22, gone(7), promise=after)
    told(load, "changes", 23, at(15, "b", seen=3, **{city: "x"}), promise=after)

    assert [row[:5] for row in rows("id, name, seen")] == [
        (1, "a", 1, 5, 7),
        (1, "a", 1, 10, 15),
        (1, "b", 3, 15, 20),
        (1, "a", 2, 20, None),
    ]


def test_a_renaming_that_was_cut_short_is_finished_before_it_is_taken_back(
    load, rows, spark, table
):
    """Else the companion would get the old name anew, with nulls, and late records find them."""
    text = TEXT.replace("[name]", "[title]").replace(
        "name: name,", "name: title, renamed_from: name,"
    )
    after = load_contract(text)
    told(load, "changes", 16, at(5, "a"), at(15, "a"), at(20, "c"))
    spark.sql(f"ALTER TABLE {table}_facts RENAME COLUMN name TO title")

    with pytest.raises(SchemaMismatchError, match="title where its table has name"):
        create_or_evolve(spark, load_contract(TEXT), table)
    create_or_evolve(spark, after, table)
    load(21, {"title": "b", **{k: v for k, v in at(12, "b").items() if k != "name"}},
         extract="changes", promise=after)  # fmt: skip

    assert rows("id, title") == [
        (1, "a", 5, 12, False), (1, "b", 12, 15, False), (1, "a", 15, 20, False),
        (1, "c", 20, None, True),
    ]  # fmt: skip


def test_a_companion_is_brought_to_the_contract_before_its_table(load, spark, table):
    """A crash between the two leaves a table that the next run still brings to it."""
    told(load, "changes", 2, at(1, "a", city="x"))
    told(load, "changes", 4, at(3, "a", city="x"))
    text = TEXT.replace("name: city,", "name: town, renamed_from: city,")

    done = create_or_evolve(spark, load_contract(text), table).changes

    (companion,) = (n for n, text in enumerate(done) if f"{table}_facts".split(".")[-1] in text)
    assert "RENAME COLUMN" in done[companion]
    assert companion == 0
    assert len(done) > 1
