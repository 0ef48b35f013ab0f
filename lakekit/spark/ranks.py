"""Which row of each moment counts. Frames in and out; no actions."""

from pyspark.sql import Column as Expression
from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from lakekit.contracts import Contract
from lakekit.sql.identifiers import quote


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
