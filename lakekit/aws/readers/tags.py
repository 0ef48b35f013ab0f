"""One LF-tag on the tables of a database."""

from collections.abc import Mapping
from typing import Any

from lakekit.aws.errors import translated
from lakekit.errors import StorageUnavailableError


class AccessTags:
    """See `lakekit.watch.share_table.Tags`."""

    def __init__(self, key: str, database: str, client: Any) -> None:
        self._key, self._database, self._client = key, database, client

    def of_table(self, name: str) -> str | None:
        """Return the value that a table has itself."""
        return self._value(self._assigned(name).get("LFTagsOnTable", []))

    def of_columns(self, name: str, columns: list[str]) -> Mapping[str, str]:
        """Return the values that some columns have themselves."""
        found = {
            each["Name"]: self._value(each.get("LFTags", []))
            for each in self._assigned(name, columns).get("LFTagsOnColumns", [])
        }
        return {column: value for column, value in found.items() if value}

    def assign(self, name: str, value: str, columns: list[str] | None = None) -> None:
        """Give a value to some columns, or to the table.

        Raises:
            StorageUnavailableError: Lake Formation refuses it, and says why.
        """
        with translated(f"LF-tag of {name}"):
            answer = self._client.add_lf_tags_to_resource(
                Resource=self._resource(name, columns),
                LFTags=[{"TagKey": self._key, "TagValues": [value]}],
            )
        for each in answer.get("Failures", []):
            error = each["Error"]
            raise StorageUnavailableError(
                f"LF-tag of {name}: {error.get('ErrorCode')}: {error.get('ErrorMessage')}"
            )

    def _assigned(self, name: str, columns: list[str] | None = None) -> Any:
        with translated(f"LF-tags of {name}"):
            return self._client.get_resource_lf_tags(
                Resource=self._resource(name, columns), ShowAssignedLFTags=True
            )

    def _resource(self, name: str, columns: list[str] | None) -> Any:
        place = {"DatabaseName": self._database, "Name": name}
        if columns is None:
            return {"Table": place}
        return {"TableWithColumns": {**place, "ColumnNames": columns}}

    def _value(self, tags: list[Any]) -> str | None:
        values = [each["TagValues"] for each in tags if each["TagKey"] == self._key]
        return values[0][0] if values and values[0] else None
