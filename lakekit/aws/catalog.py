"""Iceberg tables of the Glue Data Catalog, read without Spark."""

import json
import re
from base64 import b64decode
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from lakekit.aws.errors import translated
from lakekit.aws.object_store import S3ObjectStore
from lakekit.errors import (
    InvalidStepInputError,
    SchemaMismatchError,
    StorageUnavailableError,
)
from lakekit.ports import ObjectNotFoundError
from lakekit.runs.table_metadata import parse_metadata

if TYPE_CHECKING:
    from mypy_boto3_glue import GlueClient
    from mypy_boto3_s3 import S3Client


class GlueCatalog:
    """One database; see `lakekit.ports.TableCatalog` and `TableFinder`."""

    def __init__(self, database: str, glue: "GlueClient", s3: "S3Client") -> None:
        self._database = database
        self._glue = glue
        self._s3 = s3

    def metadata(self, table: str) -> Mapping[str, Any] | None:
        """Return the metadata document that the catalog points at now.

        Raises:
            SchemaMismatchError: The table is not one of Iceberg.
            StorageUnavailableError: A commit replaced the document while it was read.
        """
        try:
            with translated(f"table {table}"):
                found = self._glue.get_table(DatabaseName=self._database, Name=table)
        except self._glue.exceptions.EntityNotFoundException:
            return None
        location = found["Table"].get("Parameters", {}).get("metadata_location")
        if not location:
            raise SchemaMismatchError(f"{self._database}.{table} is not an Iceberg table")
        return self.document(location)

    def locations(self) -> Mapping[str, str]:
        """Return the address of each Iceberg table's current metadata document.

        Raises:
            InvalidStepInputError: There is no such database.
        """
        found = {
            table["Name"]: table.get("Parameters", {}).get("metadata_location")
            for table in self._tables()
        }
        return {name: location for name, location in found.items() if location}

    def views(self) -> Mapping[str, list[str]]:
        """Return the names of the views whose text names a table of the database, by table.

        Raises:
            InvalidStepInputError: There is no such database.
        """
        tables = self._tables()
        views = {t["Name"]: _words(t) for t in tables if t.get("TableType") == "VIRTUAL_VIEW"}
        others = [table["Name"] for table in tables if table["Name"] not in views]
        return {name: [view for view, words in views.items() if name in words] for name in others}

    def _tables(self) -> list[Any]:
        pages = self._glue.get_paginator("get_tables").paginate(DatabaseName=self._database)
        try:
            with translated(f"database {self._database}"):
                return [table for page in pages for table in page["TableList"]]
        except self._glue.exceptions.EntityNotFoundException:
            raise InvalidStepInputError(
                f"the catalog has no database '{self._database}'; is it deployed?"
            ) from None

    def document(self, location: str) -> Mapping[str, Any]:
        """Return the metadata document at an address.

        Raises:
            StorageUnavailableError: A commit replaced it meanwhile.
        """
        place = urlsplit(location)
        try:
            body = S3ObjectStore(place.netloc, self._s3).get(place.path.lstrip("/"))
        except ObjectNotFoundError as error:
            raise StorageUnavailableError(
                f"{location} does not exist any more; read again"
            ) from error
        return parse_metadata(body)


def _words(view: Any) -> set[str]:
    """Return the words of a view's text; Athena keeps it as JSON in base64, in a comment."""
    text = view.get("ViewOriginalText", "")
    packed = re.fullmatch(r"/\* Presto View: (\S+) \*/", text.strip())
    if packed:
        with suppress(ValueError):
            text = json.loads(b64decode(packed.group(1)))["originalSql"]
    return set(re.findall(r"\w+", text.lower()))
