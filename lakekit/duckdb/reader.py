"""What is, what was, what changed: tables of one place, read by DuckDB from their metadata."""

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any

from lakekit.duckdb import queries as text
from lakekit.duckdb.connection import S3Access, connect
from lakekit.duckdb.faults import one_line
from lakekit.duckdb.keys import key_conditions
from lakekit.duckdb.tables import Table, refuse_unknown
from lakekit.duckdb.values import select_list
from lakekit.errors import InvalidStepInputError, SchemaMismatchError
from lakekit.ports import TableFinder
from lakekit.sql import queries

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

# A count waits for small objects of S3, not for a core.
_COUNTED_AT_ONCE = 16
_FETCHED_AT_ONCE = 1_000


@dataclass(frozen=True)
class Answer:
    """Columns, of which two may have one name, and rows of values as `lakekit.values` has them.

    The rows can be read once.
    """

    columns: list[str]
    rows: Iterator[tuple[Any, ...]]


@dataclass(frozen=True)
class Counts:
    """Rows of a table, and how many are current; None where DuckDB does not read its files."""

    rows: int | None
    current: int | None


@contextmanager
def open_reader(finder: TableFinder, access: S3Access | None = None) -> Iterator["Reader"]:
    """Open a reader of the tables that a finder finds.

    Raises:
        InvalidStepInputError: DuckDB is not installed, or refuses what is asked.
    """
    with connect(access) as connection, one_line():
        yield Reader(connection, finder)


class Reader:
    """Answers questions about the tables of one place."""

    def __init__(self, connection: "DuckDBPyConnection", finder: TableFinder) -> None:
        self._connection = connection
        self._finder = finder
        self._read = cache(self._read_once)

    @cached_property
    def locations(self) -> dict[str, str]:
        """Where the tables are, by their names, in order."""
        return dict(sorted(self._finder.locations().items()))

    def table(self, name: str) -> Table:
        """Return a table; its name may be written in other case.

        Raises:
            InvalidStepInputError: There is none; the message names those that there are.
        """
        refuse_unknown([name], self.locations)
        known = next(each for each in self.locations if each.lower() == name.lower())
        return self._read(known)

    def tables(self) -> list[Table]:
        """Return all tables, by their names."""
        with ThreadPoolExecutor(_COUNTED_AT_ONCE) as pool:
            return list(pool.map(self._read, self.locations))

    def count(self, tables: Sequence[Table]) -> list[Counts]:
        """Count the rows of tables."""
        with ThreadPoolExecutor(_COUNTED_AT_ONCE) as pool:
            return list(pool.map(self._count, tables))

    def history(self, name: str, key: Mapping[str, str]) -> Answer:
        """Return the versions of the keys that have some values, oldest first.

        Args:
            name: Name of the table.
            key: Columns of its key with values as texts.

        Raises:
            InvalidStepInputError: There is no such table, column or version, or a text is no value
                of its column.
            SchemaMismatchError: The table has no history.
        """
        table = self._with_history(name)
        conditions, values = key_conditions(table, key)
        answer = self._ask(text.history(table, conditions), values, of=table)
        first = next(answer.rows, None)
        if first is None:
            given = ", ".join(f"{column}={value}" for column, value in key.items())
            raise InvalidStepInputError(f"{table.name}: no version of {given}")
        return Answer(answer.columns, _chained(first, answer.rows))

    def as_of(self, name: str, time: datetime) -> Answer:
        """Return the rows that were valid at a time, which carries a zone.

        Raises:
            InvalidStepInputError: There is no such table.
            SchemaMismatchError: It has no history.
        """
        table = self._with_history(name)
        return self._ask(text.as_of(table, time), of=table)

    def changes(self, name: str, start: datetime, end: datetime) -> Answer:
        """Return what happened after `start`, up to and with `end`.

        The columns are `_change`, `_changed_at`, those of a version, and `_old`: of an update, the
        version before, as a mapping.

        Raises:
            InvalidStepInputError: There is no such table, or the first time is after the second.
            SchemaMismatchError: It has no history, or does not say what its keys are.
        """
        queries.refuse_reversed(start, end)
        table = self._with_history(name)
        table.refuse_without_keys()
        return self._ask(text.changes(table, start, end), of=table)

    def sql(self, query: str) -> Answer:
        """Return the result of one query, in which the tables have their names.

        Raises:
            InvalidStepInputError: It is not one query, names a table that there is not, or DuckDB
                refuses it.
        """
        named = text.tables_in(self._connection, query)
        known = {name.lower(): name for name in self.locations}
        for name in self.locations if named is None else named:
            if name.lower() in known:
                table = self._read(known[name.lower()])
                self._connection.execute(text.view(table, table.name))
        with text.naming_tables(self.locations):
            return self._ask(query)

    def _with_history(self, name: str) -> Table:
        table = self.table(name)
        if "_valid_from" not in table.types:
            raise SchemaMismatchError(f"{table.name}: no history table; it has no _valid_from")
        return table

    def _read_once(self, name: str) -> Table:
        location = self.locations[name]
        return Table(name, location, self._finder.document(location))

    def _count(self, table: Table) -> Counts:
        import duckdb  # noqa: PLC0415

        with self._connection.cursor() as cursor, one_line():
            try:
                row = cursor.execute(text.count(table)).fetchone()
            except duckdb.NotImplementedException:
                return Counts(None, None)
        assert row is not None  # noqa: S101  an aggregate has a row
        return Counts(*row)

    def _ask(
        self, query: str, values: Mapping[str, Any] | None = None, of: Table | None = None
    ) -> Answer:
        # One of its own: else the next question would end the rows of this one.
        cursor = self._connection.cursor()
        if of:
            cursor.execute(text.scanned(of))
        relation = cursor.sql(query, params=dict(values or {}))
        selected, made = select_list(relation.types)
        found = cursor.execute(f"SELECT {selected} FROM ({query}\n)", dict(values or {}))
        return Answer(list(relation.columns), _rows(found, made))


def _rows(cursor: "DuckDBPyConnection", made: Sequence[Any]) -> Iterator[tuple[Any, ...]]:
    while found := cursor.fetchmany(_FETCHED_AT_ONCE):
        for row in found:
            yield tuple(of(value) for of, value in zip(made, row, strict=True))


def _chained(first: tuple[Any, ...], rest: Iterator[tuple[Any, ...]]) -> Iterator[tuple[Any, ...]]:
    yield first
    yield from rest
