"""What was chosen for a source and its table, and the two documents that come of it."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from lakekit.discover.body import without
from lakekit.discover.columns import ColumnGuess, Columns


@dataclass(frozen=True)
class Draft:
    """A source and a table, as far as they are chosen.

    saw: what was seen, by the name of a question; it becomes a comment.
    """

    source: str
    base_url: str
    table: str
    path: str
    params: Mapping[str, Sequence[str]] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    body: Mapping[str, Any] | None = None
    auth: Sequence[Mapping[str, Any]] = ()
    response: Mapping[str, Any] = field(default_factory=lambda: {"format": "json"})
    place: Mapping[str, Any] = field(default_factory=dict)
    paginator: Mapping[str, Any] = field(default_factory=lambda: {"type": "single_page"})
    extract: str = "full"
    incremental: Mapping[str, Any] | None = None
    columns: Columns = field(default_factory=Columns)
    types: Mapping[str, str] = field(default_factory=dict)
    keys: tuple[str, ...] = ()
    sequence_by: str | None = None
    apply_as_deletes: str | None = None
    saw: Mapping[str, str] = field(default_factory=dict)

    def type_of(self, column: ColumnGuess) -> str:
        """Return the type that was chosen for a column."""
        return self.types.get(column.name, str(column.type))

    def source_document(self) -> dict[str, Any]:
        """Return the file of the source."""
        found: dict[str, Any] = {"source": self.source, "base_url": self.base_url}
        ways = [dict(way) for way in self.auth]
        return found | ({"auth": ways[0] if len(ways) == 1 else ways} if ways else {})

    def paged(self, paginator: Mapping[str, Any], sends: Collection[str]) -> "Draft":
        """Return the draft with a paginator, without what that sends itself."""
        params = {name: value for name, value in self.params.items() if name not in sends}
        body = without(self.body, sends) if self.body else None
        return replace(self, paginator=paginator, params=params, body=body)

    def endpoint(self) -> dict[str, Any]:
        """Return the endpoint of the contract."""
        found: dict[str, Any] = {"path": self.path}
        params = {n: v[0] if len(v) == 1 else [*v] for n, v in self.params.items()}
        found |= {"params": params} if params else {}
        found |= {"headers": dict(self.headers)} if self.headers else {}
        found |= {"body": dict(self.body)} if self.body else {}
        found |= {"response": dict(self.response)} if self.response.get("format") != "json" else {}
        found |= dict(self.place)
        found["paginator"] = dict(self.paginator)
        found["extract"] = self.extract
        return found | ({"incremental": dict(self.incremental)} if self.incremental else {})

    def column(self, column: ColumnGuess) -> dict[str, Any]:
        """Return a column of the contract's schema."""
        found: dict[str, Any] = {"name": column.name, "type": self.type_of(column)}
        found |= {"from": column.field} if column.field else {}
        return found | ({"required": True} if column.name in self.keys else {})

    def contract_document(self) -> dict[str, Any]:
        """Return the file of the contract; without a key its records are all kept."""
        history: dict[str, Any] = {"keys": [*self.keys]} if self.keys else {"mode": "append"}
        history |= {"sequence_by": self.sequence_by} if self.sequence_by else {}
        history |= {"apply_as_deletes": self.apply_as_deletes} if self.apply_as_deletes else {}
        return {
            "contract": self.table,
            "source": self.source,
            "endpoint": self.endpoint(),
            "schema": [self.column(column) for column in self.columns.found],
            "history": history,
        }
