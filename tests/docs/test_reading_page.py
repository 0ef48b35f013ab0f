"""The Athena snippets of the page on reading, run by a second engine."""

from collections.abc import Iterator

import duckdb
import pytest

from tests.docs.pages import snippets

PAGE = [
    each
    for kind in ("sql", "python")
    for each in snippets(kind)
    if each.page == "docs/reading.md" and each.text.partition("\n")[0].endswith(" Athena")
]
# What DuckDB does not take: Athena's prepared statements.
RUN = [each for each in PAGE if "airports_as_of" not in each.text]
HISTORY = """
CREATE TABLE {name} ({columns}, _is_current boolean,
  _valid_from timestamp, _valid_to timestamp, _is_deleted boolean)
"""


@pytest.fixture
def engine() -> Iterator[duckdb.DuckDBPyConnection]:
    """In March 2025 EHAM is renamed, WIOS deleted and KJFK new; one customer is deleted."""
    with duckdb.connect() as connection:
        airports = "icao text, name text, city text"
        customers = "region text, customer_id int, tier text"
        for name, columns in {"airports": airports, "customers": customers}.items():
            connection.execute(HISTORY.format(name=name, columns=columns))
        connection.execute("CREATE TABLE flights (icao text, departed_at timestamp)")
        connection.execute(
            "INSERT INTO airports VALUES "
            "('EHAM', 'Schiphol', NULL, false, '2024-08-06', '2025-03-01', false), "
            "('EHAM', 'Amsterdam', NULL, true, '2025-03-01', NULL, false), "
            "('WIOS', 'Susilo', NULL, false, '2024-08-06', '2025-03-01', false), "
            "('KJFK', 'Kennedy', NULL, true, '2025-03-01', NULL, false)"
        )
        connection.execute(
            "INSERT INTO customers VALUES "
            "('eu', 1, 'gold', false, '2024-08-06', '2025-03-01', false), "
            "('eu', 1, NULL, true, '2025-03-01', NULL, true), "
            "('us', 1, 'iron', true, '2025-03-01', NULL, false)"
        )
        connection.execute(
            "INSERT INTO flights VALUES ('EHAM', '2025-02-28 23:59:59'), "
            "('EHAM', '2025-03-01'), ('WIOS', '2025-03-01')"
        )
        yield connection


def run(engine: duckdb.DuckDBPyConnection, text: str) -> list[tuple]:
    """Run a snippet: a view is read, and the query that Python makes is run."""
    if text.startswith("# Athena"):
        names: dict[str, str] = {}
        exec(text, names)  # noqa: S102  the page's own code
        text = names["query"]
    engine.execute(text)
    if "CREATE OR REPLACE VIEW" in text:
        engine.execute("SELECT icao, name FROM airports_current")
    return engine.fetchall()


# The rows of each snippet, in their order; a change is its kind, time and key.
EXPECTED = [
    {("EHAM", "Amsterdam"), ("KJFK", "Kennedy")},
    {("updated", "EHAM", "Amsterdam"), ("inserted", "KJFK", "Kennedy"),
     ("deleted", "WIOS", "Susilo")},
    {("EHAM", 28, "Schiphol"), ("EHAM", 1, "Amsterdam"), ("WIOS", 1, None)},
    {("deleted", "eu", 1), ("inserted", "us", 1)},
]  # fmt: skip
SHOWN = [
    lambda row: row,
    lambda row: (row[0], row[2], row[3]),
    lambda row: (row[0], row[1].day, row[2]),
    lambda row: (row[0], row[2], row[3]),
]


@pytest.mark.parametrize(
    ("text", "shown", "expected"),
    list(zip([each.text for each in RUN], SHOWN, EXPECTED, strict=True)),
    ids=["current", "changes", "join", "own"],
)
def test_a_snippet_for_athena_shows_what_the_page_says(engine, text, shown, expected) -> None:
    rows = run(engine, text)

    assert {shown(row) for row in rows} == expected
    assert len(rows) == len(expected)


def test_the_prepared_statement_takes_as_many_times_as_it_is_given() -> None:
    prepared, executed = (each.text for each in PAGE if "airports_as_of" in each.text)

    assert prepared.count("?") == executed.count("TIMESTAMP '") == 2
