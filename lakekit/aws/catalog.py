"""Iceberg tables of the Glue Data Catalog, read without Spark."""

from collections.abc import Mapping
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
        pages = self._glue.get_paginator("get_tables").paginate(DatabaseName=self._database)
        found: dict[str, str] = {}
        try:
            with translated(f"database {self._database}"):
                for page in pages:
                    for table in page["TableList"]:
                        location = table.get("Parameters", {}).get("metadata_location")
                        found |= {table["Name"]: location} if location else {}
        except self._glue.exceptions.EntityNotFoundException:
            raise InvalidStepInputError(
                f"the catalog has no database '{self._database}'; is it deployed?"
            ) from None
        return found

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
