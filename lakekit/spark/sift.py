"""Lines of a large full extract that are known by their bytes: told before they are parsed.

Nearly every line of a full extract is byte for byte the one that its key's current version shows.
To read and digest a line takes a fifth of the time that its parsing does. What is left, and the
versions that no line shows, are staged and merged like a small extract.
"""

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from pyspark.sql import DataFrame, Observation
from pyspark.sql import functions as F

from lakekit.batch import naive_utc
from lakekit.spark import known
from lakekit.spark.context import Merge, estimated_bytes, sent
from lakekit.spark.counts import based_counts
from lakekit.spark.digests import found, lists_of, looked_up, number_of_lists, unshown
from lakekit.spark.lines import landed
from lakekit.spark.order import Sight
from lakekit.spark.records import parsed, read_batch, sequence
from lakekit.spark.scopes import scope_text
from lakekit.spark.staging import write_counted
from lakekit.sql.line_hash import DIGEST, LINES, RENEWED

# How many lines are looked up before, and what share of them must be known for all to be.
SAMPLE = 200
ENOUGH = 0.5
# Days after which it is tried again to know the lines of a source that writes other bytes.
RENEW_AFTER = 30


@dataclass(frozen=True)
class Sides:
    """Records and the versions beside which they are merged; see `join.select_base`.

    based: what is observed of all current versions as the base is read, where known lines were
    left out; see `_left`. known: how many. checks: the second halves of their digests combined.
    renews: whether the digests of all lines are to be written down. all_rows: whether records that
    say what is known may count.
    """

    records: DataFrame
    base: DataFrame
    based: Observation | None = None
    known: int = 0
    checks: int = 0
    renews: bool = False
    all_rows: bool = False

    @property
    def sifted(self) -> bool:
        """Whether known lines and their versions were left out."""
        return self.based is not None


def read_whole(merge: Merge, base: DataFrame) -> Sides:
    """Read all records of a run beside all versions."""
    return Sides(read_batch(merge), base.drop(*DIGEST))


def read_sides(merge: Merge, sight: Sight, base: DataFrame) -> Sides:
    """Read a run, of a large full extract only what is not known.

    Known lines are left out if most are known. If they could be, but the table has digests of
    another reading or of other bytes, all are parsed, and their digests written down; not so soon
    again, if that has helped nothing.

    Args:
        merge: The run.
        sight: What is known of the table.
        base: The versions to compare with, and their digests.
    """
    whole = read_whole(merge, base)
    large = merge.full and known.is_worthwhile(whole.base, merge.contract)
    if sight.behind or not large or not merge.batch.files or not {*DIGEST} <= {*base.columns}:
        return whole
    if merge.properties.get(LINES) != merge.reading:
        return replace(whole, renews=True, all_rows=True)
    some, number = _some(merge), number_of_lists(estimated_bytes(whole.base))
    lists, counts = _lists(merge, number)
    if found(some, lists, number) < ENOUGH * len(some):
        last = merge.properties.get(RENEWED)
        renews = not last or _days_since(last, merge) >= RENEW_AFTER
        return replace(whole, renews=renews, all_rows=renews)
    # What lies ahead of an extract says more.
    if counts["newest"] and counts["newest"] > str(naive_utc(merge.batch.extraction_time)):
        return whole
    sifted = _sifted(merge, base, lists, number, counts["digests"])
    return sifted or replace(whole, all_rows=True)


def _sifted(
    merge: Merge, base: DataFrame, lists: DataFrame, number: int, digests: int
) -> Sides | None:
    """Leave out the lines that are known; None if one came twice, as it may have been superseded.

    `digests` are how many the lists hold.
    """
    listed = F.col("__list").isNotNull()
    told, counts = write_counted(
        parsed(looked_up(landed(merge), lists, number), merge.contract),
        f"{merge.place}/sifted",
        F.sum(F.when(listed, F.col("__times"))).alias("known"),
        F.sum(F.bit_count("__shown")).alias("shown"),
        F.bit_xor("__checks").alias("checks"),
        F.count_if(~listed).alias("rest"),
    )
    n = {name: count or 0 for name, count in counts.items()}
    if n["known"] > n["shown"]:
        return None
    records = told.where(~listed).drop("__list", "__shown", "__times", "__checks")
    keys = sent(records.select(*merge.keys).distinct(), n["rest"])
    missing = sent(unshown(lists, told), digests - n["shown"])
    left, based = _left(merge, base, missing, keys)
    return Sides(records, left, based, n["known"], n["checks"])


def _days_since(moment: str, merge: Merge) -> int:
    return (naive_utc(merge.batch.extraction_time) - datetime.fromisoformat(moment)).days


def _some(merge: Merge) -> list[int]:
    """Return digests, their first halves, of some lines of one file."""
    files = merge.batch.files
    middle = merge.batch.model_copy(update={"files": (files[len(files) // 2],)})
    lines = landed(replace(merge, batch=middle)).select(DIGEST[0]).limit(SAMPLE)
    return [row[0] for row in lines.collect()]


def _lists(merge: Merge, number: int) -> tuple[DataFrame, dict[str, Any]]:
    """Write down the digests of all current versions; see `lists_of`.

    Returns:
        The lists, how many `digests` they hold, and the `newest` moment that a version shows, null
        if runs come in the order of their moments.
    """
    versions, seen, sequence_by = merge.current(), None, merge.contract.history.sequence_by
    if sequence_by is not None:
        seen, said = Observation(), sequence(merge.contract.column(sequence_by))
        newest = F.max(F.expr(f"greatest(_valid_from, {said})"))
        # Compared here, the run's time would be compiled, and no later run find that again.
        versions = versions.observe(seen, newest.cast("string").alias("newest"))
    lists, counts = write_counted(
        lists_of(versions, number),
        f"{merge.place}/lists",
        F.sum(F.size("__hashes")).alias("digests"),
    )
    return lists, {
        "digests": counts["digests"] or 0,
        "newest": seen.get["newest"] if seen else None,
    }


def _left(
    merge: Merge, base: DataFrame, missing: DataFrame, keys: DataFrame
) -> tuple[DataFrame, Observation]:
    """Leave out the versions that a known line shows, unless a record of their key is left.

    Args:
        merge: The run.
        base: All versions, with their digests.
        missing: First halves of digests that no line has.
        keys: Those of the records that are left.

    Returns:
        What is left, and the observation of all: `based_counts`, the `shown_scopes` of the
        versions that known lines show, and their `shown_checks` (second halves combined).
    """
    seen, (first, check) = Observation(), DIGEST
    rows = base.join(missing.withColumn("__unshown", F.lit(True)), first, "left")
    rows = rows.join(keys.withColumn("__met", F.lit(True)), list(merge.contract.keys), "left")
    shown = F.col(check).isNotNull() & F.col("__unshown").isNull()
    scope = F.expr(scope_text(merge.contract.history.delete_scope))
    rows = rows.observe(
        seen,
        *based_counts(),
        F.to_json(F.collect_set(F.when(shown, scope))).alias("shown_scopes"),
        F.bit_xor(F.when(shown, F.col(check))).alias("shown_checks"),
    )
    left = rows.where(~shown | F.col("__met"))
    return left.drop(*DIGEST, "__unshown", "__met"), seen
