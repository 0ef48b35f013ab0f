"""Iceberg's own object of a table: what its metadata says, without a Spark job.

Changes of a table's references and properties: on what was looked at, or not at all.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from lakekit.errors import CommitConflictError
from lakekit.spark.session.tuning import plain
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


# What Iceberg says if main has moved: before its last look at it, or since.
_MOVED = ("not an ancestor", "refresh is required")
# What it says if anything has.
_STALE = ("CommitFailedException", "refresh is required")
_ATTEMPTS = 3
# Of those who want to change properties at once, one gets ahead each time.
_PROPERTY_ATTEMPTS = 10


def head_of(known: Any, branch: str) -> int | None:
    """Return the snapshot of a loaded table's branch, None if it is not there."""
    ref = known.refs().get(branch)
    return None if ref is None else int(ref.snapshotId())


def change(spark: SparkSession, table: str, make: Callable[[Any, Any], Any]) -> bool:
    """Make a change of references and commit it; anew, if somebody else committed meanwhile.

    Args:
        spark: A session whose catalog holds the table.
        table: Identifier of the table.
        make: Of the table and an empty change, the change; nothing if none is to be made.

    Returns:
        Whether it is committed.
    """
    for _ in range(_ATTEMPTS):
        known, refs = based(spark, table)
        try:
            made = make(known, refs)
        except (Py4JJavaError, PySparkException) as error:
            if _moved(error):
                return False
            raise
        if not made:
            return False
        if committed(made):
            return True
    return False


def based(spark: SparkSession, table: str) -> tuple[Any, Any]:
    """Return a table and a change of its references: another's commit from here on stops it."""
    known = load_table(spark, table)
    # This refreshes the table; only then it may be looked at.
    refs = known.manageSnapshots()
    return known, refs


def committed(refs: Any) -> bool:
    """Commit a change of references; False if somebody else committed meanwhile."""
    try:
        refs.commit()
    except (Py4JJavaError, PySparkException) as error:
        if _moved(error):
            return False
        raise
    return True


def change_properties(
    spark: SparkSession, table: str, make: Callable[[Mapping[str, str]], Mapping[str, str]]
) -> bool:
    """Set what is made of a table's properties; made anew, if somebody else committed meanwhile.

    Args:
        spark: A session whose catalog holds the table.
        table: Identifier of the table.
        make: Of all properties, those that are to be set; nothing if none is.

    Returns:
        Whether something is set.

    Raises:
        CommitConflictError: Others wrote during each of ten attempts; nothing was set.
    """
    for _ in range(_PROPERTY_ATTEMPTS):
        # Its own update of properties would be repeated as it is on what another has set since.
        operations = load_table(spark, table).operations()
        known = operations.current()
        properties = properties_of(known)
        if not (made := make(properties)):
            return False
        try:
            operations.commit(known, known.replaceProperties({**properties, **made}))
        except (Py4JJavaError, PySparkException) as error:
            if not is_stale(error):
                raise
        else:
            return True
    raise CommitConflictError(
        f"{table}: others wrote {_PROPERTY_ATTEMPTS} times while it was to be noted what the "
        "table's columns hold; nothing of that is noted: let what noted it come again"
    )


def is_stale(error: Exception) -> bool:
    """Whether a change failed as somebody else committed meanwhile."""
    return any(reason in str(error) for reason in _STALE)


def _moved(error: Exception) -> bool:
    return any(reason in str(error) for reason in _MOVED)
