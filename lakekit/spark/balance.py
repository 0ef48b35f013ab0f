"""Whether a branch holds as many rows as its run should have written, by Iceberg's own counts."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lakekit.batch import RUN_ID
from lakekit.errors import InvariantViolatedError
from lakekit.spark.context import Merge
from lakekit.spark.iceberg import load_table, metadata_of


@dataclass(frozen=True)
class Expected:
    """What a run should have written.

    growth: how many more rows there are than on main. added: how many the last commit adds, where
    it writes rows anew. None where that is not known.
    """

    growth: int | None = None
    added: int | None = None


def refuse_miscounted(
    merge: Merge, branch: str, before: int | None, head: int, expected: Expected
) -> None:
    """Refuse a branch that lacks the run's evidence, or rows, or has too many.

    No row is read. Only where closing rewrites no files do the totals of live rows hold.

    Args:
        merge: The run.
        branch: The branch that it has written on.
        before: Main's head, on which it was planned.
        head: The head of the branch.
        expected: What it should have written.

    Raises:
        InvariantViolatedError: It is not what it should be.
    """
    document = metadata_of(merge.spark, load_table(merge.spark, merge.table))
    known = {each["snapshot-id"]: each["summary"] for each in document.get("snapshots", [])}
    last = known.get(head, {})
    if last.get(RUN_ID) != merge.batch.run_id:
        raise _wrong(merge, f"the last commit of {branch} is not the run's")
    added = int(last.get("added-records", 0))
    if expected.added is not None and added != expected.added:
        raise _wrong(merge, f"it should write {expected.added} rows; it wrote {added}")
    one, other = (_live(known.get(each, {})) for each in (before, head))
    one = 0 if before is None else one
    if expected.growth is None or one is None or other is None:
        return
    if other - one != expected.growth:
        raise _wrong(merge, f"it should add {expected.growth} rows; there are {other - one} more")


def _live(summary: Mapping[str, Any]) -> int | None:
    """Return the rows of a snapshot that no list of deleted rows names; None if it does not say."""
    totals = [summary.get(f"total-{kind}") for kind in ("records", "position-deletes")]
    return None if None in totals else int(totals[0] or 0) - int(totals[1] or 0)


def _wrong(merge: Merge, why: str) -> InvariantViolatedError:
    return InvariantViolatedError(f"{merge.table}: run {merge.batch.run_id}: {why}")
