"""A version that says deleted keeps the content of the version that it ends (`deletes: mark`).

Days are of January: the day from which a record holds, and the day of a run's extract.
"""

import pytest

from tests.spark.support.late import at, cdc, deletion, load_as
from tests.spark.support.people import ANN, BEN, people
from tests.tiers import long

MARK = cdc(deletes="mark")
SHOWN = "id, name, seen, day(at), _is_deleted"


def test_a_mark_has_the_content_of_its_version_wherever_the_deletion_lies(load, assert_rows):
    """Not that of the record that deletes, which may have none, or another."""
    load_as(load, "changes", 3, at(1, "a", seen=1), at(2, "a", seen=2), contract=MARK)
    load_as(load, "changes", 5, deletion(4), deletion(4) | {"id": 2}, contract=MARK)
    load_as(load, "changes", 9, at(8, "a", seen=2), at(9, "b", op="D", seen=7), contract=MARK)
    assert_rows(
        (1, "a", 2, 2, False, 1, 4, False),
        (1, "a", 2, 2, True, 4, 8, False),
        (1, "a", 2, 8, False, 8, 9, False),
        (1, "a", 2, 8, True, 9, None, True),
        columns=SHOWN,
    )

    done = load_as(load, "changes", 11, at(3, "c", seen=3), deletion(6), contract=MARK)

    assert_rows(
        (1, "a", 2, 2, False, 1, 3, False),
        (1, "c", 3, 3, False, 3, 4, False),
        (1, "c", 3, 3, True, 4, 8, False),
        (1, "a", 2, 8, False, 8, 9, False),
        (1, "a", 2, 8, True, 9, None, True),
        columns=SHOWN,
    )
    assert (done.opened, done.closed, done.deleted) == (1, 1, 1)


@pytest.mark.long
@pytest.mark.usefixtures("both_ways_of_writing")
@pytest.mark.parametrize("options", [{}, {"untracked": "ignore"}, {"late_changes": "quarantine"}])
def test_a_mark_of_an_absent_key_has_what_its_version_showed(load, rows, options):
    contract = cdc(deletes="mark", **options)
    other = at(1, "z", id=2)
    load_as(load, "full", 2, at(1, "a", seen=1), other, contract=contract)
    load_as(load, "full", 4, at(3, "a", seen=2), other, contract=contract)

    load_as(load, "full", 5, other, contract=contract)

    seen, day = (1, 1) if options.get("untracked") else (2, 3)
    assert rows(SHOWN)[:2] == [
        (1, "a", seen, day, False, 1, 5, False),
        (1, "a", seen, day, True, 5, None, True),
    ]


@pytest.mark.long
def test_a_mark_without_a_sequence_and_what_comes_back_as_it_was(load, rows, spark, table):
    marking = people(deletes="mark")
    load(1, ANN, BEN, contract=marking)
    load(2, BEN, contract=marking)
    load(3, BEN, contract=marking)
    load(4, ANN, BEN, contract=marking)

    assert rows("id, name, city, _is_deleted")[:3] == [
        (1, "Ann", "Oslo", False, 1, 2, False),
        (1, "Ann", "Oslo", True, 2, 4, False),
        (1, "Ann", "Oslo", False, 4, None, True),
    ]
    hashes = spark.table(table).where("id = 1").select("_row_hash").distinct()
    assert hashes.count() == 1


@pytest.mark.long
@pytest.mark.parametrize("kind", ["changes", "incremental"])
def test_a_mark_of_partial_records_is_filled_as_its_version(load, rows, kind):
    contract = cdc(deletes="mark", ignore_null_updates=True)
    load_as(load, kind, 2, at(1, "a", seen=1), contract=contract)
    load_as(load, kind, 4, at(3, "b"), contract=contract)

    load_as(load, "changes", 5, deletion(5), at(5, "c", id=2), contract=contract)

    assert rows(SHOWN)[1:3] == [
        (1, "b", 1, 3, False, 3, 5, False),
        (1, "b", 1, 3, True, 5, None, True),
    ]


@pytest.mark.long
@pytest.mark.parametrize("way", ["late", long("forward")])
def test_a_mark_lacks_what_the_contract_has_dropped(load, rows, way):
    dropped = cdc(deletes="mark", columns={"city": None})
    load_as(load, "changes", 2, at(1, "a", city="x"), contract=MARK)
    if way == "late":
        load_as(load, "changes", 8, at(7, "b"), contract=dropped)

    load_as(load, "changes", 9, deletion(5), contract=dropped)

    assert rows("id, name, city, _is_deleted")[1] == (
        1, "a", None, True, 5, 7 if way == "late" else None, way == "forward"
    )  # fmt: skip
