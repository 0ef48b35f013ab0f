"""Which row of each moment counts. Frames in and out; no actions.

Partial records: a null says nothing of its column. Frames in and out; no actions.

The rows of each key in order, and what each does. Frames in and out; no actions.

A change set has a row for each record (or absence) that may change something, with what it does:

* open: it holds the content of a new version, valid from `__start` until `__until`
* overwrite: it renews the untracked columns of the version that it falls into
* assert: it says what is known already
* delete: the key is gone from `__moment` on
* tombstone: the key is gone, and was before
"""

from collections.abc import Sequence

from pyspark.sql import Column as Expression
from pyspark.sql import DataFrame, Window, WindowSpec
from pyspark.sql import functions as F

from lakekit.contract.contract import Contract
from lakekit.spark.backfill import with_fills
from lakekit.spark.diff.state import Sight
from lakekit.spark.read.lines import POSITION
from lakekit.spark.read.parse import tie
from lakekit.sql.identifiers import quote
from lakekit.sql.line_hash import DIGEST
from lakekit.sql.row_hash import row_hash, state_hash


def with_place(rows: DataFrame, contract: Contract) -> DataFrame:
    """Rank the rows of one key and moment; `__place` 1 counts. In scd1 those of one key.

    Even there each moment counts of partial records, and where late ones are set aside.

    `__equal` says that a row holds what the winner holds; `__tied` that rows of one moment differ.
    `__said_at` stays that moment, to whichever a row is moved.
    """
    keys = [quote(key) for key in contract.keys]
    moment = Window.partitionBy(*keys, "__moment")
    history = contract.history
    # Of the newest record it shows only afterwards that it comes late.
    each = history.ignore_null_updates or history.sets_late_aside
    latest = history.mode == "scd1" and not each
    group = Window.partitionBy(*keys) if latest else moment
    best = group.orderBy(
        # What is set aside does not stand before an older record.
        *([F.col("__tied").asc()] if history.tie_break == "quarantine" else []),
        F.col("__moment").desc(),
        F.col("__absent").asc(),
        F.col("__tie").desc(),
        F.col("__position").desc(),
    )
    tied = F.min("__content").over(moment) != F.max("__content").over(moment)
    rows = rows.withColumn("__content", content_hash()).withColumn("__tied", tied)
    return rows.withColumns(
        {
            "__place": F.row_number().over(best),
            "__equal": F.col("__content") == F.first("__content").over(best),
            "__said_at": F.col("__moment"),
        }
    )


def with_place_beside_aside(rows: DataFrame, contract: Contract) -> DataFrame:
    """Let a row in time take the place of one that is set aside (`__aside`), of those of a moment.

    Beside it a deletion, or a move into another scope, can come late. The moment is the one that
    the records say, `__said_at`, though a row may have been moved since.
    """
    if not contract.history.sets_late_aside:
        return rows
    moment = Window.partitionBy(*map(quote, contract.keys), "__said_at")
    best = moment.orderBy(F.col("__aside").isNotNull(), "__place")
    leads_aside = F.max((F.col("__place") == 1) & F.col("__aside").isNotNull()).over(moment)
    equal = F.col("__content") == F.first("__content").over(best)
    first = leads_aside & F.col("__aside").isNull() & (F.row_number().over(best) == 1)
    return rows.withColumns(
        {
            "__place": F.when(first, 1).otherwise(F.col("__place")),
            "__equal": F.when(leads_aside, equal).otherwise(F.col("__equal")),
        }
    )


def content_hash() -> Expression:
    """Return what tells two rows of one key and moment apart; all deletions are alike."""
    held = [F.when(~F.col("__gone"), F.col(name)) for name in ("_row_hash", "__rest")]
    return F.xxhash64(*held, "__gone", "__moment")


