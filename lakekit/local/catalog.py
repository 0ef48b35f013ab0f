"""The catalog of a local warehouse, read without Spark; see `lakekit.ports.TableFinder`."""

import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from lakekit.errors import InvalidStepInputError
from lakekit.runs.table_metadata import parse_metadata
from lakekit.spark_conf import CATALOG, LOCAL_DATABASE

_TABLES = (
    "SELECT table_name, metadata_location FROM iceberg_tables "
    "WHERE catalog_name = ? AND table_namespace = ?"
)


class LocalCatalog:
    """The tables of one folder."""

    def __init__(self, warehouse: Path) -> None:
        self._database = warehouse.resolve() / "catalog.db"

    def locations(self) -> Mapping[str, str]:
        """Return the path of each table's current metadata document.

        Raises:
            InvalidStepInputError: The catalog cannot be read.
        """
        address = f"{self._database.as_uri()}?mode=ro"
        try:
            with closing(sqlite3.connect(address, timeout=60, uri=True)) as connection:
                found = connection.execute(_TABLES, (CATALOG, LOCAL_DATABASE)).fetchall()
        except sqlite3.Error as error:
            raise InvalidStepInputError(f"{self._database}: {error}") from None
        return {name: _path(location) for name, location in found}

    def document(self, location: str) -> Mapping[str, Any]:
        """Return the metadata document at a path.

        Raises:
            InvalidStepInputError: It is not there.
        """
        try:
            return parse_metadata(Path(location).read_bytes())
        except OSError as error:
            raise InvalidStepInputError(
                f"{location}: {error.strerror}; a warehouse works in the folder where it was made"
            ) from None


def refuse_no_warehouse(warehouse: Path) -> None:
    """Raise if there is no warehouse in a folder.

    Raises:
        InvalidStepInputError: There is none.
    """
    if warehouse.exists() and not warehouse.is_dir():
        raise InvalidStepInputError(f"{warehouse}: is a file; a warehouse is a folder")
    if not (warehouse / "catalog.db").is_file():
        raise InvalidStepInputError(
            f"{warehouse}: no warehouse here; `lakekit run` or `lakekit merge` makes one"
        )


def _path(location: str) -> str:
    """Return a path, which some writers write as an address."""
    return unquote(urlsplit(location).path) if location.startswith("file:") else location
