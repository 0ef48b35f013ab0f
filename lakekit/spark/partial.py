"""Partial records: a null says nothing of its column. Frames in and out; no actions."""

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from lakekit.contracts import Contract
from lakekit.sql.identifiers import quote
from lakekit.sql.row_hash import row_hash, state_hash


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
