"""What facts hold in columns that the table did not have when they were told.

A null that was told before the table had its column says nothing. A state that begins with such a
fact takes the first value that is said of the column while all else stays the same, unless that is
told only after a full extract has told the column of all keys. A fact within a state that says
nothing of a column holds what was said before it. A full extract that holds a key which is there,
with the content of its state, says as much.
"""

from collections.abc import Sequence
from functools import reduce
from operator import or_

from pyspark.sql import Column as Expression
from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from lakekit.contract.contract import Column, Contract
from lakekit.spark.backfill import is_before
from lakekit.spark.late.fold import folded
from lakekit.sql.added_columns import Later
from lakekit.sql.identifiers import moment_literal, quote
from lakekit.sql.row_hash import row_hash

_PART = "struct<hash:bigint,known:boolean>"
# `told` is of the newest record: which columns it knows, by itself or by what it is filled from.
_STATE = f"struct<alive:boolean,rest:bigint,parts:array<{_PART}>,told:array<boolean>,state:int>"


def aware(contract: Contract, later: Sequence[Later]) -> list[Column]:
    """Return the tracked columns that every fact knows."""
    names = {each.name for each in later}
    return [column for column in contract.tracked if column.name not in names]


def shows_first_values(later: Sequence[Later]) -> Expression:
    """Whether a row that was told before a column came holds a value of it."""
    held = [F.col(quote(e.name)).isNotNull() & is_before("_ingested_at", e) for e in later]
    return reduce(or_, held, F.lit(False))


def as_first_told(facts: DataFrame, later: Sequence[Later]) -> DataFrame:
    """Let facts that are told again have been told when they were told first, where that matters.

    A null that was told before its column came, and a value before a full extract had told it. So
    it is with what is told again and changes nothing else: it is not merged.
    """
    if not later:
        return facts
    crosses = F.lit(False)
    for each in later:
        said = F.col(quote(each.name)).isNotNull()
        for time, which in ((each.until, ~said), (each.filled, said)):
            if time is not None:
                at = F.expr(moment_literal(time))
                crosses = crosses | (which & (F.col("__told") <= at) & (F.col("__ingested") > at))
    first = F.when(crosses, F.col("__told")).otherwise(F.col("__ingested"))
    return facts.withColumn("__ingested", first)


def with_later(facts: DataFrame, contract: Contract, later: Sequence[Later]) -> DataFrame:
    """Give the facts of each state the values that are said in it of later columns.

    Args:
        facts: One per key and moment, beside those that are set aside (`__aside`); `__told` is when
            their content was first told.
        contract: Its keys and columns.
        later: The later columns.

    Returns:
        The facts, `_row_hash` of all tracked columns. What a fact says itself of the later columns
        is in `__own`; `__filled` tells that it holds something else.
    """
    if not later:
        return facts.withColumn("__filled", F.lit(False))
    own = F.struct(*[F.col(quote(each.name)) for each in later])
    rows = facts.withColumns({"__own": own, "__filled": F.lit(False)})
    rows = _with_state(rows, contract, later)
    whole = Window.partitionBy(*map(quote, contract.keys), "__state").orderBy("__moment")
    whole = whole.rowsBetween(Window.unboundedPreceding, Window.unboundedFollowing)
    for each in later:
        said = F.col(f"__own.{quote(each.name)}")
        value = F.first(said, ignorenulls=True).over(whole)
        filled = F.col("__aside").isNull() & ~F.col("__gone") & said.isNull() & value.isNotNull()
        rows = rows.withColumns(
            {
                "__filled": F.col("__filled") | filled,
                each.name: F.when(filled, value).otherwise(said),
            }
        )
    return rows.withColumn("_row_hash", F.expr(row_hash(contract.tracked))).drop("__state")


def as_told(facts: DataFrame, later: Sequence[Later]) -> DataFrame:
    """Give filled facts back what they say themselves."""
    return facts.withColumns({e.name: F.col(f"__own.{quote(e.name)}") for e in later})


def _with_state(facts: DataFrame, contract: Contract, later: Sequence[Later]) -> DataFrame:
    """Number the states of each key (`__state`), as they follow each other.

    Facts are of one state if they hold the same, but for what is not known of later columns. What
    is set aside is of none, but for presences that fit.
    """
    parts = F.array(*[_part(contract, each) for each in later])
    rest = F.expr(row_hash(aware(contract, later)))
    none = F.struct(F.lit(False), F.lit(0), F.array(), F.array(), F.lit(0)).cast(_STATE)
    rows = folded(facts, contract.keys, none, "int", _step, __parts=parts, __rest_hash=rest)
    return rows.withColumnRenamed("__told_of", "__state")


def _part(contract: Contract, each: Later) -> Expression:
    """Return what a fact says of a later column, whether that is known, and fills what is not."""
    held = F.expr(row_hash([contract.column(each.name)]))
    known = (held != 0) | ~is_before("__told", each)
    may_fill = F.lit(True)
    if each.filled is not None:
        # What the full extract of then has not told, it was not then.
        may_fill = F.col("__told") <= F.expr(moment_literal(each.filled))
    return F.struct(held.alias("hash"), known.alias("known"), may_fill.alias("may_fill"))


def _step(held: Expression, fact: Expression) -> tuple[Expression, Expression]:
    """Return what a key holds after a fact, and the number of its state."""
    parts = _filled_in(fact, held)
    goes_on = held["alive"] & ~fact["__gone"] & (held["rest"] == fact["__rest_hash"])
    fits = F.forall(F.zip_with(held["parts"], parts, _fits), lambda one: one)
    goes_on = goes_on & ~F.coalesce(fact["__split"], F.lit(False)) & fits
    own = F.transform(parts, lambda said: F.struct(said["hash"], said["known"]))
    joined = F.zip_with(held["parts"], parts, _joined)
    now = F.when(goes_on, joined).otherwise(own.cast(f"array<{_PART}>"))
    number = held["state"] + F.when(goes_on, 0).otherwise(1)
    news = fact["__aside"].isNull()
    told = F.when(news, F.transform(parts, lambda said: said["known"])).otherwise(held["told"])
    after = F.struct(~fact["__gone"], fact["__rest_hash"], now, told, number).cast(_STATE)
    counts = news | ((fact["__aside"] == "unheard") & goes_on)
    return F.when(counts, after).otherwise(held), F.when(counts, number)


def _filled_in(fact: Expression, held: Expression) -> Expression:
    """Return what a fact says of the later columns; of a partial one, what was known before it.

    Though it was told before its column came: the null that it is filled with was told by another.
    """
    partial = fact["__partial"] & held["alive"]

    def known(said: Expression, told: Expression) -> Expression:
        return said.withField("known", said["known"] | F.coalesce(partial & told, F.lit(False)))

    return F.zip_with(fact["__parts"], held["told"], known)


def _fits(held: Expression, said: Expression) -> Expression:
    """Whether a fact says of a later column what its state holds, or the first value of it."""
    fills = (said["hash"] == 0) | said["may_fill"]
    return F.when(held["known"], ~said["known"] | (said["hash"] == held["hash"])).otherwise(fills)


def _joined(held: Expression, said: Expression) -> Expression:
    """Return what a state holds of a later column with a fact that fits; a null tells nothing."""
    now = F.struct(said["hash"].alias("hash"), (said["hash"] != 0).alias("known"))
    return F.when(held["known"], held.cast(_PART)).otherwise(now.cast(_PART))
