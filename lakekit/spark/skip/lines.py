"""Lines of a large full extract that are known by their bytes: told before they are parsed.

Nearly every line of a full extract is byte for byte the one that its key's current version shows.
To read and digest a line takes a seventh of the time that it takes to parse and hash its record.
What is left, and the versions that no line shows, are staged and merged like a small extract.

The current versions by the lines that they show: listed, counted, and left out.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from pyspark.sql import Column as Expression
from pyspark.sql import DataFrame, Observation
from pyspark.sql import functions as F

from lakekit.batch import naive_utc
from lakekit.spark.diff.compare import SHOWN
from lakekit.spark.diff.metrics import based_counts
from lakekit.spark.diff.state import Sight
from lakekit.spark.read.lines import landed
from lakekit.spark.read.parse import parsed, read_batch
from lakekit.spark.run import Merge
from lakekit.spark.session.session import session_settings
from lakekit.spark.session.staging import write_counted
from lakekit.spark.session.tuning import estimated_bytes, observed, sent
from lakekit.spark.skip import rows as known
from lakekit.spark.skip.digests import lists_of, looked_up, number_of_lists, unshown
from lakekit.sql.line_hash import DIGEST, LINES, RENEWED
from lakekit.sql.scopes import scope_text

# How many lines are looked for first, and what share of them must be known for all to be.
SAMPLE = 200
ENOUGH = 0.5
# Bytes of files that a task reads, and of what it tells of a list, about.
TASK = 128 << 20
TOLD = 48
# Where all lines of the sample are known, so many of all may not be, in one case of twenty.
MARGIN = 3 / SAMPLE
# Days after which it is tried again to know the lines of a source that writes other bytes.
RENEW_AFTER = 30


@dataclass(frozen=True)
class Sides:
    """Records and the versions beside which they are merged; see `base.select_base`.

    based: what is observed of all current versions as the base is read, where known lines were
    left out; see `shown.leave_out_shown`. counted: what is counted of them instead, where nothing
    is left. known: how many lines were left out. checks: the second halves of their digests
    combined. left: how many lines and versions are left. many: whether it pays to know records
    again before they are joined. renews: whether the digests of all lines are to be written down.
    all_rows: whether records that say what is known are wanted.
    """

    records: DataFrame
    base: DataFrame
    based: Observation | None = None
    counted: dict[str, Any] | None = None
    known: int = 0
    checks: int = 0
    left: int = 0
    many: bool = False
    renews: bool = False
    all_rows: bool = False

    @property
    def sifted(self) -> bool:
        """Whether known lines and their versions were left out."""
        return self.based is not None or self.counted is not None

    def errs(self, n: Mapping[str, Any], extracted: datetime) -> bool:
        """Whether a line that was left out may say something, by what was observed."""
        if not self.sifted:
            return False
        # What lies ahead of an extract says more.
        ahead = n["shown_newest"] and n["shown_newest"] > str(naive_utc(extracted))
        return bool(ahead or n["shown"] != self.known or (n["shown_checks"] or 0) != self.checks)


def read_whole(merge: Merge, base: DataFrame, *, many: bool = False) -> Sides:
    """Read all records of a run beside all versions."""
    return Sides(read_batch(merge), base.drop(*SHOWN), many=many, all_rows=not merge.full)


def read_sides(merge: Merge, sight: Sight, base: DataFrame) -> Sides:
    """Read a run, of a large full extract only what is not known.

    Known lines are left out if most are known. If they could be, but the table has digests of
    another reading or of other bytes, all are parsed, and their digests written down; not so soon
    again, if that has helped nothing.

    Args:
        merge: The run.
        sight: What is known of the table.
        base: The versions to compare with, and the lines that they show.
    """
    large = merge.full and not merge.is_small
    size = estimated_bytes(base.drop(*SHOWN)) if large else 0
    many = known.is_worthwhile(size, merge.contract)
    if sight.behind or not many or not merge.batch.files or not {*SHOWN} <= {*base.columns}:
        return read_whole(merge, base, many=many)
    if merge.properties.get(LINES) != merge.reading:
        return replace(read_whole(merge, base), renews=True, all_rows=True)
    some = _some(merge)
    if not some:
        return read_whole(merge, base, many=many)
    number = number_of_lists(estimated_rows(base))
    lists, held = list_digests(merge, base, number, some)
    if held["share"] < ENOUGH:
        last = merge.properties.get(RENEWED)
        renews = not last or _days_since(last, merge) >= RENEW_AFTER
        return replace(read_whole(merge, base, many=many), renews=renews, all_rows=renews)
    sifted = _sifted(merge, base, lists, number, held)
    return sifted or replace(read_whole(merge, base), all_rows=True)


def _sifted(
    merge: Merge, base: DataFrame, lists: DataFrame, number: int, held: dict[str, Any]
) -> Sides | None:
    """Leave out the lines that are known; None if one came twice, as it may have been superseded.

    `held` is what is counted of the lists; see `shown.list_digests`.
    """
    listed = F.col("__list").isNotNull()
    with session_settings(merge.spark, _settings(merge, number, held["share"])):
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
    hidden = held["digests"] - n["shown"]
    without_digest = held["based"] - held["shown"]
    rest = n["rest"] + hidden + without_digest
    sides = Sides(records, base, known=n["known"], checks=n["checks"], left=rest)
    if not rest:
        return replace(sides, counted=held)
    keys = sent(records.select(*merge.keys).distinct(), n["rest"])
    left, based = leave_out_shown(merge, base, sent(unshown(lists, told), hidden), keys)
    return replace(sides, base=left, based=based)


def _settings(merge: Merge, number: int, share: float) -> dict[str, str]:
    """Return what the session is told while lines are looked up.

    Args:
        merge: The run.
        number: How many lists of digests.
        share: How many of the lines are known, by a sample.
    """
    size = merge.batch.bytes
    if size is None:
        return {}
    tasks = max(len(merge.batch.files), size // TASK)
    unknown = max(0, 1 - share) + MARGIN
    return merge.settings_for(size=number * tasks * TOLD + int(size * unknown))


def _days_since(moment: str, merge: Merge) -> int:
    return (naive_utc(merge.batch.extraction_time) - datetime.fromisoformat(moment)).days


def _some(merge: Merge) -> list[int]:
    """Return digests, their first halves, of some lines of one file."""
    files = merge.batch.files
    middle = merge.batch.model_copy(update={"files": (files[len(files) // 2],)})
    lines = landed(replace(merge, batch=middle)).select(DIGEST[0]).limit(SAMPLE)
    return [row[0] for row in lines.collect()]


def list_digests(
    merge: Merge, base: DataFrame, number: int, some: Sequence[int]
) -> tuple[DataFrame, dict[str, Any]]:
    """Write lists of the digests of all current versions.

    Args:
        merge: The run.
        base: All versions, and the lines that they show.
        number: How many lists.
        some: Digests, their first halves.

    Returns:
        The lists, and how many digests they hold (`digests`), and which share of some (`share`);
        of all versions `based_counts`, and of those with a digest `shown_counts`.
    """
    seen, (first, check) = Observation(), DIGEST
    told = base.observe(
        seen,
        *based_counts(),
        *shown_counts(merge, F.col(check).isNotNull()),
        F.count_if(F.col(first).isin([*some])).alias("found"),
    )
    lists, held = write_counted(
        lists_of(told.select(first), number),
        f"{merge.place}/lists",
        F.sum(F.size("__values")).alias("digests"),
    )
    counts = observed(seen)
    share = counts["found"] / len(some)
    return lists, {**counts, "digests": held["digests"] or 0, "share": share}


def leave_out_shown(
    merge: Merge, base: DataFrame, missing: DataFrame, keys: DataFrame
) -> tuple[DataFrame, Observation]:
    """Leave out the versions that a known line shows, unless a record of their key is left.

    Args:
        merge: The run.
        base: All versions, and the lines that they show.
        missing: First halves of digests that no line has.
        keys: Those of the records that are left.

    Returns:
        What is left, and the observation of all: `based_counts`, and `shown_counts` of those that
        known lines show.
    """
    seen, (first, check) = Observation(), DIGEST
    rows = base.join(missing.withColumn("__unshown", F.lit(True)), first, "left")
    rows = rows.join(keys.withColumn("__met", F.lit(True)), list(merge.contract.keys), "left")
    shown = F.col(check).isNotNull() & F.col("__unshown").isNull()
    rows = rows.observe(seen, *based_counts(), *shown_counts(merge, shown))
    left = rows.where(~shown | F.col("__met"))
    return left.drop(*SHOWN, "__unshown", "__met"), seen


def shown_counts(merge: Merge, shown: Expression) -> list[Expression]:
    """Return what is counted of some versions that show lines.

    How many they are (`shown`), the second halves of their digests combined (`shown_checks`), their
    scopes (`shown_scopes`) and the newest moment (`shown_newest`).
    """
    names = merge.contract.history.delete_scope
    scopes = F.collect_set(F.when(shown, F.expr(scope_text(names)))) if names else F.array()
    return [
        F.count_if(shown).alias("shown"),
        F.bit_xor(F.when(shown, F.col(DIGEST[1]))).alias("shown_checks"),
        F.to_json(scopes.cast("array<string>")).alias("shown_scopes"),
        # Compared here, the run's time would be compiled, and no later run find that again.
        F.max(F.when(shown, F.col(SHOWN[-1]))).cast("string").alias("shown_newest"),
    ]


# Bytes of a version of which only half a digest is kept, and whether it is current was asked, by
# Spark's estimates.
_HALF = 8.5


def estimated_rows(base: DataFrame) -> int:
    """Return how many current versions Spark takes a frame to have, those deleted since too."""
    return int(estimated_bytes(base.select(DIGEST[0])) / _HALF)
