"""Lines of a large full extract that are known by their bytes: told before they are parsed.

Nearly every line of a full extract is byte for byte the one that its key's current version shows.
To read and digest a line takes a fifth of the time that its parsing does. Workers get 64 bits of
each current version's digest; of a line whose own are among them only the digest is shuffled. The
join by the whole digest says which lines are known, which versions no line shows, and which lines
are not known: those are staged, parsed and merged like those of a small extract.
"""

from dataclasses import dataclass, replace
from typing import Any, Literal

from pyspark.sql import DataFrame, Observation
from pyspark.sql import functions as F

from lakekit.batch import naive_utc
from lakekit.spark import join, known
from lakekit.spark.context import Merge, sent
from lakekit.spark.lines import landed
from lakekit.spark.order import Sight
from lakekit.spark.records import parsed, sequence
from lakekit.spark.scopes import scope_text
from lakekit.spark.staging import write_counted
from lakekit.sql.identifiers import quote
from lakekit.sql.line_hash import DIGEST, LINES

# How many lines are looked up before, and what share of them must be known for all to be.
SAMPLE = 200
ENOUGH = 0.5
Way = Literal["parse", "renew", "sift"]


@dataclass(frozen=True)
class Sifted:
    """What is left of a full extract.

    records: the lines that are not known, parsed. base: the versions that no line shows, and
    those of the keys of these records; see `join.select_base`. counts: how many lines are `known`,
    how many current versions there are (`based`), those of them that are `based_alive`, and the
    `scopes` of the known lines.
    """

    records: DataFrame
    base: DataFrame
    counts: dict[str, Any]


def way_to_read(merge: Merge, sight: Sight) -> Way:
    """Choose how a full extract is read.

    Returns:
        sift: most lines are known. renew: lines could tell, but the table has their digests by
        another reading; all are parsed, and those of today are written down. parse: all are.
    """
    if sight.behind or not _tells(merge) or not known.is_worthwhile(_base(merge), merge.contract):
        return "parse"
    if merge.properties.get(LINES) != merge.reading:
        return "renew"
    return "sift" if _knows(merge) else "parse"


def sift(merge: Merge, *, filling: bool) -> Sifted | None:
    """Leave out the lines that are known; None if they may not be.

    Args:
        merge: A full extract.
        filling: Whether columns of the table are still to be filled.
    """
    base = _base(merge, filling=filling)
    rest, counts = _apart(merge, base)
    # Found without cause, they have lost their content; what lies ahead of an extract says more.
    ahead = counts["newest"] and counts["newest"] > str(naive_utc(merge.batch.extraction_time))
    if counts["unlike"] or ahead:
        return None
    base = base.drop(*DIGEST, "__shown")
    records = parsed(rest.where("__line IS NOT NULL").select("__line.*"), merge.contract)
    unseen = rest.where("__line IS NULL").select(*map(quote, base.columns))
    base = _with_others(merge, records, unseen, base, counts["unknown"])
    return Sifted(records, base, counts)


def _tells(merge: Merge) -> bool:
    """Whether a line alone can tell that it is known."""
    contract, sequence_by = merge.contract, merge.contract.history.sequence_by
    placed = sequence_by is None or sequence_by in {c.name for c in contract.stored}
    return placed and bool(merge.batch.files)


def _base(merge: Merge, *, filling: bool = False) -> DataFrame:
    """Return the narrow current versions with their digests, and the newest moment they show."""
    sequence_by = merge.contract.history.sequence_by
    shown = "_valid_from"
    if sequence_by is not None:
        shown = f"greatest(_valid_from, {sequence(merge.contract.column(sequence_by))})"
    also = [*DIGEST, f"{shown} AS __shown"]
    return join.select_base(merge.current(), merge.contract, filling=filling, also=also)


def _knows(merge: Merge) -> bool:
    """Whether the current versions show enough of some lines of one file."""
    files = merge.batch.files
    middle = merge.batch.model_copy(update={"files": (files[len(files) // 2],)})
    lines = landed(replace(merge, batch=middle)).select(DIGEST[0]).limit(SAMPLE)
    some = [row[0] for row in lines.collect()]
    found = merge.current().where(F.col(DIGEST[0]).isin(some)).count()
    return found >= ENOUGH * len(some)


def _apart(merge: Merge, base: DataFrame) -> tuple[DataFrame, dict[str, Any]]:
    """Write down the lines and the versions without the other, and count those that have it."""
    all_based, joined = Observation(), Observation()
    alive = F.count("__base_hash").alias("based_alive")
    base = base.observe(all_based, F.count(F.lit(1)).alias("based"), alive)
    lines = landed(merge)
    content = F.struct(*lines.columns)
    lines = known.looked_up(lines, F.col(DIGEST[0]), base.select(DIGEST[0]))
    lines = lines.select(
        *DIGEST, F.lit(True).alias("__here"), F.when(~F.col("__found"), content).alias("__line")
    )
    # Building on the narrow side spares the sort of whole lines.
    both = lines.join(base.hint("shuffle_hash"), [*DIGEST], "full_outer").drop(*DIGEST)
    here, shows = F.col("__here").isNotNull(), F.col("__since").isNotNull()
    scope = F.expr(scope_text(merge.contract.history.delete_scope))
    both = both.observe(
        joined,
        F.count(F.when(here & shows, 1)).alias("known"),
        F.count(F.when(here & ~shows & F.col("__line").isNull(), 1)).alias("unlike"),
        # Compared here, the run's time would be compiled, and no later run find that again.
        F.max(F.when(here, F.col("__shown"))).cast("string").alias("newest"),
        F.to_json(F.collect_set(F.when(here & shows, scope))).alias("scopes"),
    )
    rest = both.where(~(here & shows)).drop("__here")
    unknown = F.count("__line").alias("unknown")
    rest, counts = write_counted(rest, f"{merge.place}/sifted", unknown)
    return rest, counts | all_based.get | joined.get


def _with_others(
    merge: Merge, records: DataFrame, unseen: DataFrame, base: DataFrame, unknown: int
) -> DataFrame:
    """Add the versions that a line shows though another line has their key."""
    names = list(merge.contract.keys)
    keys = records.select(*merge.keys).distinct().join(unseen, names, "left_anti")
    return unseen.unionByName(base.join(sent(keys, unknown), names, "left_semi"))
