"""Which records say what is known, told before they are shuffled. Frames in and out; no actions.

Of a large full extract nearly every record says what its key's current version holds. Workers get
64 bits of each of these versions, and what a record holds is shuffled only if its own 64 bits are
not among them. The join compares it as ever: a record that was found here without cause has lost
its content on the way, is counted as `unlike`, and the batch is read again.
"""

from pyspark.sql import Column as Expression
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from lakekit.contract.contract import Contract
from lakekit.spark.diff import compare as join
from lakekit.spark.skip.digests import list_of, lists_of
from lakekit.sql.identifiers import quote

# Bytes of narrow versions, as Spark estimates them, for which it pays: below it costs more than the
# shuffle, and above the set is too big for every worker (8 bytes of some 40 are sent).
WORTHWHILE = range(8 << 20, 1 << 30)
_LISTS = 1 << 16
_SEEN_BY_THE_JOIN = ("__fault", "__moment", "__gone", "__digest", "__rest")


def is_worthwhile(narrow_bytes: int, contract: Contract) -> bool:
    """Whether the versions to compare with are many, but not too many, by Spark's estimate."""
    return not contract.history.ignore_null_updates and narrow_bytes in WORTHWHILE


def with_content(records: DataFrame, base: DataFrame, contract: Contract) -> DataFrame:
    """Move what the join does not look at into `__content`, null if `base` holds the same.

    Args:
        records: Records with their facts.
        base: The versions that they are compared with; see `base.select_base`.
        contract: Its keys and options.
    """
    seen = {*contract.keys, *contract.history.delete_scope, *_SEEN_BY_THE_JOIN}
    said, held = zip(*join.compared(contract), strict=True)
    rows = _with_found(
        records, _bits(contract, said), base.select(_bits(contract, held).alias("__bits"))
    )
    found = F.col("__found") & F.col("__fault").isNull()
    packed = F.struct(*[quote(name) for name in records.columns if name not in seen])
    return rows.select(
        *[quote(name) for name in records.columns if name in seen],
        F.when(~found, packed).alias("__content"),
    )


def _with_found(rows: DataFrame, bits: Expression, known: DataFrame) -> DataFrame:
    """Add `__found`: whether 64 bits of each row are among known ones, the column of a frame."""
    lists = lists_of(known, _LISTS)
    rows = rows.withColumn("__bits", bits).withColumn("__list", list_of("__bits", _LISTS))
    found = F.coalesce(F.array_contains("__values", F.col("__bits")), F.lit(False))
    rows = rows.join(F.broadcast(lists), "__list", "left").withColumn("__found", found)
    return rows.drop("__bits", "__list", "__values")


def unlike(joined: DataFrame) -> Expression:
    """Return how many joined rows have lost their content, but need it."""
    lost = F.lit(False)
    if "__content" in joined.columns:
        lost = F.col("__content").isNull() & ~F.col("__absent") & (F.col("__kind") != "same")
    return F.count(F.when(lost, 1)).alias("unlike")


def unpacked(rows: DataFrame) -> DataFrame:
    """Bring back the columns of `__content`, if there is one."""
    if "__content" not in rows.columns:
        return rows
    rest = [quote(name) for name in rows.columns if name != "__content"]
    return rows.select(*rest, "__content.*")


def _bits(contract: Contract, names: tuple[str, ...]) -> Expression:
    return F.xxhash64(*map(quote, contract.keys), *names)