def with_filled(rows: DataFrame, contract: Contract) -> DataFrame:
    """Fill the nulls of partial records from what is known before them, within one life of a key.

    A life begins with a deletion or a complete record. Keeps the record as it came in `__record`.

    Args:
        rows: With `__partial` (nulls mean "as before") and `__base_row` beside the base. Those
            that are set aside (`__aside`) stand by themselves.
        contract: Its columns.
    """
    keys = [*(F.col(quote(key)) for key in contract.keys), F.col("__aside").isNotNull()]
    order = Window.partitionBy(*keys).orderBy("__moment")
    until_here = order.rowsBetween(Window.unboundedPreceding, Window.currentRow)
    begins = (F.col("__gone") | ~F.col("__partial")).cast("int")
    within = Window.partitionBy(*keys, "__life").orderBy("__moment")
    so_far = within.rowsBetween(Window.unboundedPreceding, Window.currentRow)
    names = contract.content
    held = [F.when(~F.col("__gone"), F.col(quote(name))) for name in names]
    filled = {
        name: F.coalesce(
            F.last(value, ignorenulls=True).over(so_far),
            F.when(F.col("__life") == 0, F.col(f"__base_row.{quote(name)}")),
        )
        for name, value in zip(names, held, strict=True)
    }
    record = F.struct(*[F.col(quote(name)) for name in names])
    framed = rows.withColumn("__record", record)
    framed = framed.withColumn("__life", F.sum(begins).over(until_here)).withColumns(filled)
    return framed.withColumns(
        {
            "_row_hash": F.expr(row_hash(contract.tracked)),
            "__rest": F.expr(row_hash(contract.untracked)),
        }
    ).withColumn("__digest", F.expr(state_hash(contract)))


STAGED = {
    **dict.fromkeys(DIGEST, "bigint"), "_source_file": "string",
    **dict.fromkeys(("_row_hash", "__rest", "__digest"), "bigint"),
    "__tie": "struct<none: int>", "__position": POSITION,
    "__moment": "timestamp_ntz", "__gone": "boolean", "__kind": "string", "__absent": "boolean",
    "__late": "boolean", "__aside": "string", "__since": "timestamp_ntz",
    "__newest": "timestamp_ntz", "__base_hash": "bigint", "__act": "string", "__first": "boolean",
    "__start": "timestamp_ntz", "__until": "timestamp_ntz", "__close_at": "timestamp_ntz",
    "__replaced": "boolean", "__alive": "boolean", "__scope": "string",
}  # fmt: skip
# Which resolved rows tell that the version before them ends, one of each key.
CLOSES = "__first AND __close_at IS NOT NULL AND __since IS NOT NULL"
_WHOLE = (Window.unboundedPreceding, Window.unboundedFollowing)


def first_of(rows: DataFrame, keys: Sequence[str], *order: Expression) -> DataFrame:
    """Keep the first row of each key in an order."""
    window = Window.partitionBy(*map(quote, keys)).orderBy(*order)
    return rows.withColumn("__nth", F.row_number().over(window)).where("__nth = 1").drop("__nth")


