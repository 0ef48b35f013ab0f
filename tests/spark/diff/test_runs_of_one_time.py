"""Runs of one extraction time: the later one counts where two say something of one time.

Several keys get the same records: an accidental order shows in one of them. The last run of each
story is a late change, for which the merge reads the journal again.
"""

import pytest

from tests.spark.support.late import CDC, SCOPE, at, cdc, deletion, load_as
from tests.spark.support.rebuilt import World, person
from tests.tiers import long

NUMBERS = range(1, 9)


def of_all(*rows):
    """Give each key the records of a run, or the rows of a table."""
    if isinstance(rows[0], dict):
        return [{**row, "id": number} for number in NUMBERS for row in rows]
    return [(number, *row) for number in NUMBERS for row in rows]


def merge(load, *runs, contract=CDC):
    """Merge runs of the 20th of January with descending names, and the last one a day later."""
    for number, records in enumerate(runs):
        day, run_id = 20 + (number == len(runs) - 1), f"run-{9 - number}"
        load(day, *of_all(*records), extract="changes", contract=contract, run_id=run_id)


@pytest.mark.long
def test_a_record_that_came_before_another_stays_behind_it(load, rows):
    merge(load, [at(5, "a"), at(10, "a")], [at(5, "b")], [at(10, "b")], [at(7, "c")])

    assert rows("id, name") == of_all(
        ("b", 5, 7, False), ("c", 7, 10, False), ("b", 10, None, True)
    )


@pytest.mark.long
@pytest.mark.parametrize("options", [{}, {"ignore_null_updates": True}])
def test_the_untracked_values_that_came_last_count(load, rows, options):
    merge(
        load, [at(5, "a", seen=9), at(10, "a", seen=1)], [at(10, "a", seen=2)],
        [at(10, "a", seen=3)], [at(7, "c", seen=4)], contract=cdc(**options),
    )  # fmt: skip

    assert rows("id, seen") == of_all((9, 5, 7, False), (4, 7, 10, False), (3, 10, None, True))


@pytest.mark.long
def test_deletions_and_records_beat_each_other_in_the_order_in_which_they_came(load, rows):
    merge(
        load, [at(5, "a"), deletion(10)], [at(10, "b")], [deletion(10)], [at(10, "c")], [at(7, "d")]
    )

    assert rows("id, name") == of_all(
        ("a", 5, 7, False), ("d", 7, 10, False), ("c", 10, None, True)
    )


@pytest.mark.long
@pytest.mark.parametrize(
    ("options", "order"),
    [
        ({}, 1),
        long({}, -1),
        long({"deletes": "mark"}, 1),
        ({"deletes": "mark"}, -1),
        (SCOPE, 1),
        long(SCOPE, -1),
    ],
)
def test_a_key_stays_that_one_of_two_full_extracts_holds(load, rows, options, order):
    ann, ben = at(5, "a", seen=1), {**at(5, "b", seen=1), "id": 2}
    contract = cdc(**options)
    load_as(load, "full", 10, ann, ben, contract=contract)

    for number, records in enumerate([(ann, ben), (ben,)][::order]):
        load(20, *records, extract="full", contract=contract, run_id=f"run-{9 - number}")

    assert [row[:4] for row in rows("id, name")] == [(1, "a", 5, None), (2, "b", 5, None)]


@pytest.mark.long
@pytest.mark.parametrize("order", [1, long(-1)])
def test_a_key_ends_that_one_extract_lacks_and_one_holds_as_it_will_be(load, rows, order):
    """A record ahead of an extract is not in it; a late record reads the journal once more."""
    ann, ben = at(5, "a"), {**at(5, "b"), "id": 2}
    load_as(load, "full", 10, ann, ben)

    for number, records in enumerate([(at(25, "z"), ben), (ben,)][::order]):
        load(20, *records, extract="full", contract=CDC, run_id=f"run-{9 - number}")
    load_as(load, "changes", 26, at(7, "c"))

    found = [row[:4] for row in rows("id, name")]
    assert found == [(1, "a", 5, 7), (1, "c", 7, 20), (1, "z", 25, None), (2, "b", 5, None)]


@pytest.mark.long
@pytest.mark.parametrize("order", [1, long(-1)])
def test_the_newest_record_of_two_full_extracts_decides_what_a_key_was(load, rows, order):
    for number, record in enumerate([at(8, "a"), at(5, "b")][::order]):
        load(20, *of_all(record), extract="full", contract=CDC, run_id=f"run-{9 - number}")

    load_as(load, "changes", 21, *of_all(deletion(19)))

    assert rows("id, name") == of_all(
        ("b", 5, 8, False), ("a", 8, 19, False), ("a", 20, None, True)
    )


@pytest.mark.long
@pytest.mark.parametrize(
    "last",
    [long([at(10, "k")]), [at(10, "k"), at(3, "x")], long([at(9, "c"), at(3, "x")])],
)
def test_it_decides_though_a_late_change_has_hidden_what_the_other_held(load, rows, last):
    load(20, *of_all(at(8, "a")), extract="full", contract=CDC, run_id="run-9")
    load_as(load, "changes", 21, *of_all(at(9, "c")))
    load(20, *of_all(*last), extract="full", contract=CDC, run_id="run-8")

    load_as(load, "changes", 22, *of_all(deletion(19)))

    assert rows("id, name")[-1][1:] == (last[0]["name"], 20, None, True)
    assert {row[1:] for row in rows("id, name") if row[3] is None} == {
        (last[0]["name"], 20, None, True)
    }


@pytest.mark.long
def test_what_was_recorded_before_a_rebuild_came_first(spark, table, tmp_path):
    world = World(spark, table, tmp_path)

    def say(day, run_id, *records):
        world.merge(day, *records, extract="incremental", run_id=run_id)

    say(20, "run-3", *[person(n, name, day) for n in NUMBERS for name, day in (("a", 5), ("a", 9))])
    say(20, "run-2", *[person(n, "b", 5) for n in NUMBERS])
    world.damage("DROP TABLE {t} PURGE", "DROP TABLE {t}_journal PURGE")
    world.rebuild()

    say(20, "run-1", *[person(n, "b", 9) for n in NUMBERS])
    say(21, "run-0", *[person(n, "c", 7) for n in NUMBERS])

    versions = spark.sql(f"SELECT id, name, day(_valid_from) FROM {table} ORDER BY 1, 3")
    assert [tuple(row) for row in versions.collect()] == of_all(("b", 5), ("c", 7), ("b", 9))
