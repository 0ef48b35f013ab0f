"""Lists of 64-bit values that end in the same bits, in which every worker finds one quickly."""

from pyspark.sql import Column as Expression
from pyspark.sql import DataFrame
from pyspark.sql import functions as F


def list_of(value: str, number: int) -> Expression:
    """Return in which of `number` lists, a power of two, a value belongs."""
    return F.col(value).bitwiseAND(number - 1)


def lists_of(values: DataFrame, number: int) -> DataFrame:
    """Put the values of a frame's one column into lists: `__list` and `__values`, each once."""
    (name,) = values.columns
    listed = values.dropna().groupBy(list_of(name, number).alias("__list"))
    # To collect sets takes half as long again.
    return listed.agg(F.array_distinct(F.collect_list(name)).alias("__values"))
