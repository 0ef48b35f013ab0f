"""Queries over a history table: current rows, rows as of a time, changes between two times.

The same text in three dialects. They differ in quotes and in how a time is written. Versions that
say deleted (`deletes: mark`) are no rows: pass `marked` for a table that has `_is_deleted`.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Literal

from lakekit import layout
from lakekit.batch import naive_utc
from lakekit.errors import InvalidStepInputError
from lakekit.sql.identifiers import quote

Dialect = Literal["spark", "athena", "duckdb"]
Time = datetime | str


def current_rows(
    table: str, *, marked: bool = False, dialect: Dialect = "spark", select: str = "*"
) -> str:
    """Return the query of the rows that are valid now; `select` are their columns, as SQL."""
    lines = [
        f"SELECT {select} FROM {_table(table, dialect)}",
        f"WHERE _is_current{_not_deleted(marked)}",
    ]
    return "\n".join(lines)


def rows_as_of(table: str, time: Time, *, marked: bool = False, dialect: Dialect = "spark") -> str:
    """Return the query of the rows that were valid at a time.

    Args:
        table: Dotted identifier.
        time: With a zone, or the text of a parameter (`:time` in Spark, `?` in Athena).
        marked: Whether the table has versions that say deleted.
        dialect: Whose SQL.
    """
    at = time_literal(time, dialect)
    lines = [
        f"SELECT * FROM {_table(table, dialect)}",
        f"WHERE _valid_from <= {at} AND (_valid_to > {at} OR _valid_to IS NULL)"
        + _not_deleted(marked),
    ]
    return "\n".join(lines)


def changes_between(
    table: str,
    keys: Sequence[str],
    between: tuple[Time, Time],
    *,
    columns: Sequence[str],
    marked: bool = False,
    dialect: Dialect = "spark",
) -> str:
    """Return the query of what happened after the first of two times, up to and with the second.

    Rows as of the first and these changes give the rows as of the second. Each change has `_change`
    (inserted, updated or deleted), `_changed_at` and the given columns of its version; a key that
    comes back after a gap is inserted, and a deletion shows the version that it ended.

    Args:
        table: Dotted identifier.
        keys: The natural key.
        between: The two times; see `rows_as_of`.
        columns: Columns of a version.
        marked: Whether the table has versions that say deleted.
        dialect: Whose SQL. In DuckDB's, an update has the columns of the version before it too, in
            the struct `_old`.

    Raises:
        InvalidStepInputError: The first time is after the second.
    """
    refuse_reversed(*between)
    after, until = (time_literal(time, dialect) for time in between)
    order = f"PARTITION BY {_names(keys, dialect)} ORDER BY _valid_from"
    shown = _names(columns, dialect)
    parts = ", ".join(f"{text_literal(each)}: {_name(each, dialect)}" for each in columns)
    before = [f"    lag({{{parts}}}) OVER ({order}) AS __old,"] if dialect == "duckdb" else []
    none = ", NULL AS _old" if dialect == "duckdb" else ""
    old = ", CASE WHEN __before = _valid_from THEN __old END AS _old" if dialect == "duckdb" else ""
    # The neighbours that decide on a change within the window overlap the window themselves.
    return "\n".join(
        [
            "WITH versions AS (",
            f"  SELECT *, lag(_valid_to) OVER ({order}) AS __before,",
            *before,
            f"    lead(_valid_from) OVER ({order}) AS __next",
            f"  FROM {_table(table, dialect)}",
            f"  WHERE _valid_from <= {until} AND (_valid_to > {after} OR _valid_to IS NULL)"
            f"{_not_deleted(marked)}",
            "), changes AS (",
            "  SELECT CASE WHEN __before = _valid_from THEN 'updated' ELSE 'inserted' END",
            f"    AS _change, _valid_from AS _changed_at, {shown}{old}",
            f"  FROM versions WHERE _valid_from > {after}",
            "  UNION ALL",
            f"  SELECT 'deleted' AS _change, _valid_to AS _changed_at, {shown}{none}",
            f"  FROM versions WHERE _valid_to <= {until}",
            "    AND (__next IS NULL OR __next > _valid_to)",
            ")",
            f"SELECT * FROM changes ORDER BY _changed_at, {_names(keys, dialect)}",
        ]
    )


def temporal_join(
    events: str,
    table: str,
    keys: Sequence[str],
    *,
    event_time: str,
    columns: Sequence[str],
    dialect: Dialect = "spark",
) -> str:
    """Return the query of events, each with the version that was valid when they happened.

    Every event stays; one whose key was not there gets nulls.

    Args:
        events: Table of events, which has the keys.
        table: The history table.
        keys: The natural key.
        event_time: Time of an event, UTC, without zone.
        columns: Columns of the version.
        dialect: Whose SQL.
    """
    time = f"e.{_name(event_time, dialect)}"
    same = " AND ".join(f"v.{_name(key, dialect)} = e.{_name(key, dialect)}" for key in keys)
    shown = ", ".join(f"v.{_name(column, dialect)}" for column in columns)
    return "\n".join(
        [
            f"SELECT e.*, {shown}",
            f"FROM {_table(events, dialect)} e LEFT JOIN {_table(table, dialect)} v",
            f"ON {same}",
            f"  AND v._valid_from <= {time} AND (v._valid_to > {time} OR v._valid_to IS NULL)",
        ]
    )


def current_view(
    table: str, *, marked: bool = False, dialect: Dialect = "spark", select: str = "*"
) -> str:
    """Return the DDL of `{table}_current`; see `current_rows`.

    For a session in Spark: Iceberg has no views in the Glue Data Catalog. Athena keeps it.
    """
    kind = "TEMPORARY VIEW" if dialect == "spark" else "VIEW"
    name = layout.current_view(table.rpartition(".")[2] if dialect == "spark" else table)
    query = current_rows(table, marked=marked, dialect=dialect, select=select)
    return f"CREATE OR REPLACE {kind} {_table(name, dialect)} AS\n{query}"


def refuse_reversed(start: Time, end: Time) -> None:
    """Raise if a range ends before it begins, as far as its times are known.

    Raises:
        InvalidStepInputError: It does.
    """
    if isinstance(start, datetime) and isinstance(end, datetime) and end < start:
        raise InvalidStepInputError(
            f"from {start.isoformat()} to {end.isoformat()}: the first time is after the second; "
            "give the earlier one first"
        )


def time_literal(time: Time, dialect: Dialect) -> str:
    """Return a time as control columns hold it, or the text of a parameter as it is.

    Example:
        >>> from datetime import UTC
        >>> time_literal(datetime(2026, 1, 1, tzinfo=UTC), "spark")
        "TIMESTAMP_NTZ '2026-01-01 00:00:00.000000'"
    """
    if isinstance(time, str):
        return time
    word = "TIMESTAMP_NTZ" if dialect == "spark" else "TIMESTAMP"
    return f"{word} '{naive_utc(time).isoformat(sep=' ', timespec='microseconds')}'"


def double_quote(name: str) -> str:
    """Quote one identifier as standard SQL does, which Athena and DuckDB follow."""
    return '"' + name.replace('"', '""') + '"'


def text_literal(text: str) -> str:
    """Return a string literal of standard SQL, as Athena and DuckDB read it.

    Example:
        >>> text_literal("it's")
        "'it''s'"
    """
    return "'" + text.replace("'", "''") + "'"


def _not_deleted(marked: bool) -> str:
    return " AND _is_deleted IS DISTINCT FROM true" if marked else ""


def _table(table: str, dialect: Dialect) -> str:
    return ".".join(_name(part, dialect) for part in table.split("."))


def _names(names: Sequence[str], dialect: Dialect) -> str:
    return ", ".join(_name(name, dialect) for name in names)


def _name(name: str, dialect: Dialect) -> str:
    return quote(name) if dialect == "spark" else double_quote(name)
