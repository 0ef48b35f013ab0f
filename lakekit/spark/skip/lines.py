"""Lines of a large full extract that are unchanged, byte for byte: skipped before they are parsed.

Nearly every line of a full extract is byte for byte the line that its key's current version shows.
To read and digest a line takes a seventh of the time that it takes to parse and hash its record.
The lines that are left, and the versions that no line shows, are staged like a small extract.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from pyspark.sql import Column as Expression
from pyspark.sql import DataFrame, Observation
from pyspark.sql import functions as F

from lakekit.batch import naive_utc
from lakekit.spark.diff.compare import LINE_COLUMNS
from lakekit.spark.diff.metrics import Counts, current_counts
from lakekit.spark.read.lines import read_lines
from lakekit.spark.read.parse import parse_lines, read_records
from lakekit.spark.run import MergeRun
from lakekit.spark.session.session import session_settings
from lakekit.spark.session.staging import write_counted
from lakekit.spark.session.tuning import broadcast_if_small, estimated_bytes, observed
from lakekit.spark.skip.digests import lists_of, look_up, number_of_lists, without_line
from lakekit.sql.line_hash import DIGEST
from lakekit.sql.scopes import scope_text
from lakekit.table_properties import line_digests

# Bytes of narrow current versions, by Spark's estimate, for which it pays to look up lines. Below,
# it costs more than to parse them; above, their digests are too many for every worker.
LARGE = range(8 << 20, 1 << 30)
# How many lines are looked up first, and what share of them must be unchanged to look up all.
SAMPLE = 200
ENOUGH = 0.5
# Bytes of files that a task reads, and of what it shuffles for a list, about.
TASK = 128 << 20
LIST_ROW = 48
# Where all lines of the sample are unchanged, so many of all may not be, in one case of twenty.
MARGIN = 3 / SAMPLE
# Days after which the digests of a source that writes other bytes each time are tried again.
RENEW_AFTER = 30
# Bytes of a version by Spark's estimates, with half a digest and whether it is current.
_HALF = 8.5


@dataclass(frozen=True)
class Inputs:
    """Records and the versions that they are compared with; see `compare.select_current`.

    observed: what is counted of all current versions as they are read, where lines were skipped;
    see `leave_out_shown`. counted: their counters instead, where nothing is left. lines: how many
    were skipped. checks: the second halves of their digests combined. left: how many lines and
    versions are left. renews: whether the digests of all lines are to be written. all_rows: whether
    unchanged records are wanted.
    """

    records: DataFrame
    current: DataFrame
    observed: Observation | None = None
    counted: Counts | None = None
    lines: int = 0
    checks: int = 0
    left: int = 0
    renews: bool = False
    all_rows: bool = False

    @property
    def skipped(self) -> bool:
        """Whether unchanged lines and their versions were left out."""
        return self.observed is not None or self.counted is not None

    def is_wrong(self, n: Counts, extracted: datetime) -> bool:
        """Whether a skipped line may change something, by what was counted."""
        if not self.skipped:
            return False
        # A version that is newer than the extract is not what its line shows.
        ahead = n.shown_newest is not None and n.shown_newest > str(naive_utc(extracted))
        return ahead or n.shown != self.lines or n.shown_checks != self.checks


@dataclass(frozen=True)
class _Listed:
    """The digests of all current versions in lists; see `digests.lists_of`.

    digests: how many they hold. share: of a sample of lines, how many are unchanged. counts: of all
    versions `current_counts`, and of those with a digest `shown_counts`.
    """

    lists: DataFrame
    number: int
    digests: int
    share: float
    counts: Counts


def read_all(run: MergeRun, current: DataFrame) -> Inputs:
    """Read all records of a run, to compare them with all versions."""
    return Inputs(read_records(run), current.drop(*LINE_COLUMNS), all_rows=not run.full)


def read_changed(run: MergeRun, current: DataFrame) -> Inputs:
    """Read a run; of a large full extract only the lines that have changed.

    Lines are skipped if most are unchanged. Where the table has digests of another fingerprint, or
    of other bytes, all lines are parsed and their digests written; not soon again, if that did not
    help.

    Args:
        run: The run, with the state of its table.
        current: The versions to compare with, and the lines that they show.
    """
    if not _may_skip(run, current):
        return read_all(run, current)
    digests = line_digests(run.state.properties)
    if digests.fingerprint != run.fingerprint:
        return replace(read_all(run, current), renews=True, all_rows=True)
    sample = _sample(run)
    if not sample:
        return read_all(run, current)
    listed = _list_digests(run, current, sample)
    if listed.share < ENOUGH:
        last = digests.renewed_at
        renews = not last or (naive_utc(run.batch.extraction_time) - last).days >= RENEW_AFTER
        return replace(read_all(run, current), renews=renews, all_rows=renews)
    return _skip(run, current, listed) or replace(read_all(run, current), all_rows=True)


def _may_skip(run: MergeRun, current: DataFrame) -> bool:
    """Whether lines of a run can be looked up, and whether that pays."""
    if not run.full or run.is_small or run.state.behind or not run.batch.files:
        return False
    return estimated_bytes(current.drop(*LINE_COLUMNS)) in LARGE


def _skip(run: MergeRun, current: DataFrame, listed: _Listed) -> Inputs | None:
    """Leave out unchanged lines; None if one came twice, as it may have been superseded."""
    is_listed = F.col("__list").isNotNull()
    with session_settings(run.spark, _settings(run, listed)):
        looked_up, counts = write_counted(
            parse_lines(look_up(read_lines(run), listed.lists, listed.number), run.contract),
            f"{run.staging}/looked_up",
            F.sum(F.when(is_listed, F.col("__times"))).alias("lines"),
            F.sum(F.bit_count("__shown")).alias("shown"),
            F.bit_xor("__checks").alias("checks"),
            F.count_if(~is_listed).alias("left"),
        )
    n = {name: count or 0 for name, count in counts.items()}
    if n["lines"] > n["shown"]:
        return None
    records = looked_up.where(~is_listed).drop("__list", "__shown", "__times", "__checks")
    not_shown = listed.digests - n["shown"]
    left = n["left"] + not_shown + listed.counts.current - listed.counts.shown
    inputs = Inputs(records, current, lines=n["lines"], checks=n["checks"], left=left)
    if not left:
        return replace(inputs, counted=listed.counts)
    keys = broadcast_if_small(records.select(*run.keys).distinct(), n["left"])
    missing = broadcast_if_small(without_line(listed.lists, looked_up), not_shown)
    versions, seen = leave_out_shown(run, current, missing, keys)
    return replace(inputs, current=versions, observed=seen)


def _settings(run: MergeRun, listed: _Listed) -> dict[str, str]:
    """Return the settings with which lines are looked up."""
    size = run.batch.bytes
    if size is None:
        return {}
    tasks = max(len(run.batch.files), size // TASK)
    changed = max(0, 1 - listed.share) + MARGIN
    return run.settings_for(size=listed.number * tasks * LIST_ROW + int(size * changed))


def _sample(run: MergeRun) -> list[int]:
    """Return digests, their first halves, of some lines of one file."""
    files = run.batch.files
    middle = run.batch.model_copy(update={"files": (files[len(files) // 2],)})
    lines = read_lines(replace(run, batch=middle)).select(DIGEST[0]).limit(SAMPLE)
    return [row[0] for row in lines.collect()]


def _list_digests(run: MergeRun, current: DataFrame, sample: Sequence[int]) -> _Listed:
    """Write the digests of all current versions into lists."""
    seen, (first, check) = Observation(), DIGEST
    number = number_of_lists(estimated_rows(current))
    versions = current.observe(
        seen,
        *current_counts(),
        *shown_counts(run, F.col(check).isNotNull()),
        F.count_if(F.col(first).isin([*sample])).alias("found"),
    )
    lists, counted = write_counted(
        lists_of(versions.select(first), number),
        f"{run.staging}/lists",
        F.sum(F.size("__values")).alias("digests"),
    )
    counts = observed(seen)
    share = counts["found"] / len(sample)
    return _Listed(lists, number, counted["digests"] or 0, share, Counts.of(counts))


def leave_out_shown(
    run: MergeRun, current: DataFrame, missing: DataFrame, keys: DataFrame
) -> tuple[DataFrame, Observation]:
    """Leave out the versions that a skipped line shows, unless a record of their key is left.

    Args:
        run: The run.
        current: All versions, and the lines that they show.
        missing: First halves of digests that no line has.
        keys: Those of the records that are left.

    Returns:
        What is left, and the observation of all: `current_counts`, and `shown_counts` of those that
        skipped lines show.
    """
    seen, (first, check) = Observation(), DIGEST
    versions = current.join(missing.withColumn("__missing", F.lit(True)), first, "left")
    versions = versions.join(keys.withColumn("__met", F.lit(True)), list(run.contract.keys), "left")
    shown = F.col(check).isNotNull() & F.col("__missing").isNull()
    versions = versions.observe(seen, *current_counts(), *shown_counts(run, shown))
    left = versions.where(~shown | F.col("__met"))
    return left.drop(*LINE_COLUMNS, "__missing", "__met"), seen


def shown_counts(run: MergeRun, shown: Expression) -> list[Expression]:
    """Return what is counted of some versions that show lines.

    How many they are (`shown`), the second halves of their digests combined (`shown_checks`), their
    scopes (`shown_scopes`) and the newest event time (`shown_newest`).
    """
    names = run.contract.history.delete_scope
    scopes = F.collect_set(F.when(shown, F.expr(scope_text(names)))) if names else F.array()
    return [
        F.count_if(shown).alias("shown"),
        F.bit_xor(F.when(shown, F.col(DIGEST[1]))).alias("shown_checks"),
        F.to_json(scopes.cast("array<string>")).alias("shown_scopes"),
        # If it were compared here, the run's time would be compiled, and no later run would find
        # the compiled code again.
        F.max(F.when(shown, F.col(LINE_COLUMNS[-1]))).cast("string").alias("shown_newest"),
    ]


def estimated_rows(current: DataFrame) -> int:
    """Return how many current versions Spark takes a frame to have, with those deleted since."""
    return int(estimated_bytes(current.select(DIGEST[0])) / _HALF)
