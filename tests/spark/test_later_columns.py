"""Columns that a table gets later: what is told before them says nothing of them."""

import pytest

from lakekit.contracts import load_contract
from lakekit.spark.tables import create_or_evolve
from lakekit.sql.later import LATER_COLUMNS, LATER_UNTIL
from tests.spark.conftest import CONTRACT
from tests.spark.test_semantics_late import TEXT, at, gone, told


def grown(text, *names):
    """The contract with more columns, tracked."""
    columns = "".join(f"  - {{name: {name}, type: string}}\n" for name in names)
    return text.replace("history:", f"{columns}history:")


def test_until_when_a_column_was_not_known_is_told_of_each(load, rows, spark, table):
    both, one = (load_contract(grown(CONTRACT, *names)) for names in (("zip", "fax"), ("zip",)))
    load(1, {"id": 1, "name": "a"}, extract="incremental")
    create_or_evolve(spark, one, table)
    load(3, {"id": 1, "name": "b"}, {"id": 2, "name": "c"}, extract="incremental", promise=one)
    create_or_evolve(spark, both, table)

    told = {"id": 1, "name": "b", "zip": "2", "fax": "1"}, {"id": 2, "name": "c", "fax": "1"}
    done = load(4, *told, extract="incremental", promise=both)

    assert (done.opened, done.unchanged) == (1, 1)
    assert rows("id, name, zip, fax") == [
        (1, "a", None, None, 1, 3, False),
        (1, "b", None, None, 3, 4, False),
        (1, "b", "2", "1", 4, None, True),
        (2, "c", None, "1", 3, None, True),
    ]


@pytest.mark.parametrize("again", [False, True])
def test_a_table_with_one_time_for_all_later_columns_is_filled_still(
    load, rows, spark, table, again
):
    both, one = (load_contract(grown(CONTRACT, *names)) for names in (("zip", "fax"), ("zip",)))
    load(1, {"id": 1, "name": "a"}, {"id": 2, "name": "b"}, extract="incremental")
    create_or_evolve(spark, one, table)
    known = f"'{LATER_COLUMNS}' = 'zip', '{LATER_UNTIL}' = '2026-01-01 00:00:00'"
    spark.sql(f"ALTER TABLE {table} SET TBLPROPERTIES ({known})")
    if again:
        create_or_evolve(spark, both, table)

    load(3, {"id": 1, "name": "a", "zip": "1"}, promise=both if again else one)
    assert rows("id, zip") == [(1, "1", 1, None, True), (2, None, 1, 3, False)]

    load(4, {"id": 1, "name": "a"}, promise=both if again else one)
    assert [row[:2] for row in rows("id, zip")] == [(1, "1"), (1, None), (2, None)]


ZIP = grown(TEXT, "zip").replace("[name]", "[name, zip]")
ALIKE = [(1, "a", "x", 1, None, True)]


def test_what_was_said_again_before_a_column_came_opens_no_version(load, rows, spark, table):
    told(load, "full", 1, at(1, "a"))
    told(load, "full", 3, at(2, "a"))
    create_or_evolve(spark, load_contract(ZIP), table)

    done = told(load, "full", 5, at(2, "a", zip="x"), promise=load_contract(ZIP))

    assert (done.opened, done.closed, done.restored) == (0, 0, 0)
    assert rows("id, name, zip") == ALIKE


# Of each key: what the runs of some days say, and the versions of then.
STORIES = (
    ({5: at(5, "a", zip="x"), 6: at(4, "a", zip="x")}, [("a", "x", 2, None)]),
    ({5: at(5, "a", zip="x"), 6: at(4, "a", zip="y")}, [("a", "y", 2, 5), ("a", "x", 5, None)]),
    ({5: at(4, "a"), 6: at(5, "a", zip="x")}, [("a", None, 2, 5), ("a", "x", 5, None)]),
    (
        {5: at(5, "a", zip="x"), 6: at(4, "b", zip="y")},
        [("a", None, 2, 4), ("b", "y", 4, 5), ("a", "x", 5, None)],
    ),
    ({5: at(5, "a", zip="x"), 6: gone(4)}, [("a", None, 2, 4), ("a", "x", 5, None)]),
    ({5: at(5, "a", zip="x"), 6: at(1, "a", zip="y")}, [("a", "y", 1, 5), ("a", "x", 5, None)]),
    # It was extracted before the column came, and is merged afterwards.
    ({5: at(4, "a", zip="x"), 2: at(5, "a")}, [("a", "x", 2, None)]),
)


@pytest.mark.parametrize("order", [(5, 6, 2), (6, 2, 5), (2, 5, 6)])
@pytest.mark.parametrize("untracked", ["overwrite", "ignore"])
def test_what_a_later_column_says_depends_on_no_order(load, rows, spark, table, untracked, order):
    options = f"keys: [id], untracked: {untracked}"
    before, after = (load_contract(text.replace("keys: [id]", options)) for text in (TEXT, ZIP))
    for day in (2, 3):
        told(load, "changes", day, *[at(day, "a", id=n) for n in range(7)], promise=before)
    create_or_evolve(spark, after, table)

    for day in order:
        said = [runs[day] | {"id": n} for n, (runs, _) in enumerate(STORIES) if day in runs]
        load(day, *said, extract="changes", run_id=f"then-{day}", promise=after)

    found = rows("id, name, zip")
    for n, (_, versions) in enumerate(STORIES):
        assert [row[1:5] for row in found if row[0] == n] == versions, n
