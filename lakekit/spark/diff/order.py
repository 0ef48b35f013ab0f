"""The rows of each key in order, and what each does. Frames in and out; no actions.

Rows of one key and event time are ranked; one of them counts. Partial records are filled. A change
set has a row for each record (or absence) that may change something, with its `__action`:

* open: it has the content of a new version, valid from `__valid_from` until `__valid_to`
* overwrite: it renews the untracked columns of the version that it falls into
* assert: it repeats the content of a version
* delete: the key is deleted from `__event_time` on
* tombstone: the key is deleted, and was before
"""

from collections.abc import Sequence

from pyspark.sql import Column as Expression
from pyspark.sql import DataFrame, Window, WindowSpec
from pyspark.sql import functions as F

from lakekit.contract.contract import Contract
from lakekit.spark.backfill import with_backfills
from lakekit.spark.read.lines import POSITION
from lakekit.spark.read.parse import tie
from lakekit.sql.added_columns import AddedColumn
from lakekit.sql.identifiers import quote
from lakekit.sql.line_hash import DIGEST
from lakekit.sql.row_hash import row_hash, state_hash


def with_rank(rows: DataFrame, contract: Contract) -> DataFrame:
    """Rank the rows of one key and event time; `__rank` 1 counts. In scd1 those of one key.

    Even in scd1 each event time counts where late records are rejected. `__equal`: a row has the
    content of the winner. `__recorded_at` stays the event time, to whichever time a row is moved.
    """
    keys = [quote(key) for key in contract.keys]
    # Whether the newest record of a key is late shows only afterwards.
    latest = contract.history.mode == "scd1" and not contract.history.rejects_late
    group = Window.partitionBy(*keys) if latest else Window.partitionBy(*keys, "__event_time")
    best = group.orderBy(
        F.col("__event_time").desc(),
        F.col("__absent").asc(),
        F.col("__tie").desc(),
        F.col("__position").desc(),
    )
    return rows.withColumn("__content", content_hash()).withColumns(
        {
            "__rank": F.row_number().over(best),
            "__equal": F.col("__content") == F.first("__content").over(best),
            "__recorded_at": F.col("__event_time"),
        }
    )


def with_rank_of_accepted(rows: DataFrame, contract: Contract) -> DataFrame:
    """Let an accepted row take the place of a rejected one of its event time.

    A deletion can be late where a record of its time is not. The event time is the recorded one,
    `__recorded_at`, though a row may have been moved since.
    """
    if not contract.history.rejects_late:
        return rows
    at_once = Window.partitionBy(*map(quote, contract.keys), "__recorded_at")
    rejected = F.col("__reject_reason").isNotNull()
    best = at_once.orderBy(rejected, "__rank")
    led_by_rejected = F.max((F.col("__rank") == 1) & rejected).over(at_once)
    equal = F.col("__content") == F.first("__content").over(best)
    first = led_by_rejected & ~rejected & (F.row_number().over(best) == 1)
    return rows.withColumns(
        {
            "__rank": F.when(first, 1).otherwise(F.col("__rank")),
            "__equal": F.when(led_by_rejected, equal).otherwise(F.col("__equal")),
        }
    )


def content_hash() -> Expression:
    """Return what distinguishes two rows of one key and event time; all deletions are alike."""
    content = [F.when(~F.col("__deleted"), F.col(name)) for name in ("_row_hash", "__rest")]
    return F.xxhash64(*content, "__deleted", "__event_time")


def with_filled(rows: DataFrame, contract: Contract) -> DataFrame:
    """Fill the nulls of partial records from what is recorded before them, in one life of a key.

    A life begins with a deletion. The record as it came stays in `__record`.

    Args:
        rows: With `__current_row`. Rejected rows stand by themselves.
        contract: Its columns.
    """
    keys = [*(F.col(quote(key)) for key in contract.keys), F.col("__reject_reason").isNotNull()]
    order = Window.partitionBy(*keys).orderBy("__event_time")
    until_here = order.rowsBetween(Window.unboundedPreceding, Window.currentRow)
    begins = F.col("__deleted").cast("int")
    within = Window.partitionBy(*keys, "__life").orderBy("__event_time")
    so_far = within.rowsBetween(Window.unboundedPreceding, Window.currentRow)
    names = contract.content
    values = [F.when(~F.col("__deleted"), F.col(quote(name))) for name in names]
    filled = {
        name: F.coalesce(
            F.last(value, ignorenulls=True).over(so_far),
            F.when(F.col("__life") == 0, F.col(f"__current_row.{quote(name)}")),
        )
        for name, value in zip(names, values, strict=True)
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
    "__event_time": "timestamp_ntz", "__deleted": "boolean", "__kind": "string",
    "__absent": "boolean", "__late": "boolean", "__reject_reason": "string",
    "__current_from": "timestamp_ntz", "__newest": "timestamp_ntz", "__current_hash": "bigint",
    "__action": "string", "__first": "boolean", "__valid_from": "timestamp_ntz",
    "__valid_to": "timestamp_ntz", "__close_at": "timestamp_ntz", "__rewritten": "boolean",
    "__current_after": "boolean", "__scope": "string",
}  # fmt: skip
# The resolved rows whose current version ends, one for each key.
CLOSES = "__first AND __close_at IS NOT NULL AND __current_from IS NOT NULL"


