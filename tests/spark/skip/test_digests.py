"""Known lines are found by lists of their digests, which have places and come in halves."""

import pytest

from tests.spark.support.people import ANN, BEN, CAT, MOVED
from tests.spark.support.seams import around, one_digest, tune
from tests.tiers import long

pytestmark = pytest.mark.usefixtures("every_table_is_large")


@pytest.mark.parametrize("places", [1, long(2)])
def test_digests_beyond_the_places_of_a_list_are_not_known(load, rows, parsed, monkeypatch, places):
    tune(monkeypatch, digest_places=places)
    around(monkeypatch, "lists of digests", lambda *_: 1)
    load(1, ANN, BEN, CAT)

    done = load(2, ANN, BEN, {**CAT, "city": "Lima"})

    # The one that is changed may be among those in a place.
    assert parsed[1] in {3 - places, 4 - places}
    assert (done.opened, done.closed, done.unchanged) == (1, 1, 2)
    assert rows()[2:] == [(3, "Cat", "Rome", 1, 2, False), (3, "Cat", "Lima", 2, None, True)]


def test_one_list_of_many_digests_shows_which_no_line_has(load, rows, parsed, monkeypatch):
    around(monkeypatch, "lists of digests", lambda *_: 1)
    people = [{"id": n, "name": f"P{n}", "city": "Oslo"} for n in range(70)]
    load(1, *people)

    done = load(2, *people[:20], *people[21:69])

    # A list has 64 places; two of the six beyond them may be missing.
    assert 4 <= parsed[1] <= 6
    assert (done.deleted, done.unchanged) == (2, 68)
    assert [row[0] for row in rows("id") if not row[-1]] == [20, 69]


def test_the_second_half_of_the_digest_separates_lines(load, rows, parsed, monkeypatch):
    one_digest(monkeypatch)
    load(1, ANN)

    load(2, {**ANN, "city": "Rome"})

    assert parsed == [None, 0, None]
    assert rows() == MOVED[:2]


def test_versions_of_one_first_half_differ_by_the_second(load, assert_rows, monkeypatch):
    one_digest(monkeypatch)
    load(1, ANN, BEN)

    load(2, BEN)

    assert_rows((1, "Ann", "Oslo", 1, 2, False), MOVED[2])


@pytest.mark.long
def test_versions_of_one_first_half_that_no_line_shows_are_each_there_once(
    load, parsed, monkeypatch
):
    one_digest(monkeypatch, unless="%Cat%")
    load(1, ANN, BEN, CAT)

    done = load(2, CAT)

    assert parsed == [None, 0]
    assert (done.deleted, done.unchanged, done.duplicates) == (2, 1, 0)
