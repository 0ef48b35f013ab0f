"""Iceberg tables of the Glue Data Catalog, read without Spark."""

import gzip
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from lakekit.aws.errors import translated
from lakekit.aws.object_store import S3ObjectStore
from lakekit.errors import SchemaMismatchError, StorageUnavailableError
from lakekit.ports import ObjectNotFoundError

if TYPE_CHECKING:
    from mypy_boto3_glue import GlueClient
    from mypy_boto3_s3 import S3Client


class GlueCatalog:
    """One database; see `lakekit.ports.TableCatalog`."""

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
        place = urlsplit(location)
        try:
            body = S3ObjectStore(place.netloc, self._s3).get(place.path.lstrip("/"))
        except ObjectNotFoundError as error:
            raise StorageUnavailableError(
                f"{table}: {location} does not exist any more; read again"
            ) from error
        document: dict[str, Any] = json.loads(
            gzip.decompress(body) if body.startswith(b"\x1f\x8b") else body
        )
        return document
