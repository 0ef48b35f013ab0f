"""Known lines are told by lists of their digests, which have so many places and come in halves."""

import pytest

from lakekit.spark.read import lines
from lakekit.spark.skip import digests
from lakekit.spark.skip import lines as sift
from lakekit.sql.line_hash import DIGEST
from tests.spark.people import ANN, BEN, CAT, MOVED

pytestmark = pytest.mark.usefixtures("every_table_is_large")


@pytest.mark.parametrize("places", [1, 2])
def test_digests_beyond_the_places_of_a_list_are_not_known(load, rows, parsed, monkeypatch, places):
    monkeypatch.setattr(digests, "PLACES", places)
    monkeypatch.setattr(sift, "number_of_lists", lambda _: 1)
    load(1, ANN, BEN, CAT)

    done = load(2, ANN, BEN, {**CAT, "city": "Lima"})

    # The one that is changed may be among those in a place.
    assert parsed[1] in {3 - places, 4 - places}
    assert (done.opened, done.closed, done.unchanged) == (1, 1, 2)
    assert rows()[2:] == [(3, "Cat", "Rome", 1, 2, False), (3, "Cat", "Lima", 2, None, True)]


def test_one_list_of_many_digests_tells_which_no_line_has(load, rows, parsed, monkeypatch):
    monkeypatch.setattr(sift, "number_of_lists", lambda _: 1)
    people = [{"id": n, "name": f"P{n}", "city": "Oslo"} for n in range(70)]
    load(1, *people)

    done = load(2, *people[:20], *people[21:69])

    # A list has 64 places; of the six beyond them two may be gone.
    assert 4 <= parsed[1] <= 6
    assert (done.deleted, done.unchanged) == (2, 68)
    assert [row[0] for row in rows("id") if not row[-1]] == [20, 69]


def test_the_second_half_of_the_digest_tells_lines_apart(load, rows, parsed, monkeypatch):
    real = lines.line_digest
    monkeypatch.setattr(lines, "line_digest", lambda *a: ["7L AS _line_hash", real(*a)[1]])
    load(1, ANN)

    load(2, {**ANN, "city": "Rome"})

    assert parsed == [None, 0, None]
    assert rows() == MOVED[:2]


def test_versions_of_one_first_half_are_told_apart_by_the_second(load, rows, monkeypatch):
    real = lines.line_digest
    monkeypatch.setattr(lines, "line_digest", lambda *a: ["7L AS _line_hash", real(*a)[1]])
    load(1, ANN, BEN)

    load(2, BEN)

    assert rows() == [(1, "Ann", "Oslo", 1, 2, False), MOVED[2]]


def test_versions_of_one_first_half_that_no_line_shows_are_each_there_once(
    load, parsed, monkeypatch
):
    real = lines.line_digest

    def digest(*asked):
        first, second = real(*asked)
        half = first.removesuffix(f" AS `{DIGEST[0]}`")
        assert half != first
        return [f"if(__raw LIKE '%Cat%', {half}, 7L) AS {DIGEST[0]}", second]

    monkeypatch.setattr(lines, "line_digest", digest)
    load(1, ANN, BEN, CAT)

    done = load(2, CAT)

    assert parsed == [None, 0]
    assert (done.deleted, done.unchanged, done.duplicates) == (2, 1, 0)
