"""A branch of a table, on which a run writes before main moves to it."""

import hashlib
from collections.abc import Callable, Sequence
from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import Column as Expression
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from lakekit.spark.iceberg import load_table, main_of

PREFIX = "lakekit_"
# What Iceberg says if main has moved: before its last look at it, or since.
_MOVED = ("not an ancestor", "refresh is required")
_ATTEMPTS = 3


def branch_name(run_id: str) -> str:
    """Return the name of a run's branch."""
    return f"{PREFIX}{hashlib.sha256(run_id.encode()).hexdigest()[:16]}"


def branch_of(run_id: Expression) -> Expression:
    """Return the name of a run's branch as an expression over a column."""
    return F.concat(F.lit(PREFIX), F.substring(F.sha2(run_id, 256), 1, 16))


def open_branch(spark: SparkSession, table: str, branch: str, head: int | None) -> bool:
    """Begin a branch at main's head; one that a crash left begins there too, and never is away.

    Args:
        spark: A session whose catalog holds the table.
        table: Identifier of the table.
        branch: Name of the branch.
        head: What main's head was before anything was read; None if the table was empty.

    Returns:
        False if main has moved since.
    """
    known = load_table(spark, table)
    if head != main_of(known):
        return False
    if head is None:
        return _open_on_empty(spark, table, branch)
    refs: Any = known.manageSnapshots()
    stands = known.refs().containsKey(branch)
    begin = refs.replaceBranch if stands else refs.createBranch
    return _committed(begin(branch, head))


def _open_on_empty(spark: SparkSession, table: str, branch: str) -> bool:
    drop_branch(spark, table, branch)
    if not _committed(load_table(spark, table).manageSnapshots().createBranch(branch)):
        return False
    # Iceberg begins it at what main has become meanwhile.
    known = load_table(spark, table)
    return known.snapshot(known.refs().get(branch).snapshotId()).parentId() is None


def drop_branch(spark: SparkSession, table: str, branch: str) -> None:
    """Drop a branch if it is there; if others commit all the while, the next run will."""
    for _ in range(_ATTEMPTS):
        known = load_table(spark, table)
        if not known.refs().containsKey(branch):
            return
        if _committed(known.manageSnapshots().removeBranch(branch)):
            return


def fast_forward(
    spark: SparkSession,
    table: str,
    branch: str,
    stands: Callable[[Any], bool],
    ended: Sequence[str] = (),
) -> int | None:
    """Move main to a branch and drop that, in one commit.

    Args:
        spark: A session whose catalog holds the table.
        table: Identifier of the table.
        branch: Name of the branch.
        stands: Whether the metadata, which the commit is based on, are what was planned on.
        ended: Other branches that are dropped with it, if they are there.

    Returns:
        Main's new head; None if something has moved: nothing is changed.
    """
    known, refs = _based(spark, table)
    if not stands(known):
        return None
    head = int(known.refs().get(branch).snapshotId())
    try:
        refs = refs.fastForwardBranch("main", branch)
    except (Py4JJavaError, PySparkException) as error:
        if _moved(error):
            return None
        raise
    for each in {branch, *(name for name in ended if known.refs().containsKey(name))}:
        refs = refs.removeBranch(each)
    return head if _committed(refs) else None


def leave(spark: SparkSession, table: str, branch: str, stands: Callable[[Any], bool]) -> bool:
    """Drop a branch and let main be; False if something has moved: nothing is changed."""
    known, refs = _based(spark, table)
    return stands(known) and _committed(refs.removeBranch(branch))


def _based(spark: SparkSession, table: str) -> tuple[Any, Any]:
    """Return a table and a change of its references: another's commit from here on stops it."""
    known = load_table(spark, table)
    # This refreshes the table; only then it may be looked at.
    refs = known.manageSnapshots()
    return known, refs


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
