"""Columns that are added later: which are still backfilled, and what ends the backfill."""

from datetime import datetime

import pytest

from lakekit.sql.added_columns import AddedColumn, added_columns, ended_by_full, with_added
from lakekit.table_properties import ADDED_COLUMNS

NORTH, SOUTH = '{"seen":"north"}', '{"seen":"south"}'
DAY = [datetime(2026, 1, day) for day in range(1, 10)]


def scopes(properties: dict[str, str]) -> dict[str, list[str]]:
    return {name: [*each.scopes] for name, each in (ADDED_COLUMNS.read(properties) or {}).items()}


def test_the_property_has_each_column_with_the_newest_extraction_time_before_it() -> None:
    (text,) = with_added({}, ["zip"], {}, DAY[0]).values()

    assert text == '{"zip":{"added_after":"2026-01-01T00:00:00","scopes":[]}}'


def test_a_table_without_the_property_has_no_added_columns() -> None:
    assert added_columns({}) == ()
    assert ended_by_full({}, DAY[0]) == {}


def test_each_column_has_a_time_of_its_own_which_goes_with_its_name() -> None:
    known = with_added({}, ["zip"], {}, DAY[0])

    known |= with_added(known, ["fax"], {"zip": "post"}, DAY[2])

    assert added_columns(known) == (AddedColumn("post", DAY[0]), AddedColumn("fax", DAY[2]))


@pytest.mark.parametrize(("added", "renames"), [([], {}), ([], {"name": "title"})])
def test_nothing_is_recorded_if_no_column_is_added(added, renames) -> None:
    assert with_added({}, added, renames, DAY[0]) == {}


def test_a_full_extract_ends_the_backfill_of_the_columns_that_it_has() -> None:
    known = with_added({}, ["zip"], {}, DAY[0])
    known |= with_added(known, ["fax"], {}, DAY[2])

    known |= ended_by_full(known, DAY[2])

    assert added_columns(known) == (AddedColumn("fax", DAY[2]),)
    assert ended_by_full(known, DAY[2]) == {}


def test_a_column_that_is_added_again_is_backfilled_again() -> None:
    """A crash came before it was added, and a full extract without it was merged meanwhile."""
    known = with_added({}, ["zip"], {}, DAY[0])
    known |= ended_by_full(known, DAY[2])

    known |= with_added(known, ["zip"], {}, DAY[2])

    assert added_columns(known) == (AddedColumn("zip", DAY[2]),)


def test_the_backfill_ends_with_the_last_scope_that_the_table_holds() -> None:
    known = with_added({}, ["zip"], {}, DAY[0])

    for day, scope, changes in ((2, NORTH, True), (3, NORTH, False), (4, SOUTH, True)):
        assert added_columns(known) == (AddedColumn("zip", DAY[0]),)
        ended = ended_by_full(known, DAY[day], scopes=[scope], held=[SOUTH, NORTH])
        assert bool(ended) == changes
        known |= ended

    assert added_columns(known) == ()


def test_the_scopes_of_a_column_go_with_its_name_and_not_with_another_of_it() -> None:
    known = with_added({}, ["zip"], {}, DAY[0])
    known |= ended_by_full(known, DAY[2], scopes=[NORTH], held=[SOUTH, NORTH])

    renamed = known | with_added(known, [], {"zip": "post"}, DAY[3])
    again = known | with_added(known, ["zip"], {}, DAY[3])

    assert scopes(renamed) == {"post": [NORTH]}
    assert scopes(again) == {"zip": []}


def test_scopes_are_known_by_the_names_that_their_own_columns_have_today() -> None:
    known = with_added({}, ["zip"], {}, DAY[0])
    found = ['{"Seen":"x","n":1.50}', '{"Seen":null,"n":2}']
    known |= ended_by_full(known, DAY[2], scopes=found[:1], held=found)

    known |= with_added(known, ["fax"], {"seen": "team", "zip": "post"}, DAY[3])
    known |= with_added(known, [], {"n": "seen", "team": "zone"}, DAY[3])
    held = ['{"seen":1.50,"zone":"x"}', '{"seen":2,"zone":null}']
    known |= ended_by_full(known, DAY[5], scopes=held[1:], held=held)

    assert [each.name for each in added_columns(known)] == ["fax"]
    assert scopes(known) == {"fax": held[1:]}
