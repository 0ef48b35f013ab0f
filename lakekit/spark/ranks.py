"""Which row of each moment counts. Frames in and out; no actions."""

from pyspark.sql import Column as Expression
from pyspark.sql import DataFrame, Window, WindowSpec
from pyspark.sql import functions as F

from lakekit.contracts import Contract
from lakekit.sql.identifiers import quote


def with_place(rows: DataFrame, contract: Contract) -> DataFrame:
    """Rank the rows of one key and moment; `__place` 1 counts. In scd1 those of one key.

    Even there each moment counts of partial records, and where late ones are set aside.

    `__equal` says that a row holds what the winner holds; `__tied` that rows of one moment differ.
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
    return _placed(rows, best)


def with_place_beside_aside(rows: DataFrame, contract: Contract) -> DataFrame:
    """Rank the rows of one key and moment again: those that are set aside (`__aside`) come last.

    Of one moment a deletion, or a move into another scope, can come late beside a record in time.
    """
    if not contract.history.sets_late_aside:
        return rows
    moment = Window.partitionBy(*map(quote, contract.keys), "__moment")
    return _placed(rows, moment.orderBy(F.col("__aside").isNotNull(), "__place"))


def _placed(rows: DataFrame, best: WindowSpec) -> DataFrame:
    return rows.withColumns(
        {
            "__place": F.row_number().over(best),
            "__equal": F.col("__content") == F.first("__content").over(best),
        }
    )


def content_hash() -> Expression:
    """Return what tells two rows of one key and moment apart; all deletions are alike."""
    held = [F.when(~F.col("__gone"), F.col(name)) for name in ("_row_hash", "__rest")]
    return F.xxhash64(*held, "__gone", "__moment")
