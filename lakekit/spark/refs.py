"""Changes of a table's references and properties: on what was looked at, or not at all."""

from collections.abc import Callable, Mapping
from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from lakekit.errors import CommitConflictError
from lakekit.spark.iceberg import load_table, properties_of

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
