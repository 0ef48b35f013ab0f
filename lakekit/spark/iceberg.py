"""Iceberg's own object of a table: what its metadata says, without a Spark job."""

import json
from collections.abc import Iterator
from typing import Any

from pyspark.sql import SparkSession

from lakekit.spark.java import plain
from lakekit.sql.identifiers import quote_table


def load_table(spark: SparkSession, table: str) -> Any:
    """Return the Java `org.apache.iceberg.Table`, as the catalog has it at this moment."""
    session: Any = spark
    util = session._jvm.org.apache.iceberg.spark.Spark3Util
    return util.loadIcebergTable(session._jsparkSession, quote_table(table))


def metadata_of(spark: SparkSession, known: Any) -> dict[str, Any]:
    """Return the metadata document of a loaded table.

    In one call: of Java's own objects each snapshot takes several. See `ancestry` for the newest.
    """
    session: Any = spark
    parser = session._jvm.org.apache.iceberg.TableMetadataParser
    document: dict[str, Any] = json.loads(parser.toJson(known.operations().current()))
    return document


def ancestry(known: Any) -> Iterator[Any]:
    """Yield the snapshots of a loaded table's main as Java's objects, newest first.

    Those that have expired are left out. For a few of many: each takes some calls.
    """
    snapshot = known.currentSnapshot()
    while snapshot is not None:
        yield snapshot
        parent = snapshot.parentId()
        snapshot = None if parent is None else known.snapshot(parent)


def properties_of(known: Any) -> dict[str, str]:
    """Return the properties of a loaded table."""
    properties: dict[str, str] = plain(known.properties())
    return properties


def refs_of(known: Any) -> list[str]:
    """Return the names of the branches and tags of a loaded table."""
    names: list[str] = plain(known.refs().keySet())
    return names


def table_property(spark: SparkSession, table: str, name: str) -> str:
    """Return one property of a table, empty if it is not set."""
    return str(load_table(spark, table).properties().get(name) or "")


def main_of(known: Any) -> int | None:
    """Return main's head of a loaded table, None if that has no snapshots."""
    head = known.currentSnapshot()
    return None if head is None else int(head.snapshotId())


def commits_of(known: Any) -> int:
    """Return how many snapshots a loaded table has had, on any branch, expired ones too."""
    return int(known.operations().current().lastSequenceNumber())


def main_snapshot(spark: SparkSession, table: str) -> int | None:
    """Return main's head, None for a table without snapshots."""
    return main_of(load_table(spark, table))


def current_file_sizes(spark: SparkSession, table: str, most: int) -> list[int]:
    """Return the bytes of the files that hold main's current versions, `most` of them at most.

    All rows of a table that is only appended to count as current.
    """
    session: Any = spark
    known = load_table(spark, table)
    scan = known.newScan()
    if known.schema().findField("_is_current"):
        expressions = session._jvm.org.apache.iceberg.expressions.Expressions
        scan = scan.filter(expressions.equal("_is_current", True))
    sizes: list[int] = []
    tasks = scan.planFiles()
    try:
        files = tasks.iterator()
        while len(sizes) < most and files.hasNext():
            sizes.append(int(files.next().file().fileSizeInBytes()))
    finally:
        tasks.close()
    return sizes
