"""Queries as text, and the Athena dialect run by a second engine."""

from collections.abc import Iterator
from datetime import UTC, datetime

import duckdb
import pytest
from syrupy.assertion import SnapshotAssertion

from lakekit.errors import InvalidStepInputError
from lakekit.sql import queries

FIRST, LAST = datetime(2026, 1, 2, tzinfo=UTC), datetime(2026, 1, 5, tzinfo=UTC)
TEXTS = {
    "current": lambda dialect: queries.current_view("lake.local.people", dialect=dialect),
    "as_of": lambda dialect: queries.rows_as_of("people", FIRST, marked=True, dialect=dialect),
    "changes": lambda dialect: queries.changes_between(
        "people", ["region", "id"], (FIRST, LAST), columns=["region", "id", "name"], dialect=dialect
    ),
    "join": lambda dialect: queries.temporal_join(
        "orders", "people", ["id"], event_time="ordered_at", columns=["name"], dialect=dialect
    ),
}


@pytest.mark.parametrize("dialect", ["spark", "athena"])
@pytest.mark.parametrize("name", sorted(TEXTS))
def test_the_text_is_that_of_the_golden_file(
    name: str, dialect: str, snapshot: SnapshotAssertion
) -> None:
    """Renewed by `pytest --snapshot-update`."""
    assert TEXTS[name](dialect) == snapshot


def test_a_time_of_the_first_year_keeps_its_four_digits() -> None:
    time = datetime(1, 1, 1, 0, 0, 0, 1, tzinfo=UTC)

    assert queries.time_literal(time, "athena") == "TIMESTAMP '0001-01-01 00:00:00.000001'"


def test_a_name_cannot_end_its_quotes() -> None:
    assert '"a"" b"' in queries.current_rows('a" b', dialect="athena")
    assert "`a`` b`" in queries.current_rows("a` b")


@pytest.fixture
def engine() -> Iterator[duckdb.DuckDBPyConnection]:
    """Ann moves on the 3rd; Ben is deleted on the 4th and back on the 5th; Cid came on the 2nd."""
    with duckdb.connect() as connection:
        connection.execute(
            "CREATE TABLE people (id int, name text, _is_current boolean, "
            "_valid_from timestamp, _valid_to timestamp, _is_deleted boolean)"
        )
        for row in [
            (1, "Ann", False, "2026-01-01", "2026-01-03", False),
            (1, "Anna", True, "2026-01-03", None, False),
            (2, "Ben", False, "2026-01-01", "2026-01-04", False),
            (2, "Ben", True, "2026-01-05", None, False),
            (3, "Cid", False, "2026-01-02", "2026-01-06", False),
            (3, None, True, "2026-01-06", None, True),
        ]:
            connection.execute("INSERT INTO people VALUES (?, ?, ?, ?, ?, ?)", row)
        yield connection


def changes(engine: duckdb.DuckDBPyConnection, start: int, end: int, *, marked: bool) -> list:
    query = queries.changes_between(
        "people", ["id"],
        (datetime(2026, 1, start, tzinfo=UTC), datetime(2026, 1, end, tzinfo=UTC)),
        columns=["id", "name"], marked=marked, dialect="athena",
    )  # fmt: skip
    return [(row[0], row[1].day, *row[2:]) for row in engine.execute(query).fetchall()]


def test_changes_name_what_was_inserted_updated_and_deleted_after_the_start(engine) -> None:
    assert changes(engine, 1, 6, marked=True) == [
        ("inserted", 2, 3, "Cid"),
        ("updated", 3, 1, "Anna"),
        ("deleted", 4, 2, "Ben"),
        ("inserted", 5, 2, "Ben"),
        ("deleted", 6, 3, "Cid"),
    ]
    assert changes(engine, 2, 4, marked=True) == [
        ("updated", 3, 1, "Anna"), ("deleted", 4, 2, "Ben"),
    ]  # fmt: skip


@pytest.mark.parametrize(("day", "ids"), [(1, [1, 2]), (3, [1, 2, 3]), (4, [1, 3]), (6, [1, 2])])
def test_rows_as_of_a_day_are_those_whose_interval_holds_it(engine, day, ids) -> None:
    time = datetime(2026, 1, day, tzinfo=UTC)
    query = queries.rows_as_of("people", time, marked=True, dialect="athena")

    assert sorted(row[0] for row in engine.execute(query).fetchall()) == ids


def test_a_view_of_the_current_rows_leaves_out_versions_that_say_deleted(engine) -> None:
    engine.execute(queries.current_view("people", marked=True, dialect="athena"))

    assert engine.execute("SELECT id FROM people_current ORDER BY 1").fetchall() == [(1,), (2,)]


def test_an_event_meets_the_version_that_was_valid_when_it_happened(engine) -> None:
    engine.execute("CREATE TABLE orders (id int, ordered_at timestamp)")
    engine.execute(
        "INSERT INTO orders VALUES (1, '2026-01-02'), (1, '2026-01-03'), (2, '2026-01-04')"
    )
    query = queries.temporal_join(
        "orders", "people", ["id"], event_time="ordered_at", columns=["name"], dialect="athena"
    )

    names = [row[2] for row in engine.execute(f"{query} ORDER BY e.id, ordered_at").fetchall()]
    assert names == ["Ann", "Anna", None]


def test_a_range_of_times_that_ends_before_it_begins_is_refused() -> None:
    early, late = datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 1, 2, tzinfo=UTC)

    with pytest.raises(InvalidStepInputError, match="the first time is after the second"):
        queries.changes_between("people", ["id"], (late, early), columns=["id"])
    assert queries.changes_between("people", ["id"], (early, early), columns=["id"])
    assert queries.changes_between("people", ["id"], (":a", ":b"), columns=["id"])
