import json
from datetime import datetime

from lakekit.sql.added_columns import (
    LATER_COLUMNS,
    LATER_FILLED,
    LATER_SCOPES,
    LATER_UNTIL,
    Later,
    later_columns,
    told_by_full,
    with_added,
)

NEWEST = "2026-01-01 00:00:00"
NORTH, SOUTH = '{"seen":"north"}', '{"seen":"south"}'
DAY = [datetime(2026, 1, day) for day in range(1, 10)]


def test_each_later_column_has_a_time_of_its_own_which_goes_with_its_name() -> None:
    known = with_added({}, ["zip"], {}, "2026-01-01 00:00:00")

    known |= with_added(known, ["fax"], {"zip": "post"}, "2026-01-03 00:00:00")

    assert later_columns(known) == (Later("post", DAY[0]), Later("fax", DAY[2]))


def test_the_one_time_of_an_older_table_holds_for_the_columns_of_then() -> None:
    known = {LATER_COLUMNS: "zip", LATER_UNTIL: "2026-01-01 00:00:00"}
    assert later_columns(known) == (Later("zip", DAY[0]),)

    known |= with_added(known, ["fax"], {}, "2026-01-03 00:00:00")

    assert later_columns(known) == (Later("zip", DAY[0]), Later("fax", DAY[2]))


def test_a_table_may_not_know_until_when_it_lacked_a_column() -> None:
    known = {LATER_COLUMNS: "zip"}

    assert later_columns(known) == (Later("zip"),)
    assert later_columns(known | told_by_full(known, DAY[4], NEWEST)) == ()


def test_a_full_extract_tells_the_columns_that_are_older() -> None:
    known = with_added({}, ["zip"], {}, "2026-01-01 00:00:00")
    known |= with_added(known, ["fax"], {}, "2026-01-03 00:00:00")

    known |= told_by_full(known, DAY[2], NEWEST)

    assert known[LATER_COLUMNS] == "fax"
    assert later_columns(known) == (Later("zip", DAY[0], DAY[2]), Later("fax", DAY[2]))
    assert told_by_full(known, DAY[2], NEWEST) == {}


def test_a_column_that_is_added_anew_is_unknown_anew() -> None:
    """A crash came before it was added, and a full extract without it was merged meanwhile."""
    known = with_added({}, ["zip"], {}, "2026-01-01 00:00:00")
    known |= told_by_full(known, DAY[2], NEWEST)

    known |= with_added(known, ["zip"], {}, "2026-01-03 00:00:00")

    assert later_columns(known) == (Later("zip", DAY[2]),)


def test_what_was_filled_in_before_an_older_full_extract_came_stays() -> None:
    known = with_added({}, ["zip"], {}, "2026-01-01 00:00:00")

    known |= told_by_full(known, DAY[4], "2026-01-07 00:00:00")

    assert later_columns(known) == (Later("zip", DAY[0], DAY[6]),)
    assert LATER_FILLED in known
    assert told_by_full(known, DAY[2], "2026-01-08 00:00:00") == {}


def test_full_extracts_of_scopes_have_told_a_column_once_they_were_of_all_that_are_held() -> None:
    known = with_added({}, ["zip"], {}, "2026-01-01 00:00:00")

    for day, scope, notes in ((2, NORTH, 1), (3, NORTH, 0), (4, SOUTH, 3)):
        assert later_columns(known) == (Later("zip", DAY[0]),)
        told = told_by_full(known, DAY[day], NEWEST, scopes=[scope], held=[SOUTH, NORTH])
        assert len(told) == notes
        known |= told

    assert later_columns(known) == (Later("zip", DAY[0], DAY[4]),)
    assert json.loads(known[LATER_SCOPES]) == {}


def test_the_scopes_that_have_told_a_column_go_with_its_name_and_not_with_another_of_it() -> None:
    known = with_added({}, ["zip"], {}, "2026-01-01 00:00:00")
    known |= told_by_full(known, DAY[2], NEWEST, scopes=[NORTH], held=[SOUTH, NORTH])

    renamed = known | with_added(known, [], {"zip": "post"}, "2026-01-04 00:00:00")
    anew = known | with_added(known, ["zip"], {}, "2026-01-04 00:00:00")

    assert json.loads(renamed[LATER_SCOPES]) == {"post": [NORTH]}
    assert json.loads(anew[LATER_SCOPES]) == {}


def test_the_scopes_that_have_told_a_column_are_known_by_the_names_of_their_own_columns() -> None:
    known = with_added({}, ["zip"], {}, "2026-01-01 00:00:00")
    scopes = ['{"Seen":"x","n":1.50}', '{"Seen":null,"n":2}']
    known |= told_by_full(known, DAY[2], NEWEST, scopes=scopes[:1], held=scopes)

    known |= with_added(known, ["fax"], {"seen": "team", "zip": "post"}, "2026-01-04 00:00:00")
    known |= with_added(known, [], {"n": "seen", "team": "zone"})
    held = ['{"seen":1.50,"zone":"x"}', '{"seen":2,"zone":null}']
    known |= told_by_full(known, DAY[5], NEWEST, scopes=held[1:], held=held)

    assert later_columns(known)[0] == Later("post", DAY[0], DAY[5])
