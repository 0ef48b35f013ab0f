"""ShareTable: who may read a table that was loaded sees it as its contract says.

Its open columns carry the LF-tag of what everybody may see, and its current rows have a view. Again
it changes nothing.
"""

from collections.abc import Mapping
from typing import Protocol

from lakekit import layout
from lakekit.contract.contract import Contract
from lakekit.contract.readers import OPEN, SENSITIVE, open_columns
from lakekit.contract.sqltypes import athena_type
from lakekit.sql.queries import current_view, double_quote
from lakekit.sql.tables import marks
from lakekit.steps.functions import ShareTable, ShareTableResult

Columns = Mapping[str, str]


class Catalog(Protocol):
    """The tables and views of one database."""

    def columns(self, name: str) -> Columns | None:
        """Return the types of the columns of a table or view, None if there is none."""


class Tags(Protocol):
    """The values of one LF-tag on tables and views of the database, and on their columns."""

    def of_table(self, name: str) -> str | None:
        """Return the value that a table has itself, not from its database."""

    def of_columns(self, name: str, columns: list[str]) -> Mapping[str, str]:
        """Return the values that some columns have themselves, not from their table."""

    def assign(self, name: str, value: str, columns: list[str] | None = None) -> None:
        """Give a value to some columns, or to the table."""


class Engine(Protocol):
    """What runs a statement of Athena to its end."""

    def run(self, statement: str) -> None:
        """Run one statement."""


def share_table(
    step: ShareTable, contract: Contract, catalog: Catalog, tags: Tags | None, engine: Engine | None
) -> ShareTableResult:
    """Show a table to its readers.

    Args:
        step: The table.
        contract: Its contract.
        catalog: Has the table's columns.
        tags: Where Lake Formation decides who reads.
        engine: Where tables have views.
    """
    present = catalog.columns(step.table)
    if present is None:
        return ShareTableResult()
    shown = open_columns(contract, present)
    opened, closed = _tag_columns(step.table, list(present), shown, tags) if tags else (0, 0)
    made = False
    if engine and contract.history.mode != "append":
        made = _make_view(step, contract, {name: present[name] for name in shown}, catalog, engine)
        view = layout.current_view(step.table)
        if tags and (made or tags.of_table(view) != OPEN):
            tags.assign(view, OPEN)  # it has open columns alone
    return ShareTableResult(opened=opened, closed=closed, view_made=made)


def _tag_columns(table: str, present: list[str], shown: list[str], tags: Tags) -> tuple[int, int]:
    """Close what must not be seen any more, then open the rest; return how many."""
    has = tags.of_columns(table, present)
    lower = {name.lower() for name in shown}
    close = [name for name, value in has.items() if value == OPEN and name.lower() not in lower]
    is_open = {name.lower() for name, value in has.items() if value == OPEN}
    opening = [name for name in shown if name.lower() not in is_open]
    for value, columns in ((SENSITIVE, close), (OPEN, opening)):
        if columns:
            tags.assign(table, value, columns)
    return len(opening), len(close)


def _make_view(
    step: ShareTable, contract: Contract, shown: Columns, catalog: Catalog, engine: Engine
) -> bool:
    """Make the view of current rows, unless it has these columns already."""
    has = catalog.columns(layout.current_view(step.table))
    if has is not None and _lower(has) == _lower(shown):
        return False
    engine.run(view_statement(contract, step.database, list(shown)))
    return True


def view_statement(contract: Contract, database: str, columns: list[str]) -> str:
    """Return what makes the view of current rows, with some columns of the table.

    Athena makes no view with a time that has a zone: such times are shown in UTC without one.
    """
    select = ",\n  ".join(_shown(contract, name) for name in columns)
    return current_view(
        f"{database}.{contract.contract}", marked=marks(contract), dialect="athena",
        select=f"\n  {select}\n",
    )  # fmt: skip


def _shown(contract: Contract, column: str) -> str:
    name = double_quote(column)
    kinds = {each.name.lower(): athena_type(each.sql_type) for each in contract.stored}
    kind = kinds.get(column.lower(), "")
    zoned = " with time zone"
    return f"CAST({name} AS {kind.replace(zoned, '')}) AS {name}" if zoned in kind else name


def _lower(columns: Columns) -> dict[str, str]:
    return {name.lower(): kind.lower() for name, kind in columns.items()}
