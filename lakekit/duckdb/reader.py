"""What is, what was, what changed: tables of one place, read by DuckDB from their metadata."""

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
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
    import pyarrow
    from duckdb import DuckDBPyConnection, DuckDBPyRelation

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


@dataclass(frozen=True)
class Question:
    """A query, the table that it calls by `queries.scanned`, and the values of its parameters."""

    text: str
    table: Table | None = None
    values: Mapping[str, Any] = field(default_factory=dict)


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
        answer = self.rows(self.ask_history(name, key))
        first = next(answer.rows, None)
        if first is None:
            raise no_version(name, key)
        return Answer(answer.columns, _chained(first, answer.rows))

    def as_of(self, name: str, time: datetime) -> Answer:
        """Return the rows that were valid at a time, which carries a zone.

        Raises:
            InvalidStepInputError: There is no such table.
            SchemaMismatchError: It has no history.
        """
        return self.rows(self.ask_as_of(name, time))

    def changes(self, name: str, start: datetime, end: datetime) -> Answer:
        """Return what happened after `start`, up to and with `end`.

        The columns are `_change`, `_changed_at`, those of a version, and `_old`: of an update, the
        version before, as a mapping.

        Raises:
            InvalidStepInputError: There is no such table, or the first time is after the second.
            SchemaMismatchError: It has no history, or does not say what its keys are.
        """
        return self.rows(self.ask_changes(name, start, end))

    def sql(self, query: str) -> Answer:
        """Return the result of one query, in which the tables have their names.

        Raises:
            InvalidStepInputError: It is not one query, names a table that there is not, or DuckDB
                refuses it.
        """
        question = self.ask_sql(query)
        with text.naming_tables(self.locations):
            return self.rows(question)

    def ask_history(self, name: str, key: Mapping[str, str]) -> Question:
        """Return the question behind `history`."""
        table = self._with_history(name)
        conditions, values = key_conditions(table, key)
        return Question(text.history(table, conditions), table, values)

    def ask_as_of(self, name: str, time: datetime) -> Question:
        """Return the question behind `as_of`."""
        table = self._with_history(name)
        return Question(text.as_of(table, time), table)

    def ask_current(self, name: str) -> Question:
        """Return the question of the rows that are valid now."""
        table = self._with_history(name)
        return Question(text.current(table), table)

    def ask_changes(self, name: str, start: datetime, end: datetime) -> Question:
        """Return the question behind `changes`."""
        queries.refuse_reversed(start, end)
        table = self._with_history(name)
        table.refuse_without_keys()
        return Question(text.changes(table, start, end), table)

    def ask_sql(self, query: str) -> Question:
        """Return the question behind `sql`."""
        named = text.tables_in(self._connection, query)
        known = {name.lower(): name for name in self.locations}
        for name in self.locations if named is None else named:
            if name.lower() in known:
                table = self._read(known[name.lower()])
                self._connection.execute(text.view(table, table.name))
        return Question(query)

    def rows(self, question: Question) -> Answer:
        """Return the answer to a question as values that every format can show."""
        cursor, relation = self._asked(question)
        selected, made = select_list(relation.types)
        values = dict(question.values)
        found = cursor.execute(f"SELECT {selected} FROM ({question.text}\n)", values)
        return Answer(list(relation.columns), _rows(found, made))

    def arrow(self, question: Question) -> "pyarrow.Table":
        """Return the answer to a question as a table of Arrow, in the types that DuckDB has."""
        with text.naming_tables(self.locations):
            _, relation = self._asked(question)
            return relation.to_arrow_table()

    def count_at(self, table: Table, snapshots: Sequence[int]) -> list[tuple[int, int]]:
        """Return of each snapshot of a history table the rows, and how many are current."""
        found = []
        for each in snapshots:
            row = self._connection.execute(text.count_at(table, each)).fetchone()
            assert row is not None  # noqa: S101  an aggregate has a row
            found.append((row[0], row[1]))
        return found

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

    def _asked(self, question: Question) -> "tuple[DuckDBPyConnection, DuckDBPyRelation]":
        # A cursor of its own: else the next question would end the rows of this one.
        cursor = self._connection.cursor()
        if question.table:
            cursor.execute(text.scanned(question.table))
        return cursor, cursor.sql(question.text, params=dict(question.values))


def _rows(cursor: "DuckDBPyConnection", made: Sequence[Any]) -> Iterator[tuple[Any, ...]]:
    while found := cursor.fetchmany(_FETCHED_AT_ONCE):
        for row in found:
            yield tuple(of(value) for of, value in zip(made, row, strict=True))


def _chained(first: tuple[Any, ...], rest: Iterator[tuple[Any, ...]]) -> Iterator[tuple[Any, ...]]:
    yield first
    yield from rest


def no_version(table: str, key: Mapping[str, str]) -> InvalidStepInputError:
    """Return the error of a key that a table does not have."""
    given = ", ".join(f"{column}={value}" for column, value in key.items())
    return InvalidStepInputError(f"{table}: no version of {given}")
