"""What the companion must keep of a run. Frames in and out; no actions."""

from pyspark.sql import Column as Expression
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from lakekit.spark import order, told
from lakekit.spark.context import Merge, sent
from lakekit.spark.counts import scopes_of
from lakekit.spark.fact import PRESENCE
from lakekit.spark.facts import Facts
from lakekit.spark.records import read_batch, sequence_of, with_facts
from lakekit.spark.settled import Settled
from lakekit.spark.stage import Staged
from lakekit.sql.identifiers import quote


def remembered(
    merge: Merge, seen: Staged, facts: Facts, settled: Settled | None
) -> tuple[DataFrame, ...]:
    """Return what the companion must keep of this run."""
    if not facts.wanted:
        return ()
    contract, history, n = merge.contract, merge.contract.history, seen.counts
    rows = seen.rows.where("__aside IS NULL AND NOT __absent")
    frames = []
    if history.ignore_null_updates:
        # As they came; what fills them is of others, and of a deletion nothing is left.
        partial = {name: F.col(f"__record.{quote(name)}") for name in contract.content}
        rows = rows.withColumns(partial)
    if history.ignore_null_updates and facts.exact:
        frames.append(told.of_rows(merge, rows))
        if settled and settled.facts is not None:
            presences = settled.facts.where(F.col("__priority") == PRESENCE)
            frames.append(told.of_settled(merge, presences))
        if n["replaced"]:
            overwritten = told.of_versions(merge, _overwritten(merge, seen.rows, n["replaced"]))
            frames.append(overwritten.where("_op = 'P'"))
    else:
        if settled and settled.facts is not None and settled.keys is not None:
            rows = rows.join(settled.keys, list(contract.keys), "left_anti")
            frames.append(told.of_settled(merge, settled.facts))
        if n["assert"] + n["overwrite"] + n["delete"] + n["tombstone"] + n["merged"]:
            frames.append(told.of_rows(merge, rows.where(_unseen() if facts.exact else "__gone")))
        if n["replaced"] and facts.exact:
            frames.append(told.of_versions(merge, _overwritten(merge, rows, n["replaced"])))
    if merge.full and history.deletes != "ignore":
        frames += _told_by_extract(merge, seen, facts)
    return tuple(frames)


def _told_by_extract(merge: Merge, seen: Staged, facts: Facts) -> list[DataFrame]:
    """Return what a full extract tells of its keys, those that it lacks among them."""
    history, n = merge.contract.history, seen.counts
    frames = [told.full_extract(merge, scopes_of(n))]
    if facts.exact and n["rejected"] + n["ties"] + n["ahead"]:
        frames.append(told.witnesses(merge, _without_record(merge, seen)))
    if n["absences"] and history.delete_scope and history.mode == "scd1":
        absent = seen.rows.where("__aside IS NULL AND __absent AND __act = 'delete'")
        frames.append(told.of_absent(merge, _current_of(merge, absent, n["absences"])))
    return frames


def _without_record(merge: Merge, seen: Staged) -> DataFrame:
    """Return the keys of a full extract without a record that tells what they were then.

    All are rejected or set aside, or lie ahead of the extract.
    """
    contract, keys, names = merge.contract, merge.keys, list(merge.contract.keys)
    records = (seen.records or read_batch(merge)).dropna(subset=names)
    timely = F.col("__moment") <= merge.moment
    facts = with_facts(records, contract, merge.batch)
    count = F.count_if(F.col("__fault").isNull() & timely)
    good = facts.groupBy(*keys).agg(count.alias("__good"))
    aside = seen.rows.where("__aside IS NOT NULL AND NOT __absent").where(timely)
    set_aside = aside.groupBy(*keys).agg(F.count(F.lit(1)).alias("__set_aside"))
    both = good.join(set_aside, names, "left")
    return both.where("__good = coalesce(__set_aside, 0)").select(*keys)


def _unseen() -> Expression:
    """Return which rows show in no version of their own."""
    hidden = (F.col("__kind") != "same") & order.hidden() & ~_in_place()
    return F.col("__gone") | hidden


def _in_place() -> Expression:
    """Whether a row stands for its version in the place of the record that began it.

    That one is forgotten, as is any that loses its moment to a later extract.
    """
    at_start = F.coalesce(F.col("__moment") == F.col("__since"), F.lit(False))
    return at_start & (F.col("__act") == "overwrite")


def _overwritten(merge: Merge, rows: DataFrame, count: int) -> DataFrame:
    """Return the versions that are written anew and still show the record of their start."""
    renewed = rows.where(F.col("__first") & F.col("__replaced") & ~_in_place())
    renewed = _current_of(merge, renewed, count)
    return renewed.where(sequence_of(merge.contract) <= F.col("_valid_from"))


def _current_of(merge: Merge, rows: DataFrame, count: int) -> DataFrame:
    """Return the current versions of the keys of some rows, of as many as are counted."""
    keys = sent(rows.select(*merge.keys), count)
    return merge.current().join(keys, list(merge.contract.keys), "left_semi")
