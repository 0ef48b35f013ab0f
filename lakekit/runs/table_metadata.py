"""What an Iceberg metadata document says of its table: columns, ancestry of main, health. Pure."""

import re
from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import Any

from lakekit.contract.contract import CONTROL_COLUMNS, Contract
from lakekit.health import SMALL
from lakekit.sql.evolve import evolve_table
from lakekit.sql.identifiers import quote

# Iceberg's name of a type, where Spark has another.
_TYPES = {"long": "bigint", "timestamptz": "timestamp", "timestamp": "timestamp_ntz",
          "uuid": "string"}  # fmt: skip
_TRANSFORMS = {"year": "years", "month": "months", "day": "days", "hour": "hours"}

Metadata = Mapping[str, Any]


def must_evolve(contract: Contract, metadata: Metadata) -> bool:
    """Say whether a table differs from its contract, by the very rules of CreateTables.

    Raises:
        SchemaMismatchError: It differs in a way that cannot be evolved.
    """
    columns = {
        field["name"]: _ddl(field["type"])
        for field in _current_schema(metadata)["fields"]
        if field["name"] not in CONTROL_COLUMNS
    }
    name = f"lake.tables.{contract.contract}"
    # As Spark shows them: Iceberg keeps the format version outside the properties.
    properties = {"format-version": str(metadata["format-version"]), **metadata["properties"]}
    partition = list(_partition_fields(metadata))
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


def wants_maintenance(contract: Contract, metadata: Metadata) -> bool:
    """Judge a table's health by its snapshots' summaries alone; the job looks closer.

    Ages count from the table's last change, so that the answer needs no clock. Expiry waits until
    as many snapshots can go as are to be kept: a job start costs more than they do.
    """
    chain = main_ancestry(metadata)
    if not chain:
        return False
    limits = contract.maintenance
    count = _partition_files if contract.table.partition_by else _table_files
    small = SMALL * limits.target_file_size_mb * 1024 * 1024
    if count(chain, small) >= limits.small_files_threshold:
        return True
    if _number(chain[0], "total-delete-files") > _number(chain[0], "total-data-files"):
        return True
    keep, snapshots = limits.snapshots, metadata["snapshots"]
    age = timedelta(days=keep.max_age_days) / timedelta(milliseconds=1)
    edge = metadata["last-updated-ms"] - age
    old = sum(each["timestamp-ms"] < edge for each in snapshots)
    return bool(min(old, len(snapshots) - keep.min_to_keep) > keep.min_to_keep)


def _table_files(chain: list[Metadata], small: float) -> int:
    """Return how many data files a table has, if they are small on average."""
    files = _number(chain[0], "total-data-files")
    return files if _number(chain[0], "total-files-size") < files * small else 0


def _partition_files(chain: list[Metadata], small: float) -> int:
    """Estimate how many small data files a partition got since the last compaction.

    A summary has the number of changed partitions, not which. The estimate takes a commit's
    files as spread evenly and rounds up, as if one partition had a share of every commit: it is
    too high where commits go to different partitions, late where a commit crowds one of many, and
    grows with each commit of small files, so that no crowded table is passed over for good.
    """
    crowd = 0
    for each in chain:
        added, removed = _number(each, "added-data-files"), _number(each, "deleted-data-files")
        # Other commits are called `replace` too: those of manifests alone.
        if removed and each.get("summary", {}).get("operation") == "replace":
            break
        if _number(each, "added-files-size") < added * small:
            crowd += -((removed - added) // max(_number(each, "changed-partition-count"), 1))
    return crowd


def _number(snapshot: Metadata, name: str) -> int:
    return int(snapshot.get("summary", {}).get(name, 0))


def _current_schema(metadata: Metadata) -> Metadata:
    current = metadata["current-schema-id"]
    schema: Metadata = next(s for s in metadata["schemas"] if s["schema-id"] == current)
    return schema


def _partition_fields(metadata: Metadata) -> Iterator[str]:
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
