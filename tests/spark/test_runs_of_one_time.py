"""Runs of one extraction time: of two that say something of one moment, the later one counts.

Several keys are given the same: what would be left to chance shows in one of them. The last run of
each story is a late change, by which the table asks again what was said.
"""

import pytest

from lakekit.spark.schema.create_tables import create_or_evolve
from lakekit.sql.tables import ARRIVED
from tests.spark.late import TIMED, at, gone, told, with_history
from tests.spark.rebuilt import World, person
from tests.tiers import long

NUMBERS = range(1, 9)


def of_all(*rows):
    """Give each key the records of a run, or the rows of a table."""
    if isinstance(rows[0], dict):
        return [{**row, "id": number} for number in NUMBERS for row in rows]
    return [(number, *row) for number in NUMBERS for row in rows]


def merge(load, *runs, promise=TIMED):
    """Merge runs of the 20th of January, whose names go down, and the last one a day later."""
    for number, records in enumerate(runs):
        day, run_id = 20 + (number == len(runs) - 1), f"run-{9 - number}"
        load(day, *of_all(*records), extract="changes", promise=promise, run_id=run_id)


def test_a_record_that_came_before_another_stays_behind_it(load, rows):
    merge(load, [at(5, "a"), at(10, "a")], [at(5, "b")], [at(10, "b")], [at(7, "c")])

    assert rows("id, name") == of_all(
        ("b", 5, 7, False), ("c", 7, 10, False), ("b", 10, None, True)
    )


@pytest.mark.parametrize("options", ["late_changes: exact", "ignore_null_updates: true"])
def test_the_untracked_values_that_came_last_count(load, rows, options):
    merge(
        load, [at(5, "a", seen=9), at(10, "a", seen=1)], [at(10, "a", seen=2)],
        [at(10, "a", seen=3)], [at(7, "c", seen=4)], promise=with_history(options),
    )  # fmt: skip

    assert rows("id, seen") == of_all((9, 5, 7, False), (4, 7, 10, False), (3, 10, None, True))


def test_deletions_and_records_beat_each_other_in_the_order_in_which_they_came(load, rows):
    merge(load, [at(5, "a"), gone(10)], [at(10, "b")], [gone(10)], [at(10, "c")], [at(7, "d")])

    assert rows("id, name") == of_all(
        ("a", 5, 7, False), ("d", 7, 10, False), ("c", 10, None, True)
    )


@pytest.mark.parametrize(
    ("options", "order"),
    [
        ("deletes: close", 1),
        long("deletes: close", -1),
        long("deletes: mark", 1),
        ("deletes: mark", -1),
        ("delete_scope: [seen]", 1),
        long("delete_scope: [seen]", -1),
    ],
)
def test_a_key_stays_that_one_of_two_full_extracts_holds(load, rows, options, order):
    ann, ben = at(5, "a", seen=1), {**at(5, "b", seen=1), "id": 2}
    promise = with_history(options)
    told(load, "full", 10, ann, ben, promise=promise)

    for number, records in enumerate([(ann, ben), (ben,)][::order]):
        load(20, *records, extract="full", promise=promise, run_id=f"run-{9 - number}")

    assert [row[:4] for row in rows("id, name")] == [(1, "a", 5, None), (2, "b", 5, None)]


@pytest.mark.parametrize("order", [1, long(-1)])
def test_a_key_ends_that_one_extract_lacks_and_one_holds_as_it_will_be(load, rows, order):
    """What lies ahead of an extract does not say what it held; a late record asks once more."""
    ann, ben = at(5, "a"), {**at(5, "b"), "id": 2}
    told(load, "full", 10, ann, ben)

    for number, records in enumerate([(at(25, "z"), ben), (ben,)][::order]):
        load(20, *records, extract="full", promise=TIMED, run_id=f"run-{9 - number}")
    told(load, "changes", 26, at(7, "c"))

    found = [row[:4] for row in rows("id, name")]
    assert found == [(1, "a", 5, 7), (1, "c", 7, 20), (1, "z", 25, None), (2, "b", 5, None)]


@pytest.mark.parametrize("order", [1, -1])
def test_of_two_full_extracts_the_newest_record_tells_what_a_key_was(load, rows, order):
    for number, record in enumerate([at(8, "a"), at(5, "b")][::order]):
        load(20, *of_all(record), extract="full", promise=TIMED, run_id=f"run-{9 - number}")

    told(load, "changes", 21, *of_all(gone(19)))

    assert rows("id, name") == of_all(
        ("b", 5, 8, False), ("a", 8, 19, False), ("a", 20, None, True)
    )


@pytest.mark.parametrize(
    "last",
    [long([at(10, "k")]), [at(10, "k"), at(3, "x")], long([at(9, "c"), at(3, "x")])],
)
def test_it_tells_it_though_a_late_change_has_hidden_what_the_other_held(load, rows, last):
    load(20, *of_all(at(8, "a")), extract="full", promise=TIMED, run_id="run-9")
    told(load, "changes", 21, *of_all(at(9, "c")))
    load(20, *of_all(*last), extract="full", promise=TIMED, run_id="run-8")

    told(load, "changes", 22, *of_all(gone(19)))

    assert rows("id, name")[-1][1:] == (last[0]["name"], 20, None, True)
    assert {row[1:] for row in rows("id, name") if row[3] is None} == {
        (last[0]["name"], 20, None, True)
    }


def test_what_a_companion_knows_from_before_it_kept_that_order_came_first(load, rows, spark, table):
    told(load, "changes", 20, *of_all(at(5, "a"), at(10, "a")))
    spark.sql(f"ALTER TABLE {table}_facts DROP COLUMN {ARRIVED}")
    told(load, "changes", 21, *of_all(at(1, "z")))
    assert len(create_or_evolve(spark, TIMED, table).changes) == 1

    merge(load, [at(5, "b")], [at(10, "b")], [at(7, "c")])

    assert rows("id, name") == of_all(
        ("z", 1, 5, False), ("b", 5, 7, False), ("c", 7, 10, False), ("b", 10, None, True)
    )


def test_what_was_told_before_a_rebuild_came_first(spark, table, tmp_path):
    world = World(spark, table, tmp_path)

    def say(day, run_id, *records):
        world.merge(day, *records, extract="incremental", run_id=run_id)

    say(20, "run-3", *[person(n, name, day) for n in NUMBERS for name, day in (("a", 5), ("a", 9))])
    say(20, "run-2", *[person(n, "b", 5) for n in NUMBERS])
    world.damage("DROP TABLE {t} PURGE", "DROP TABLE {t}_facts PURGE")
    world.rebuild()

    say(20, "run-1", *[person(n, "b", 9) for n in NUMBERS])
    say(21, "run-0", *[person(n, "c", 7) for n in NUMBERS])

    versions = spark.sql(f"SELECT id, name, day(_valid_from) FROM {table} ORDER BY 1, 3")
    assert [tuple(row) for row in versions.collect()] == of_all(("b", 5), ("c", 7), ("b", 9))