def resolve(rows: DataFrame, contract: Contract, sight: Sight) -> DataFrame:
    """Put the rows of each key in order and say what each does (`__act`).

    Args:
        rows: One row per key and moment with the hashes, `__gone` and the base of its key.
        contract: Its keys and options.
        sight: What is known of the table.

    Returns:
        The rows with `__act`, `__start`, `__until`, and per key `__close_at` (when the current
        version ends), `__replaced` (it is written anew), `__alive` (there is a current version
        at the end) and `__first` (true for one row of the key).
    """
    # Rows that are set aside stand by themselves. As a column, so that one sort serves all windows.
    rows = rows.withColumn("__apart", F.col("__aside").isNotNull())
    keys = [quote(key) for key in contract.keys]
    order = Window.partitionBy(*keys, "__apart").orderBy("__moment")
    so_far = order.rowsBetween(Window.unboundedPreceding, Window.currentRow)
    ahead = order.rowsBetween(1, Window.unboundedFollowing)
    whole = order.rowsBetween(*_WHOLE)
    first = F.row_number().over(order) == 1
    before = F.when(first, F.col("__base_hash")).otherwise(F.lag("__state").over(order))
    known = "__state = __before"
    if "__split" in rows.columns:
        known += " AND NOT coalesce(__split, false)"
    if "__dropped" in rows.columns:
        # Of two versions that were told apart by a column since dropped, each stays.
        earlier = order.rowsBetween(Window.unboundedPreceding, -1)
        held = F.last("__dropped", ignorenulls=True).over(earlier)
        rows = rows.withColumn("__other", F.coalesce(F.col("__dropped") != held, F.lit(False)))
        known += " AND NOT __other"
    if sight.later:
        rows = with_fills(rows, contract, sight.later, so_far)
        known += " OR __fills"
    # As a text each takes one call of Java.
    state = F.expr("if(NOT __gone, __digest, NULL)")
    changes = f"if(__gone, __before IS NOT NULL, __before IS NULL OR NOT ({known}))"
    turn = F.expr("if(__changes, __moment, NULL)")
    framed = (
        rows.withColumn("__state", state)
        .withColumns({"__before": before, "__first": first})
        .withColumn("__changes", F.expr(changes))
        .withColumns(
            {
                "__group": F.sum(F.col("__changes").cast("int")).over(so_far),
                "__start": F.coalesce(F.max(turn).over(so_far), F.col("__since")),
                "__until": F.min(turn).over(ahead),
                "__close_at": F.min(turn).over(whole),
                "__last": F.coalesce(F.lead("__changes").over(order), F.lit(True)),
                "__alive": F.last("__state").over(whole).isNotNull(),
            }
        )
    )
    return _with_act(framed, contract, whole)


def hidden() -> Expression:
    """Return which resolved rows show in no version of their own."""
    merged = (F.col("__act") == "open") & (F.col("__moment") != F.col("__start"))
    return F.col("__act").isin("assert", "overwrite") | merged


def _with_act(framed: DataFrame, contract: Contract, whole: WindowSpec) -> DataFrame:
    shows, renews = "__changes", "__digest != __base_hash"
    if contract.overwrites:
        shows = "__last"
        renews += " OR __rest != __base_rest"
    act = f"""CASE
        WHEN __gone AND __changes THEN 'delete'
        WHEN __gone THEN 'tombstone'
        WHEN __group > 0 AND {shows} THEN 'open'
        WHEN __group = 0 AND __base_hash IS NOT NULL AND __last AND ({renews}) THEN 'overwrite'
        ELSE 'assert'
    END"""
    renewed = F.max(F.expr("__act = 'overwrite'")).over(whole)
    return framed.withColumn("__act", F.expr(act)).withColumn("__replaced", renewed)


def packed(rows: DataFrame, contract: Contract) -> DataFrame:
    """Move the stored columns that no step looks at into `__stored`: less to plan and to compile.

    Filling partial records looks at all of them.
    """
    if contract.history.ignore_null_updates or not contract.content:
        return rows
    stored = f"struct({', '.join(map(quote, contract.content))}) AS __stored"
    return rows.selectExpr(*[quote(n) for n in rows.columns if n not in contract.content], stored)


def no_rows(versions: DataFrame, contract: Contract) -> DataFrame:
    """Return a staged change set of no rows; `versions` are those of the table."""
    none = {name: F.lit(None).cast(type_) for name, type_ in STAGED.items()}
    rows = versions.where("false").select(*[quote(c.name) for c in contract.stored])
    return rows.withColumns({**none, "__tie": F.expr(tie(contract))})


def select_staged(resolved: DataFrame, contract: Contract) -> DataFrame:
    """Fix the schema of a staged change set."""
    names = [c.name for c in contract.stored]
    if "__stored" in resolved.columns:
        resolved = resolved.selectExpr("*", "__stored.*")
    partial = ["__record", "__partial"] if contract.history.ignore_null_updates else []
    return resolved.selectExpr(*map(quote, names), *STAGED, *partial)
