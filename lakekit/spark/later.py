"""What facts hold in columns that the table did not have when they were told.

A fact is unaware of a later column if it is null there, and was told before the table had it: that
null says nothing. Of facts that follow each other and are alike but for that column and those that
are younger still, it holds what was said last before it, else what is said first after it.
"""

from collections.abc import Sequence
from functools import reduce
from operator import or_

from pyspark.sql import Column as Expression
from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from lakekit.contracts import Column, Contract
from lakekit.sql.identifiers import moment_literal, quote
from lakekit.sql.later import Later
from lakekit.sql.row_hash import row_hash


def aware(contract: Contract, later: Sequence[Later]) -> list[Column]:
    """Return the tracked columns that every fact knows."""
    names = {each.name for each in later}
    return [column for column in contract.tracked if column.name not in names]


def shows_first_values(later: Sequence[Later]) -> Expression:
    """Whether a version from before a column has got a value of it since."""
    filled = [
        F.col(quote(each.name)).isNotNull() & _is_older("_ingested_at", each) for each in later
    ]
    return reduce(or_, filled, F.lit(False))


def with_later(facts: DataFrame, contract: Contract, later: Sequence[Later]) -> DataFrame:
    """Fill later columns, and hash the facts by all tracked columns.

    What a fact says itself stays in `__own`; `__filled` tells where that is something else.
    """
    if not later:
        return facts.withColumn("__filled", F.lit(False))
    own = F.struct(*[F.col(quote(each.name)) for each in later])
    rows = facts.withColumns({"__own": own, "__filled": F.lit(False)})
    for number, each in enumerate(later):
        alike = row_hash(aware(contract, later[number:]))
        rows = _with_value(_with_stretch(rows, contract, alike), contract, each)
    rows = rows.withColumn("_row_hash", F.expr(row_hash(contract.tracked)))
    return rows.drop("__alike", "__turn", "__stretch")


def as_told(facts: DataFrame, later: Sequence[Later]) -> DataFrame:
    """Give filled facts back what they say themselves."""
    if not later:
        return facts
    return facts.withColumns({e.name: F.col(f"__own.{quote(e.name)}") for e in later})


def _with_stretch(rows: DataFrame, contract: Contract, alike: str) -> DataFrame:
    """Number the facts of a key so that neighbours that are alike have the same `__stretch`."""
    order = Window.partitionBy(*map(quote, contract.keys), _apart()).orderBy("__moment")
    turn = ~F.col("__alike").eqNullSafe(F.lag("__alike").over(order))
    so_far = order.rowsBetween(Window.unboundedPreceding, Window.currentRow)
    return (
        rows.withColumn("__alike", F.when(~F.col("__gone"), F.expr(alike)))
        .withColumn("__turn", turn.cast("int"))
        .withColumn("__stretch", F.sum("__turn").over(so_far))
    )


def _with_value(rows: DataFrame, contract: Contract, each: Later) -> DataFrame:
    held = F.col(quote(each.name))
    unaware = held.isNull() & (_is_older("__ingested", each) | F.col("__partial"))
    said = F.when(~unaware, F.struct(held.alias("value"), F.col("__ingested").alias("told")))
    keys = map(quote, contract.keys)
    stretch = Window.partitionBy(*keys, _apart(), "__stretch").orderBy("__moment")
    before = F.last(said, ignorenulls=True).over(
        stretch.rowsBetween(Window.unboundedPreceding, Window.currentRow)
    )
    after = F.first(said, ignorenulls=True).over(
        stretch.rowsBetween(Window.currentRow, Window.unboundedFollowing)
    )
    first = after["value"]
    if each.filled is not None:
        # What full extracts have not told, it was not then.
        first = F.when(after["told"] <= F.expr(moment_literal(each.filled)), first)
    value = F.when(before.isNotNull(), before["value"]).otherwise(first)
    value = F.when(F.col("__gone"), held).otherwise(value)
    rows = rows.withColumns({"__value": value, "__unaware": unaware})
    filled = F.col("__filled") | (F.col("__unaware") & F.col("__value").isNotNull())
    rows = rows.withColumns({each.name: F.col("__value"), "__filled": filled})
    return rows.drop("__value", "__unaware")


def _is_older(told: str, each: Later) -> Expression:
    """Whether something was told before the table had a column; null until when is for ever."""
    if each.until is None:
        return F.lit(True)
    return F.col(told) <= F.expr(moment_literal(each.until))


def _apart() -> Expression:
    """Whether a fact does not count."""
    return F.col("__aside").isNotNull()
