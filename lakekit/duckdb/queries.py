"""The questions to a table as DuckDB's SQL, and which tables a query names."""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import TYPE_CHECKING, Any

from lakekit.duckdb.tables import Table, refuse_unknown
from lakekit.errors import InvalidStepInputError
from lakekit.sql import queries
from lakekit.sql.queries import double_quote, text_literal

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_SCANNED = "__scanned"
# A type that is one, or has one in it.
_FLOATS = re.compile(r"\b(float|double)\b")
_ONE_QUERY = "give one query, which only reads"


def scanned(table: Table) -> str:
    """Return the statement that gives a table the name by which the questions call it.

    Its own name could be that of a part of a question.
    """
    return view(table, _SCANNED)


def history(table: Table, conditions: Sequence[str]) -> str:
    """Return the query of all versions that fulfil some conditions, in order."""
    keys = [double_quote(key) for key in table.keys]
    return (
        f"SELECT * FROM {_SCANNED} WHERE {' AND '.join(conditions)} "
        f"ORDER BY {', '.join([*keys, '_valid_from'])}"
    )


def as_of(table: Table, time: datetime) -> str:
    """Return the query of the rows that were valid at a time, in the order of their keys."""
    query = queries.rows_as_of(_SCANNED, time, marked=table.marked, dialect="duckdb")
    return f"{query}{_in_order(table)}"


def changes(table: Table, start: datetime, end: datetime) -> str:
    """Return the query of what happened between two times, with the old version of each update."""
    return queries.changes_between(
        _SCANNED, table.keys, (start, end), columns=list(table.types), marked=table.marked,
        dialect="duckdb",
    )  # fmt: skip


def current(table: Table) -> str:
    """Return the query of the rows that are valid now, in the order of their keys."""
    query = queries.current_rows(_SCANNED, marked=table.marked, dialect="duckdb")
    return f"{query}{_in_order(table)}"


def count(table: Table) -> str:
    """Return the query of the number of rows, and of those that are current."""
    current = "count_if(_is_current)" if "_is_current" in table.types else "NULL"
    return f"SELECT count(*), {current} FROM iceberg_scan({text_literal(table.location)})"


def count_at(table: Table, snapshot: int) -> str:
    """Return the query of the number of rows in a snapshot, and of those that were current."""
    scan = f"iceberg_scan({text_literal(table.location)}, snapshot_from_id => {snapshot})"
    return f"SELECT count(*), count_if(_is_current) FROM {scan}"


def view(table: Table, name: str) -> str:
    """Return the statement that gives a table a name.

    A file's bounds leave out values that are not numbers, by which DuckDB would leave out the file:
    it cannot compare bounds with what is no column.
    """
    floats = [double_quote(name) for name, kind in table.types.items() if _FLOATS.search(kind)]
    kept = ", ".join(f"CASE WHEN {name} IS NOT NULL THEN {name} END AS {name}" for name in floats)
    replaced = f" REPLACE ({kept})" if kept else ""
    scan = f"iceberg_scan({text_literal(table.location)})"
    return f"CREATE OR REPLACE VIEW {double_quote(name)} AS SELECT *{replaced} FROM {scan}"


def tables_in(connection: "DuckDBPyConnection", query: str) -> set[str] | None:
    """Return the names of the tables in a query, or None if it asks which tables there are.

    Raises:
        InvalidStepInputError: It is not one query.
    """
    # No parameter: for one DuckDB imports pandas where it is installed.
    found = connection.execute(f"SELECT json_serialize_sql({text_literal(query)})").fetchone()
    parsed = json.loads(found[0]) if found else {}
    if parsed.get("error"):
        if parsed.get("error_type") == "parser":
            connection.execute(query)  # says where
        raise InvalidStepInputError(_ONE_QUERY)
    if len(parsed["statements"]) != 1:
        raise InvalidStepInputError(_ONE_QUERY)
    nodes = list(_nodes(parsed))
    named = {node["table_name"] for node in nodes if node.get("type") == "BASE_TABLE"}
    shows = any(node.get("type") == "SHOW_REF" for node in nodes)
    return None if shows and not named else named


@contextmanager
def naming_tables(known: Iterable[str]) -> Iterator[None]:
    """Let the error of an unknown table name those that there are."""
    import duckdb  # noqa: PLC0415

    try:
        yield
    except duckdb.CatalogException as error:
        begin, _, rest = str(error).partition("Table with name ")
        if rest and begin == "Catalog Error: ":
            refuse_unknown([rest.partition(" does not exist")[0].strip('"')], known)
        raise


def _in_order(table: Table) -> str:
    return f"\nORDER BY {', '.join(map(double_quote, table.keys))}" if table.keys else ""


def _nodes(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
        for part in value.values():
            yield from _nodes(part)
    elif isinstance(value, list):
        for part in value:
            yield from _nodes(part)
