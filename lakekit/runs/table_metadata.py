"""What an Iceberg metadata document says of its table: columns, ancestry of main. Pure."""

import gzip
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from lakekit.contract.contract import CONTROL_COLUMNS, Contract
from lakekit.sql.evolve import evolve_table
from lakekit.sql.identifiers import quote

# Iceberg's name of a type, where Spark has another.
_TYPES = {"long": "bigint", "timestamptz": "timestamp", "timestamp": "timestamp_ntz",
          "uuid": "string"}  # fmt: skip
_TRANSFORMS = {"year": "years", "month": "months", "day": "days", "hour": "hours"}

Metadata = Mapping[str, Any]


class TableColumn(NamedTuple):
    """A column of a table: its type as Spark's DDL writes it, and its comment."""

    name: str
    type: str
    description: str


def parse_metadata(body: bytes) -> Metadata:
    """Return the metadata document in the bytes of an object, which may be packed by gzip."""
    text = gzip.decompress(body) if body.startswith(b"\x1f\x8b") else body
    document: Metadata = json.loads(text)
    return document


def current_columns(metadata: Metadata) -> list[TableColumn]:
    """Return the columns of a table as they are now."""
    fields = _current_schema(metadata)["fields"]
    return [TableColumn(f["name"], _ddl(f["type"]), f.get("doc") or "") for f in fields]


def must_evolve(contract: Contract, metadata: Metadata) -> bool:
    """Say whether a table differs from its contract, by the very rules of CreateTables.

    Raises:
        SchemaMismatchError: It differs in a way that cannot be evolved.
    """
    columns = {
        column.name: column.type
        for column in current_columns(metadata)
        if column.name not in CONTROL_COLUMNS
    }
    name = f"lake.tables.{contract.contract}"
    # As Spark shows them: Iceberg keeps the format version outside the properties.
    properties = {"format-version": str(metadata["format-version"]), **metadata["properties"]}
    partition = list(partition_fields(metadata))
    return bool(evolve_table(contract, name, columns, properties=properties, partition=partition))


def main_ancestry(metadata: Metadata) -> list[Metadata]:
    """Return main's snapshots that are not expired, newest first."""
    known = {each["snapshot-id"]: each for each in metadata.get("snapshots", [])}
    head = metadata.get("refs", {}).get("main", {}).get("snapshot-id")
    if head is None:
        head = metadata.get("current-snapshot-id")
    chain = []
    while head in known:
        chain.append(known[head])
        head = known[head].get("parent-snapshot-id")
    return chain


def off_main(metadata: Metadata) -> list[Metadata]:
    """Return the snapshots that main does not descend from: of branches, or taken back."""
    main = {each["snapshot-id"] for each in main_ancestry(metadata)}
    return [each for each in metadata["snapshots"] if each["snapshot-id"] not in main]


def _current_schema(metadata: Metadata) -> Metadata:
    current = metadata["current-schema-id"]
    schema: Metadata = next(s for s in metadata["schemas"] if s["schema-id"] == current)
    return schema


def partition_fields(metadata: Metadata) -> Iterator[str]:
    """Yield the current partition fields as a contract writes them."""
    names = {field["id"]: field["name"] for field in _current_schema(metadata)["fields"]}
    for spec in metadata.get("partition-specs", []):
        if spec["spec-id"] != metadata.get("default-spec-id"):
            continue
        for field in spec["fields"]:
            name, transform = names.get(field["source-id"], ""), field["transform"]
            width = re.fullmatch(r"(bucket|truncate)\[(\d+)\]", transform)
            if transform == "identity":
                yield name
            elif width:
                yield f"{width.group(1)}({width.group(2)}, {name})"
            elif transform in _TRANSFORMS:
                yield f"{_TRANSFORMS[transform]}({name})"


def _ddl(kind: str | Metadata) -> str:
    """Return Iceberg's type as Spark's DDL writes it."""
    if isinstance(kind, str):
        if kind.startswith("fixed"):
            return "binary"
        return _TYPES.get(kind, kind)
    if kind["type"] == "list":
        return f"array<{_ddl(kind['element'])}>"
    if kind["type"] == "map":
        return f"map<{_ddl(kind['key'])},{_ddl(kind['value'])}>"
    fields = [f"{quote(field['name'])}:{_ddl(field['type'])}" for field in kind["fields"]]
    return f"struct<{','.join(fields)}>"
