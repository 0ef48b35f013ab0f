"""A branch of a table, on which a run writes before main moves to it."""

from collections.abc import Callable
from typing import Any
from uuid import uuid4

from pyspark.sql import Column as Expression
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from lakekit.layout import OWN
from lakekit.spark.iceberg.table import (
    based,
    change,
    committed,
    head_of,
    load_table,
    main_of,
    refs_of,
)

# Not a run's own branch, by which it tells that it is under way.
_WORK = "work_"


def branch_of(run_id: Expression) -> Expression:
    """Return the name of a run's branch as an expression over a column."""
    return F.concat(F.lit(OWN), F.substring(F.sha2(run_id, 256), 1, 16))


def open_branch(
    spark: SparkSession, table: str, branch: str, head: int | None, work: str = ""
) -> bool:
    """Begin a branch at main's head; one that a crash left begins there too, and never is away.

    Args:
        spark: A session whose catalog holds the table.
        table: Identifier of the table.
        branch: Name of the branch.
        head: What main's head was before anything was read; None if the table was empty.
        work: Name of a branch to write on that begins there in the same commit; see `work_of`.

    Returns:
        False if main has moved since.
    """
    if head is None:
        return _open_on_empty(spark, table, branch, work)

    def opened(known: Any, refs: Any) -> Any:
        return main_of(known) == head and _begin(known, refs, branch, head, work)

    return change(spark, table, opened)


def work_of(branch: str) -> str:
    """Return a new name of a branch to write on, beside a run's own one.

    The same run may be at work in another process. They share the run's branch, which tells that
    it is under way; what both wrote on one branch would be on main twice.
    """
    return f"{_WORK}{branch}_{uuid4().hex[:12]}"


def _without(known: Any, refs: Any, branch: str) -> Any:
    """Remove a branch and those beside it, which crashes left or another process writes on."""
    for name in _beside(known, branch, itself=True):
        refs = refs.removeBranch(name)
    return refs


def _beside(known: Any, branch: str, *, itself: bool = False) -> list[str]:
    """Return the branches that are beside one, and that too if it is there and asked for."""
    begins = f"{_WORK}{branch}_"
    return [n for n in refs_of(known) if n.startswith(begins) or (itself and n == branch)]


def _begin(known: Any, refs: Any, branch: str, at: int, work: str) -> Any:
    stands = known.refs().containsKey(branch)
    refs = (refs.replaceBranch if stands else refs.createBranch)(branch, at)
    return refs.createBranch(work, at) if work else refs


def _open_on_empty(spark: SparkSession, table: str, branch: str, work: str) -> bool:
    """Begin a branch of a table without snapshots: Iceberg makes an empty one for a new branch."""
    fresh = f"new_{branch}"
    drop_branch(spark, table, fresh)
    if not committed(based(spark, table)[1].createBranch(fresh)):
        return False
    known, refs = based(spark, table)
    head = head_of(known, fresh)
    if head is None:
        # The run's other process has begun anew.
        return False
    root = known.snapshot(head)
    if main_of(known) is not None or root.parentId() is not None:
        # It began at what main has become meanwhile.
        drop_branch(spark, table, fresh)
        return False
    return committed(_begin(known, refs, branch, head, work).removeBranch(fresh))


def branch_head(spark: SparkSession, table: str, branch: str) -> int | None:
    """Return the snapshot of a branch, None if it is not there."""
    return head_of(load_table(spark, table), branch)


def drop_branch(spark: SparkSession, table: str, branch: str) -> None:
    """Drop a branch if it is there; if others commit all the while, the next run will."""

    def dropped(known: Any, refs: Any) -> Any:
        return _beside(known, branch, itself=True) and _without(known, refs, branch)

    change(spark, table, dropped)


def give_up(spark: SparkSession, table: str, branch: str, work: str, *, told: bool) -> None:
    """Drop what an attempt has begun, and leave what another process of its run is at work on.

    Args:
        spark: A session whose catalog holds the table.
        table: Identifier of the table.
        branch: The branch of the run; while it is there, what that has told does not count.
        work: The one that the attempt has begun beside it.
        told: Whether it may have told something.
    """

    def given_up(known: Any, refs: Any) -> Any:
        beside = _beside(known, branch)
        mine = work in beside
        refs = refs.removeBranch(work) if mine else refs
        if told or {*beside} - {work} or not known.refs().containsKey(branch):
            return mine and refs
        return refs.removeBranch(branch)

    change(spark, table, given_up)


def fast_forward(
    spark: SparkSession,
    table: str,
    branch: str,
    head: int | None,
    stands: Callable[[Any], bool],
    own: str = "",
) -> bool:
    """Move main to a branch and drop that, in one commit.

    Args:
        spark: A session whose catalog holds the table.
        table: Identifier of the table.
        branch: Name of the branch.
        head: The snapshot of the branch that was checked.
        stands: Whether the metadata, which the commit is based on, are what was planned on.
        own: The branch of its run, if it is beside that; it is dropped, with all that are.

    Returns:
        False if something has moved: nothing is changed.
    """

    def moved(known: Any, refs: Any) -> Any:
        if head is None or head_of(known, branch) != head or not stands(known):
            return None
        return _without(known, refs.fastForwardBranch("main", branch), own or branch)

    return change(spark, table, moved)


def leave(spark: SparkSession, table: str, branch: str, stands: Callable[[Any], bool]) -> bool:
    """Drop a branch and let main be; False if something has moved: nothing is changed."""

    def left(known: Any, refs: Any) -> Any:
        gone = head_of(known, branch) is None
        return not gone and stands(known) and _without(known, refs, branch)

    return change(spark, table, left)
