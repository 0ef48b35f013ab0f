"""A branch of a table, on which a run writes before main moves to it."""

from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from lakekit.spark.iceberg import load_table

# What Iceberg says if main has moved: before its last look at it, or since.
_MOVED = ("not an ancestor", "refresh is required")
_ATTEMPTS = 3


def open_branch(spark: SparkSession, table: str, branch: str, head: int | None) -> bool:
    """Begin a branch at main's head, anew if a crash left it.

    Args:
        spark: A session whose catalog holds the table.
        table: Identifier of the table.
        branch: Name of the branch.
        head: What main's head was before anything was read; None if the table was empty.

    Returns:
        False if main has moved since.
    """
    drop_branch(spark, table, branch)
    known = load_table(spark, table)
    if head != _snapshot(known):
        return False
    refs: Any = known.manageSnapshots()
    refs = refs.createBranch(branch) if head is None else refs.createBranch(branch, head)
    if not _committed(refs):
        return False
    if head is not None:
        return True
    # On an empty table Iceberg begins it at what main has become meanwhile.
    known = load_table(spark, table)
    return known.snapshot(known.refs().get(branch).snapshotId()).parentId() is None


def main_snapshot(spark: SparkSession, table: str) -> int | None:
    """Return main's head, None for a table without snapshots."""
    return _snapshot(load_table(spark, table))


def _snapshot(known: Any) -> int | None:
    head = known.currentSnapshot()
    return None if head is None else int(head.snapshotId())


def drop_branch(spark: SparkSession, table: str, branch: str) -> None:
    """Drop a branch if it is there; if others commit all the while, the next run will."""
    for _ in range(_ATTEMPTS):
        known = load_table(spark, table)
        if not known.refs().containsKey(branch):
            return
        if _committed(known.manageSnapshots().removeBranch(branch)):
            return


def fast_forward(spark: SparkSession, table: str, branch: str) -> int | None:
    """Move main to a branch and drop that, in one commit.

    Returns:
        Main's new head; None if main is no ancestor of the branch any more: nothing is changed.
    """
    known = load_table(spark, table)
    head = int(known.refs().get(branch).snapshotId())
    try:
        refs = known.manageSnapshots().fastForwardBranch("main", branch).removeBranch(branch)
    except (Py4JJavaError, PySparkException) as error:
        if _moved(error):
            return None
        raise
    return head if _committed(refs) else None


def _committed(refs: Any) -> bool:
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
