"""Digests of lines: which lines of an extract current versions show, and which versions none shows.

Workers get the first halves of the digests of all current versions, in lists of those that end in
the same bits. A line that is found in its list becomes its place there, one bit of 64, so that a
task shuffles no more than a row for each list that it meets, and the lines that have changed. The
second halves are compared all at once: combined by exclusive or, those of the lines equal those of
the versions that they show.
"""

from pyspark.sql import Column as Expression
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from lakekit.sql.line_hash import DIGEST

# Digests beyond this place of their list are not looked up.
PLACES = 64
# Digests in a list on average, at most: of two million hardly one stands beyond the places.
_MEAN = 34
_HASH, _CHECK = DIGEST


def number_of_lists(digests: int) -> int:
    """Return how many lists keep them short."""
    return 1 << (digests // _MEAN).bit_length()


def list_of(value: str, number: int) -> Expression:
    """Return in which of `number` lists, a power of two, a value belongs."""
    return F.col(value).bitwiseAND(number - 1)


def lists_of(values: DataFrame, number: int) -> DataFrame:
    """Put the values of a frame's one column into lists: `__list` and `__values`, each once."""
    (name,) = values.columns
    listed = values.dropna().groupBy(list_of(name, number).alias("__list"))
    # To collect sets takes half as long again.
    return listed.agg(F.array_distinct(F.collect_list(name)).alias("__values"))


def look_up(lines: DataFrame, lists: DataFrame, number: int) -> DataFrame:
    """Separate unchanged lines from changed ones.

    Args:
        lines: With their digests.
        lists: Of the first halves of the versions' digests; see `lists_of`.
        number: Of lists.

    Returns:
        A row for each list of the unchanged lines: `__shown` (a bit for each place that a line
        has), `__times` (how many lines have one) and `__checks` (their second halves combined). A
        row for each changed line, with its columns and without `__list`.
    """
    rows = lines.withColumn("__list", list_of(_HASH, number))
    rows = rows.join(F.broadcast(lists), "__list", "left")
    place = F.expr(f"CAST(array_position(__values, {_HASH}) AS int)")
    has_place = F.coalesce(F.col("__place").between(1, PLACES), F.lit(False))
    rows = rows.withColumn("__place", place).withColumn("__found", has_place)
    rows = rows.select(
        F.when(F.col("__found"), F.col("__list")).alias("__list"),
        F.when(F.col("__found"), F.expr("shiftleft(1L, __place - 1)")).alias("__bit"),
        F.when(F.col("__found"), F.col(_CHECK)).alias("__check"),
        F.when(~F.col("__found"), F.struct(*lines.columns)).alias("__line"),
    )
    by_list = rows.groupBy("__list", "__line").agg(
        F.bit_or("__bit").alias("__shown"),
        F.count("__bit").alias("__times"),
        F.bit_xor("__check").alias("__checks"),
    )
    return by_list.select("__list", "__shown", "__times", "__checks", "__line.*")


def without_line(lists: DataFrame, looked_up: DataFrame) -> DataFrame:
    """Return the first halves in lists that no line has; `looked_up` as from `look_up`."""
    shown = looked_up.where("__list IS NOT NULL").select("__list", "__shown")
    both = lists.join(F.broadcast(shown), "__list", "left")
    both = both.withColumn("__shown", F.coalesce("__shown", F.lit(0).cast("bigint")))
    some = both.where("bit_count(__shown) < size(__values)")
    each = some.select("__shown", F.posexplode("__values").alias("__place", _HASH))
    has = F.expr("shiftright(__shown, __place) & 1") == 1
    return each.where((F.col("__place") >= PLACES) | ~has).select(_HASH)
