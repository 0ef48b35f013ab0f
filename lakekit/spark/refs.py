"""Changes of a table's references: committed on what was looked at, or not at all."""

from collections.abc import Callable
from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from lakekit.spark.iceberg import load_table

# What Iceberg says if main has moved: before its last look at it, or since.
_MOVED = ("not an ancestor", "refresh is required")
_ATTEMPTS = 3


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


def _moved(error: Exception) -> bool:
    return any(reason in str(error) for reason in _MOVED)
