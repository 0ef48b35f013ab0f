"""What the companion must keep of a run. Frames in and out; no actions.

What a run tells the companion, in the columns of facts. Frames in and out; no actions.
"""

from collections.abc import Sequence

from pyspark.sql import Column as Expression
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from lakekit.spark.diff import order
from lakekit.spark.diff.metrics import scopes_of
from lakekit.spark.journal import Facts
from lakekit.spark.late.changes import Settled
from lakekit.spark.late.events import PRESENCE
from lakekit.spark.plan.stage import Staged
from lakekit.spark.read.parse import read_batch, sequence_of, with_facts
from lakekit.spark.run import Merge
from lakekit.spark.schema.conform import dropped_names
from lakekit.spark.session.tuning import kept_apart, sent
from lakekit.sql.identifiers import quote
from lakekit.sql.tables import ARRIVED


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
        frames.append(of_rows(merge, rows))
        if settled and settled.facts is not None:
            presences = settled.facts.where(F.col("__priority") == PRESENCE)
            frames.append(of_settled(merge, presences))
        if n["replaced"]:
            overwritten = of_versions(merge, _overwritten(merge, seen.rows, n["replaced"]))
            frames.append(overwritten.where("_op = 'P'"))
    else:
        if settled and settled.facts is not None and settled.keys is not None:
            rows = rows.join(settled.keys, list(contract.keys), "left_anti")
            frames.append(of_settled(merge, settled.facts))
        if n["assert"] + n["overwrite"] + n["delete"] + n["tombstone"] + n["merged"]:
            frames.append(of_rows(merge, rows.where(_unseen() if facts.exact else "__gone")))
        if n["replaced"] and facts.exact:
            frames.append(of_versions(merge, _overwritten(merge, rows, n["replaced"])))
    if merge.full and history.deletes != "ignore":
        frames += _told_by_extract(merge, seen, facts)
    return tuple(frames)


def _told_by_extract(merge: Merge, seen: Staged, facts: Facts) -> list[DataFrame]:
    """Return what a full extract tells of its keys, those that it lacks among them."""
    history, n = merge.contract.history, seen.counts
    frames = [full_extract(merge, scopes_of(n))]
    if facts.exact and n["rejected"] + n["ties"] + n["ahead"]:
        frames.append(witnesses(merge, _without_record(merge, seen)))
    if n["absences"] and history.delete_scope and history.mode == "scd1":
        absent = seen.rows.where("__aside IS NULL AND __absent AND __act = 'delete'")
        frames.append(of_absent(merge, _current_of(merge, absent, n["absences"])))
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


def of_rows(merge: Merge, rows: DataFrame) -> DataFrame:
    """Return staged rows as facts."""
    op = F.when(F.col("__gone"), "D").otherwise("U")
    now = kept_apart(merge.moment, F.col("__gone"))
    return _facts(merge, rows.withColumn("__said", F.lit(True)), now, moment="__moment", op=op)


def of_settled(merge: Merge, rows: DataFrame) -> DataFrame:
    """Return the facts of settled keys that no version shows, those of this run among them."""
    present = F.when(F.col("__priority") == PRESENCE, "P").otherwise("U")
    op = F.when(F.col("__gone"), "D").otherwise(present)
    kept = dropped_names(rows, merge.contract)
    return _facts(merge, rows, F.col("__ingested"), kept, moment="__moment", op=op)


def of_versions(merge: Merge, versions: DataFrame) -> DataFrame:
    """Return versions that are written anew as the facts that opened them.

    One that began after its record was brought back by a full extract. They keep what they hold in
    columns that the contract has dropped: these can come back.
    """
    brought = sequence_of(merge.contract) < F.col("_valid_from")
    op = F.when(brought, "P").otherwise("U")
    kept = dropped_names(versions, merge.contract)
    return _facts(merge, versions, F.col("_ingested_at"), kept, moment="_valid_from", op=op)


def of_absent(merge: Merge, versions: DataFrame) -> DataFrame:
    """Return the versions of keys that a full extract of their scope lacks, as deletions.

    Of a table that keeps no version of a key that is gone they say until when it was known:
    of another scope no extract has told what came later.
    """
    aside = merge.contract.history.sets_late_aside
    at = merge.moment if aside else F.col("_valid_from")
    gone = versions.withColumn("__moment", at)
    return _facts(merge, gone, F.col("_ingested_at"), moment="__moment", op=F.lit("D"))


def _facts(
    merge: Merge,
    rows: DataFrame,
    time: Expression,
    more: Sequence[str] = (),
    *,
    moment: str,
    op: Expression,
) -> DataFrame:
    return rows.select(
        *[F.col(quote(name)) for name in (*(c.name for c in merge.contract.stored), *more)],
        "_source_file",
        "_row_hash",
        F.col(moment).alias("_sequence"),
        op.alias("_op"),
        (F.col("__partial") if "__partial" in rows.columns else F.lit(False)).alias("_partial"),
        F.lit(None).cast("array<string>").alias("_scopes"),
        time.alias("_ingested_at"),
        _or_null(rows, "__said", "boolean"),
        _or_null(rows, ARRIVED, "bigint"),
    )


def _or_null(rows: DataFrame, name: str, kind: str) -> Expression:
    return F.col(name) if name in rows.columns else F.lit(None).cast(kind).alias(name)


def witnesses(merge: Merge, keys: DataFrame) -> DataFrame:
    """Return the facts that a full extract held some keys, though no record of them counts."""
    return _without_content(merge, keys, "W", F.lit(None).cast("array<string>"))


def full_extract(merge: Merge, scopes: Sequence[str]) -> DataFrame:
    """Return the fact that a full extract was merged."""
    known = F.array(*map(F.lit, scopes)).cast("array<string>")
    if not merge.contract.history.delete_scope:
        known = F.lit(None).cast("array<string>")
    # Of a list of values nothing is compiled; its column has a name that no contract's has.
    one = merge.spark.sql("VALUES (1) AS t(__one)")
    return _without_content(merge, one, "X", known)


def _without_content(merge: Merge, rows: DataFrame, op: str, scopes: Expression) -> DataFrame:
    """Return facts of the run's time; of the stored columns they have those of the rows."""
    moment, have = merge.moment, set(rows.columns)
    columns = [
        F.col(quote(c.name)) if c.name in have else F.lit(None).cast(c.type).alias(c.name)
        for c in merge.contract.stored
    ]
    return rows.select(
        *columns,
        F.lit(None).cast("string").alias("_source_file"),
        F.lit(None).cast("bigint").alias("_row_hash"),
        moment.alias("_sequence"),
        F.lit(op).alias("_op"),
        F.lit(False).alias("_partial"),
        scopes.alias("_scopes"),
        moment.alias("_ingested_at"),
        F.lit(False).alias("__said"),
        F.lit(None).cast("bigint").alias(ARRIVED),
    )
