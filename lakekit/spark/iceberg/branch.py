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

# Begins the name of a branch to write on; a run's own branch shows that it is in progress.
_WORK = "work_"


def branch_of(run_id: Expression) -> Expression:
    """Return the name of a run's branch as an expression over a column."""
    return F.concat(F.lit(OWN), F.substring(F.sha2(run_id, 256), 1, 16))


def open_branch(
    spark: SparkSession, table: str, branch: str, head: int | None, work: str = ""
) -> bool:
    """Open a branch at main's head. A branch that a crash left is moved there, never removed.

    Args:
        spark: A session whose catalog holds the table.
        table: Identifier of the table.
        branch: Name of the branch.
        head: Main's head before anything was read; None if the table was empty.
        work: Name of a branch to write on, opened in the same commit; see `work_branch`.

    Returns:
        False if main has moved since.
    """
    if head is None:
        return _open_on_empty(spark, table, branch, work)

    def opened(loaded: Any, refs: Any) -> Any:
        return main_of(loaded) == head and _open(loaded, refs, branch, head, work)

    return change(spark, table, opened)


def work_branch(branch: str) -> str:
    """Return a new name of a branch to write on, in addition to a run's own one.

    Another process may work on the same run. Both share the run's branch, which shows that it is in
    progress. If both wrote on one branch, main would get their work twice.
    """
    return f"{_WORK}{branch}_{uuid4().hex[:12]}"


def _without(loaded: Any, refs: Any, branch: str) -> Any:
    """Remove a branch and its work branches, of crashed and of other processes."""
    for name in [*_work_branches(loaded, branch), *_if_there(loaded, branch)]:
        refs = refs.removeBranch(name)
    return refs


def _work_branches(loaded: Any, branch: str) -> list[str]:
    return [name for name in refs_of(loaded) if name.startswith(f"{_WORK}{branch}_")]


def _if_there(loaded: Any, branch: str) -> list[str]:
    return [branch] if loaded.refs().containsKey(branch) else []


def _open(loaded: Any, refs: Any, branch: str, at: int, work: str) -> Any:
    exists = loaded.refs().containsKey(branch)
    refs = (refs.replaceBranch if exists else refs.createBranch)(branch, at)
    return refs.createBranch(work, at) if work else refs


def _open_on_empty(spark: SparkSession, table: str, branch: str, work: str) -> bool:
    """Open a branch of a table without snapshots: Iceberg makes an empty one for a new branch."""
    fresh = f"new_{branch}"
    drop_branch(spark, table, fresh)
    if not committed(based(spark, table)[1].createBranch(fresh)):
        return False
    loaded, refs = based(spark, table)
    head = head_of(loaded, fresh)
    if head is None:
        # Another process of the run has opened it again.
        return False
    root = loaded.snapshot(head)
    if main_of(loaded) is not None or root.parentId() is not None:
        # Main has got a snapshot in between, at which the new branch began.
        drop_branch(spark, table, fresh)
        return False
    return committed(_open(loaded, refs, branch, head, work).removeBranch(fresh))


def branch_head(spark: SparkSession, table: str, branch: str) -> int | None:
    """Return the snapshot of a branch, None without that branch."""
    return head_of(load_table(spark, table), branch)


def drop_branch(spark: SparkSession, table: str, branch: str) -> None:
    """Drop a branch if it exists. If other commits prevent it, the next run drops it."""

    def dropped(loaded: Any, refs: Any) -> Any:
        exists = _work_branches(loaded, branch) or _if_there(loaded, branch)
        return exists and _without(loaded, refs, branch)

    change(spark, table, dropped)


def abandon_branch(
    spark: SparkSession, table: str, branch: str, work: str, *, recorded: bool
) -> None:
    """Drop what an attempt has opened, but not what another process of its run works on.

    Args:
        spark: A session whose catalog holds the table.
        table: Identifier of the table.
        branch: The branch of the run; while it exists, the run's journal entries do not count.
        work: The branch that the attempt wrote on.
        recorded: Whether the attempt may have written journal entries.
    """

    def abandoned(loaded: Any, refs: Any) -> Any:
        others = _work_branches(loaded, branch)
        mine = work in others
        refs = refs.removeBranch(work) if mine else refs
        if recorded or {*others} - {work} or not loaded.refs().containsKey(branch):
            return mine and refs
        return refs.removeBranch(branch)

    change(spark, table, abandoned)


def fast_forward(
    spark: SparkSession,
    table: str,
    branch: str,
    head: int | None,
    is_unchanged: Callable[[Any], bool],
    own: str = "",
) -> bool:
    """Move main to a branch and drop that branch, in one commit.

    Args:
        spark: A session whose catalog holds the table.
        table: Identifier of the table.
        branch: Name of the branch.
        head: The snapshot of the branch that was checked.
        is_unchanged: Whether the metadata that the commit is based on are the run's baseline.
        own: The branch of the run, if `branch` is a work branch; both are dropped, with all others.

    Returns:
        False if something has changed; then nothing is done.
    """

    def moved(loaded: Any, refs: Any) -> Any:
        if head is None or head_of(loaded, branch) != head or not is_unchanged(loaded):
            return None
        return _without(loaded, refs.fastForwardBranch("main", branch), own or branch)

    return change(spark, table, moved)


def close_branch(
    spark: SparkSession, table: str, branch: str, is_unchanged: Callable[[Any], bool]
) -> bool:
    """Drop a branch without moving main; False if something has changed: nothing is done."""

    def closed(loaded: Any, refs: Any) -> Any:
        exists = head_of(loaded, branch) is not None
        return exists and is_unchanged(loaded) and _without(loaded, refs, branch)

    return change(spark, table, closed)
