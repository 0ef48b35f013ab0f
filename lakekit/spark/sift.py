"""Lines of a large full extract that are known by their bytes: told before they are parsed.

Nearly every line of a full extract is byte for byte the one that its key's current version shows.
To read and digest a line takes a fifth of the time that its parsing does. Workers get 64 bits of
each current version's digest; of a line whose own are among them only the digest is shuffled. The
join by the whole digest says which lines are known, which versions no line shows, and which lines
are not known: those are staged, parsed and merged like those of a small extract.
"""

from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Literal

from pyspark.sql import DataFrame, Observation
from pyspark.sql import functions as F

from lakekit.batch import naive_utc
from lakekit.spark import known
from lakekit.spark.context import Merge, sent
from lakekit.spark.lines import landed
from lakekit.spark.order import Sight
from lakekit.spark.records import parsed, sequence
from lakekit.spark.scopes import scope_text
from lakekit.spark.staging import write_counted
from lakekit.sql.identifiers import quote
from lakekit.sql.line_hash import DIGEST, LINES, RENEWED
from lakekit.sql.tables import marks

# How many lines are looked up before, and what share of them must be known for all to be.
SAMPLE = 200
ENOUGH = 0.5
# Days after which it is tried again to know the lines of a source that writes other bytes.
RENEW_AFTER = 30
Way = Literal["parse", "renew", "sift"]


@dataclass(frozen=True)
class Sides:
    """Records and the versions beside which they are merged; see `join.select_base`.

    sifted: counts of an extract from which known lines and their versions were left out: of lines
    that are `known`, all current versions (`based`), those of them that are
    `based_alive`, and the `scopes` of the known lines. Empty if nothing was left out.
    """

    records: DataFrame
    base: DataFrame
    sifted: dict[str, Any] = field(default_factory=dict)


def way_to_read(merge: Merge, sight: Sight, base: DataFrame) -> Way:
    """Choose how a full extract is read.

    Returns:
        sift: most lines are known. renew: they could be, but the table has digests of another
        reading, or of other bytes; all are parsed, and the digests of today are written down.
        parse: all are, as a renewal was tried not long ago.
    """
    if sight.behind or not merge.batch.files or not known.is_worthwhile(base, merge.contract):
        return "parse"
    if merge.properties.get(LINES) != merge.reading:
        return "renew"
    if _knows(merge):
        return "sift"
    last = merge.properties.get(RENEWED)
    return "parse" if last and _days_since(last, merge) < RENEW_AFTER else "renew"


def sift(merge: Merge, base: DataFrame) -> Sides | None:
    """Leave out the lines that are known and the versions that they show; None if it cannot be.

    Args:
        merge: A full extract.
        base: The current versions; see `join.select_base`.
    """
    rest, counts = _apart(merge)
    ahead = counts["newest"] and counts["newest"] > str(naive_utc(merge.batch.extraction_time))
    # Found without cause, they have lost their content; what lies ahead of an extract says more.
    if counts["unlike"] or ahead:
        return None
    records = rest.where("NOT __version").drop("__version", *_keys_shown(merge))
    keys = rest.where("__version").select(*_keys_shown(merge)).union(records.select(*merge.keys))
    keys = sent(keys.toDF(*merge.contract.keys).distinct(), counts["rest"])
    return Sides(records, base.join(keys, list(merge.contract.keys), "left_semi"), counts)


def _days_since(moment: str, merge: Merge) -> int:
    return (naive_utc(merge.batch.extraction_time) - datetime.fromisoformat(moment)).days


def _narrow(merge: Merge) -> DataFrame:
    """Return of the current versions what tells that a line is known, and what to count then."""
    contract = merge.contract
    names, sequence_by = contract.history.delete_scope, contract.history.sequence_by
    newest = "_valid_from"
    if sequence_by is not None:
        newest = f"greatest(_valid_from, {sequence(contract.column(sequence_by))})"
    return merge.current().selectExpr(
        *[f"{quote(key)} AS {name}" for name, key in _keys_shown(merge).items()],
        *map(quote, names),
        # Those without a digest match nothing, and must not all come to one worker.
        f"coalesce({DIGEST[0]}, xxhash64({', '.join(map(quote, contract.keys))})) AS _{DIGEST[0]}",
        f"{DIGEST[1]} AS _{DIGEST[1]}",
        f"{newest} AS __newest",
        f"{'NOT _is_deleted' if marks(contract) else 'true'} AS __alive",
    )


def _knows(merge: Merge) -> bool:
    """Whether the current versions show enough of some lines of one file."""
    files = merge.batch.files
    middle = merge.batch.model_copy(update={"files": (files[len(files) // 2],)})
    lines = landed(replace(merge, batch=middle)).select(DIGEST[0]).limit(SAMPLE)
    some = [row[0] for row in lines.collect()]
    found = merge.current().where(F.col(DIGEST[0]).isin(some)).count()
    return found >= ENOUGH * len(some)


def _apart(merge: Merge) -> tuple[DataFrame, dict[str, Any]]:
    """Write down the lines and the versions without the other, and count those that have it."""
    all_based, joined = Observation(), Observation()
    base, lines = _narrow(merge), landed(merge)
    digests = base.where(f"_{DIGEST[1]} IS NOT NULL").select(f"_{DIGEST[0]}")
    lines_have, content = lines.columns, F.struct(*lines.columns)
    lines = known.looked_up(lines, F.col(DIGEST[0]), digests)
    alive = F.count_if("__alive").alias("based_alive")
    base = base.observe(all_based, F.count(F.lit(1)).alias("based"), alive)
    lines = lines.select(*DIGEST, F.when(~F.col("__found"), content).alias("__line"))
    match = F.lit(True)
    for name in DIGEST:
        match = match & (F.col(name) == F.col(f"_{name}"))
    # Building on the narrow side spares the sort of whole lines.
    both = lines.join(base.hint("shuffle_hash"), match, "full_outer")
    here, shows = F.col(DIGEST[0]).isNotNull(), F.col("__alive").isNotNull()
    scope = F.expr(scope_text(merge.contract.history.delete_scope))
    both = both.observe(
        joined,
        F.count(F.when(here & shows, 1)).alias("known"),
        F.count(F.when(here & ~shows & F.col("__line").isNull(), 1)).alias("unlike"),
        # Compared here, the run's time would be compiled, and no later run find that again.
        F.max(F.when(here, F.col("__newest"))).cast("string").alias("newest"),
        F.to_json(F.collect_set(F.when(here & shows, scope))).alias("scopes"),
    )
    rest = both.where(~(here & shows)).select(
        shows.alias("__version"), *_keys_shown(merge), *[f"__line.{name}" for name in lines_have]
    )
    rest = parsed(rest, merge.contract)
    rest, counts = write_counted(rest, f"{merge.place}/sifted", F.count(F.lit(1)).alias("rest"))
    return rest, counts | all_based.get | joined.get


def _keys_shown(merge: Merge) -> dict[str, str]:
    """Return the names of the keys of versions beside those of records, and the keys."""
    return {f"__shown_{number}": key for number, key in enumerate(merge.contract.keys)}
