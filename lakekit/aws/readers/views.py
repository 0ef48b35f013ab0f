"""Statements that Athena runs, and the columns that the catalog has after them."""

import time
from collections.abc import Callable, Mapping
from typing import Any

from lakekit.aws.errors import translated
from lakekit.errors import SchemaMismatchError, StorageUnavailableError

PAUSE_SECONDS = 1.0
# A statement that makes a view reads no data.
MOST_PAUSES = 60


class CatalogColumns:
    """The columns of tables and views of one database."""

    def __init__(self, database: str, glue: Any) -> None:
        self._database, self._glue = database, glue

    def columns(self, name: str) -> Mapping[str, str] | None:
        """Return the types of columns as the catalog has them, None if there is no such table."""
        try:
            with translated(f"table {name}"):
                found = self._glue.get_table(DatabaseName=self._database, Name=name)
        except self._glue.exceptions.EntityNotFoundException:
            return None
        columns = found["Table"].get("StorageDescriptor", {}).get("Columns", [])
        # Of a renamed or dropped column Iceberg leaves the older name in the catalog.
        return {
            each["Name"]: each.get("Type", "")
            for each in columns
            if each.get("Parameters", {}).get("iceberg.field.current", "true") == "true"
        }


class AthenaEngine:
    """One workgroup."""

    def __init__(
        self, workgroup: str, client: Any, sleep: Callable[[float], None] = time.sleep
    ) -> None:
        self._workgroup, self._client, self._sleep = workgroup, client, sleep

    def run(self, statement: str) -> None:
        """Run one statement to its end.

        Raises:
            SchemaMismatchError: Athena says why it cannot.
            StorageUnavailableError: It has not ended after a minute.
        """
        with translated("Athena"):
            started = self._client.start_query_execution(
                QueryString=statement, WorkGroup=self._workgroup
            )["QueryExecutionId"]
        for _ in range(MOST_PAUSES):
            with translated("Athena"):
                status = self._client.get_query_execution(QueryExecutionId=started)[
                    "QueryExecution"
                ]["Status"]
            if status["State"] == "SUCCEEDED":
                return
            if status["State"] in ("FAILED", "CANCELLED"):
                reason = status.get("StateChangeReason", status["State"])
                raise SchemaMismatchError(f"Athena: {reason}: {statement}")
            self._sleep(PAUSE_SECONDS)
        raise StorageUnavailableError(f"Athena: {started} has not ended")
