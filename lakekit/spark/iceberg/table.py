"""Iceberg's own object of a table: its metadata without a Spark job, and changes of it.

A change of references or properties is made on the metadata that was read, or not at all.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from lakekit.errors import CommitConflictError
from lakekit.spark.session.tuning import to_python
from lakekit.sql.identifiers import quote_table


def load_table(spark: SparkSession, table: str) -> Any:
    """Return the Java `org.apache.iceberg.Table`, as the catalog has it now."""
    session: Any = spark
    util = session._jvm.org.apache.iceberg.spark.Spark3Util
    return util.loadIcebergTable(session._jsparkSession, quote_table(table))


def metadata_of(spark: SparkSession, loaded: Any) -> dict[str, Any]:
    """Return the metadata document of a loaded table.

    In one call: of Java's own objects each snapshot takes several. See `ancestry` for the newest.
    """
    session: Any = spark
    parser = session._jvm.org.apache.iceberg.TableMetadataParser
    document: dict[str, Any] = json.loads(parser.toJson(loaded.operations().current()))
    return document


def ancestry(loaded: Any) -> Iterator[Any]:
    """Yield the snapshots of a loaded table's main as Java's objects, newest first.

    Those that have expired are left out. For a few of many: each takes some calls.
    """
    snapshot = loaded.currentSnapshot()
    while snapshot is not None:
        yield snapshot
        parent = snapshot.parentId()
        snapshot = None if parent is None else loaded.snapshot(parent)


def properties_of(loaded: Any) -> dict[str, str]:
    """Return the properties of a loaded table."""
    properties: dict[str, str] = to_python(loaded.properties())
    return properties


def refs_of(loaded: Any) -> list[str]:
    """Return the names of the branches and tags of a loaded table."""
    names: list[str] = to_python(loaded.refs().keySet())
    return names


def table_property(spark: SparkSession, table: str, name: str) -> str:
    """Return one property of a table, empty if it is not set."""
    return str(load_table(spark, table).properties().get(name) or "")


def main_of(loaded: Any) -> int | None:
    """Return main's head of a loaded table, None if that has no snapshots."""
    head = loaded.currentSnapshot()
    return None if head is None else int(head.snapshotId())


def commits_of(loaded: Any) -> int:
    """Return how many snapshots a loaded table has had, on any branch, expired ones too."""
    return int(loaded.operations().current().lastSequenceNumber())


def main_snapshot(spark: SparkSession, table: str) -> int | None:
    """Return main's head, None for a table without snapshots."""
    return main_of(load_table(spark, table))


def current_file_sizes(spark: SparkSession, table: str, most: int) -> list[int]:
    """Return the bytes of the files that hold main's current versions, `most` of them at most.

    All rows of a table that is only appended to count as current.
    """
    session: Any = spark
    loaded = load_table(spark, table)
    scan = loaded.newScan()
    if loaded.schema().findField("_is_current"):
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


# Iceberg's errors if main has moved: before its last look at it, or since.
_MOVED = ("not an ancestor", "refresh is required")
# Its errors if anything has changed.
_STALE = ("CommitFailedException", "refresh is required")
_ATTEMPTS = 3
# Where several processes change properties at once, one gets ahead each time.
_PROPERTY_ATTEMPTS = 10


def head_of(loaded: Any, branch: str) -> int | None:
    """Return the snapshot of a loaded table's branch, None if it is not there."""
    ref = loaded.refs().get(branch)
    return None if ref is None else int(ref.snapshotId())


def change(spark: SparkSession, table: str, make: Callable[[Any, Any], Any]) -> bool:
    """Make a change of references and commit it; again, if another commit came first.

    Args:
        spark: A session whose catalog holds the table.
        table: Identifier of the table.
        make: From the table and an empty change, the change; nothing if none is to be made.

    Returns:
        Whether it is committed.
    """
    for _ in range(_ATTEMPTS):
        loaded, refs = based(spark, table)
        try:
            made = make(loaded, refs)
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
    """Return a table and a change of its references, which another commit from here on stops."""
    loaded = load_table(spark, table)
    # This refreshes the table; only then it may be read.
    refs = loaded.manageSnapshots()
    return loaded, refs


def committed(refs: Any) -> bool:
    """Commit a change of references; False if another commit came first."""
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
    """Change properties of a table; again, if another commit came first.

    Args:
        spark: A session whose catalog holds the table.
        table: Identifier of the table.
        make: From all properties, those that are to be set; nothing if none is.

    Returns:
        Whether something is set.

    Raises:
        CommitConflictError: Others wrote during each of ten attempts; nothing was set.
    """
    for _ in range(_PROPERTY_ATTEMPTS):
        # Iceberg's own update would be repeated as it is on what another process has set.
        operations = load_table(spark, table).operations()
        loaded = operations.current()
        properties = properties_of(loaded)
        if not (made := make(properties)):
            return False
        try:
            operations.commit(loaded, loaded.replaceProperties({**properties, **made}))
        except (Py4JJavaError, PySparkException) as error:
            if not is_stale(error):
                raise
        else:
            return True
    raise CommitConflictError(
        f"{table}: others wrote {_PROPERTY_ATTEMPTS} times while its properties were to be "
        "changed; nothing was changed: run this again"
    )


def is_stale(error: Exception) -> bool:
    """Whether a change failed because another commit came first."""
    return any(reason in str(error) for reason in _STALE)


def _moved(error: Exception) -> bool:
    return any(reason in str(error) for reason in _MOVED)
