"""Whether a branch holds as many rows as its run should have written, by Iceberg's own counts."""

from collections.abc import Mapping
from typing import Any

from lakekit.batch import RUN_ID
from lakekit.errors import InvariantViolatedError
from lakekit.spark.context import Merge
from lakekit.spark.iceberg import load_table
from lakekit.sql.identifiers import quote_table


def refuse_miscounted(
    merge: Merge, branch: str, before: int | None, head: int, growth: int
) -> None:
    """Refuse a branch that lacks the run's evidence, or rows, or has too many.

    No row is read, unless the totals of its snapshots do not say what they should.

    Args:
        merge: The run.
        branch: The branch that it has written on.
        before: Main's head, on which it was planned.
        head: The head of the branch.
        growth: How many more rows it should have than main.

    Raises:
        InvariantViolatedError: It is not what it should be.
    """
    known = load_table(merge.spark, merge.table)
    last = known.snapshot(head)
    if last is None or last.summary().get(RUN_ID) != merge.batch.run_id:
        raise _wrong(merge, f"the last commit of {branch} is not the run's")
    first = None if before is None else known.snapshot(before)
    if before is not None and first is None:
        # It has expired, so main has moved, which cannot be moved to the branch.
        return
    live_before, live_after = 0 if first is None else _live(first.summary()), _live(last.summary())
    if live_before is not None and live_after is not None and live_after - live_before == growth:
        return
    # The totals count a row twice that two lists of deleted rows name, and rows of files that are
    # gone: what they say is certain only where it is what was planned.
    more = count_rows(merge, head) - count_rows(merge, before)
    if more != growth:
        raise _wrong(merge, f"it should add {growth} rows; there are {more} more")


def count_rows(merge: Merge, snapshot: int | None) -> int:
    """Count the rows of a snapshot by reading them; None stands for an empty table."""
    if snapshot is None:
        return 0
    return merge.spark.read.option("snapshot-id", snapshot).table(quote_table(merge.table)).count()


def _live(summary: Mapping[str, Any]) -> int | None:
    """Return the rows of a snapshot less those that lists of deleted rows name.

    Only what it is more or less than that of another snapshot tells something. None if the summary
    does not say.
    """
    totals = [summary.get(f"total-{kind}") for kind in ("records", "position-deletes")]
    return None if None in totals else int(totals[0] or 0) - int(totals[1] or 0)


def _wrong(merge: Merge, why: str) -> InvariantViolatedError:
    return InvariantViolatedError(f"{merge.table}: run {merge.batch.run_id}: {why}")