def first_of(rows: DataFrame, keys: Sequence[str], *order: Expression) -> DataFrame:
    """Keep the first row of each key in an order."""
    window = Window.partitionBy(*map(quote, keys)).orderBy(*order)
    return rows.withColumn("__nth", F.row_number().over(window)).where("__nth = 1").drop("__nth")


def resolve(rows: DataFrame, contract: Contract, added: Sequence[AddedColumn] = ()) -> DataFrame:
    """Put the rows of each key in order and say what each does (`__action`).

    Args:
        rows: One row per key and event time with the hashes, `__deleted` and the current row.
        contract: Its keys and options.
        added: The columns of the table that are still backfilled.

    Returns:
        The rows with `__action`, `__valid_from`, `__valid_to`, and per key `__close_at` (when the
        current version ends), `__rewritten` (it is written again), `__current_after` (there is a
        current version at the end) and `__first` (true for one row of the key).
    """
    # Rejected rows stand by themselves. As a column, so that one sort serves all windows.
    rows = rows.withColumn("__rejected", F.col("__reject_reason").isNotNull())
    keys = [quote(key) for key in contract.keys]
    order = Window.partitionBy(*keys, "__rejected").orderBy("__event_time")
    so_far = order.rowsBetween(Window.unboundedPreceding, Window.currentRow)
    whole = order.rowsBetween(Window.unboundedPreceding, Window.unboundedFollowing)
    first = F.row_number().over(order) == 1
    before = F.when(first, F.col("__current_hash")).otherwise(F.lag("__state").over(order))
    known = "__state = __before"
    if "__split" in rows.columns:
        known += " AND NOT coalesce(__split, false)"
    if added:
        rows = with_backfills(rows, contract, added, so_far)
        known += " OR __backfills"
    # As a text each takes one call of Java.
    state = F.expr("if(NOT __deleted, __digest, NULL)")
    changes = f"if(__deleted, __before IS NOT NULL, __before IS NULL OR NOT ({known}))"
    time = "if(__changes, __event_time, NULL)"
    # An aggregate of all rows ahead would be computed again for each row.
    turn, next_turn = F.expr(time), F.expr(f"lead({time}) IGNORE NULLS").over(order)
    framed = (
        rows.withColumn("__state", state)
        .withColumns({"__before": before, "__first": first})
        .withColumn("__changes", F.expr(changes))
        .withColumns(
            {
                "__group": F.sum(F.col("__changes").cast("int")).over(so_far),
                "__valid_from": F.coalesce(F.max(turn).over(so_far), F.col("__current_from")),
                "__valid_to": next_turn,
                "__close_at": F.min(turn).over(whole),
                "__last": F.coalesce(F.lead("__changes").over(order), F.lit(True)),
                "__current_after": F.last("__state").over(whole).isNotNull(),
            }
        )
    )
    return _with_action(framed, contract, whole)


def hidden() -> Expression:
    """Return which resolved rows have no version of their own."""
    merged = (F.col("__action") == "open") & (F.col("__event_time") != F.col("__valid_from"))
    return F.col("__action").isin("assert", "overwrite") | merged


def _with_action(framed: DataFrame, contract: Contract, whole: WindowSpec) -> DataFrame:
    shows, renews = "__changes", "__digest != __current_hash"
    if contract.overwrites:
        shows = "__last"
        renews += " OR __rest != __current_rest"
    action = f"""CASE
        WHEN __deleted AND __changes THEN 'delete'
        WHEN __deleted THEN 'tombstone'
        WHEN __group > 0 AND {shows} THEN 'open'
        WHEN __group = 0 AND __current_hash IS NOT NULL AND __last AND ({renews}) THEN 'overwrite'
        ELSE 'assert'
    END"""
    renewed = F.max(F.expr("__action = 'overwrite'")).over(whole)
    return framed.withColumn("__action", F.expr(action)).withColumn("__rewritten", renewed)


def packed(rows: DataFrame, contract: Contract) -> DataFrame:
    """Move the stored columns that no step reads into `__stored`: less to plan and to compile.

    Filling partial records reads all of them.
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
    partial = ["__record"] if contract.history.ignore_null_updates else []
    return resolved.selectExpr(*map(quote, names), *STAGED, *partial)
