"""`Warehouse`: the tables of a local warehouse, of the sandbox here, of an environment on AWS."""

import os
from pathlib import Path
from typing import Self

from lakekit.duckdb.overview import listed
from lakekit.project.folder import find_project, open_project
from lakekit.warehouse.places import (
    SANDBOX,
    EnvironmentPlace,
    LocalPlace,
    Place,
    SandboxPlace,
    known_environment,
)
from lakekit.warehouse.rows import Rows, made
from lakekit.warehouse.table import Table


class Warehouse:
    """The tables of one place.

    Each question opens a connection of its own, so an answer shows the newest commit, and there is
    nothing to close.

    Example:
        >>> from lakekit import Warehouse
        >>> Warehouse("nowhere").tables()  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        lakekit.errors.InvalidStepInputError: nowhere: no warehouse here; `lakekit run` ...
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        """Take the folder of a local warehouse."""
        self._place: Place = LocalPlace(Path(folder))

    @classmethod
    def sandbox(cls, data: str | os.PathLike[str] | None = None) -> Self:
        """Return the warehouse of the sandbox that runs here; `data` is its folder.

        Without it, it is that of the project, or of this folder where there is none.
        """
        project = find_project(Path.cwd())
        folder = project.folder / SANDBOX if project else SANDBOX
        return cls._of(SandboxPlace(Path(data) if data is not None else folder))

    @classmethod
    def environment(cls, name: str, project: str | os.PathLike[str] = ".") -> Self:
        """Return the warehouse of an environment on AWS, by its file in a project.

        The project is that of the folder, or of one above it.

        Raises:
            InvalidStepInputError: There is no project.
            InvalidEnvironmentError: There is no such file; the message names those that there are.
        """
        folder = open_project(Path(project)).environments
        known_environment(name, folder)
        return cls._of(EnvironmentPlace(name, folder))

    @classmethod
    def _of(cls, place: Place) -> Self:
        warehouse = cls.__new__(cls)
        warehouse._place = place
        return warehouse

    def tables(self) -> Rows:
        """Return a row for each table: its kind, its rows, those that are current, its last commit.

        Raises:
            InvalidStepInputError: Nothing is there, or AWS or DuckDB refuses.
            InvalidEnvironmentError: The credentials are of another account.
        """
        with self._place.reader() as reader:
            found = reader.tables()
            columns, rows = listed(found, reader.count(found))
            return made(columns, list(rows))

    def table(self, name: str) -> Table:
        """Return a table; its name may be written in other case.

        Raises:
            InvalidStepInputError: There is none; the message names those that there are.
        """
        with self._place.reader() as reader:
            return Table(self._place, reader.table(name).name)

    def sql(self, query: str) -> Rows:
        """Return the result of one query in DuckDB's SQL, in which the tables have their names.

        Raises:
            InvalidStepInputError: It is not one query, names a table that there is not, or DuckDB
                refuses it.
        """
        with self._place.reader() as reader:
            return Rows(reader.arrow(reader.ask_sql(query)))

    def __repr__(self) -> str:
        return f"<Warehouse {self._place}>"
