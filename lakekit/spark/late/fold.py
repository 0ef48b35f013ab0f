"""The facts of a key, one after the other. Frames in and out; no actions."""

from collections.abc import Callable, Sequence

from pyspark.sql import Column as Expression
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from lakekit.sql.identifiers import quote

# From what a key holds before a fact, and the fact: what it holds after it, what is said of it.
Step = Callable[[Expression, Expression], tuple[Expression, Expression]]


def folded(
    facts: DataFrame,
    keys: Sequence[str],
    held: Expression,
    told: str,
    step: Step,
    **more: Expression,
) -> DataFrame:
    """Go through the facts of each key in the order of their moments.

    Args:
        facts: With `__moment`.
        keys: The columns that tell which facts belong together.
        held: What a key holds before its first fact.
        told: The type of what is said of each fact.
        step: See `Step`; what both hold of a key have the type of `held`.
        more: What a step asks of a fact beside its columns.

    Returns:
        The facts, each with what is said of it (`__told_of`).
    """
    names = [quote(key) for key in keys]
    others = [quote(name) for name in facts.columns if name not in keys]
    fact = F.struct(*others, *[value.alias(name) for name, value in more.items()])

    def add(so_far: Expression, fact: Expression) -> Expression:
        after, said = step(so_far["held"], fact)
        return F.struct(after.alias("held"), F.array_append(so_far["told"], said).alias("told"))

    start = F.struct(held.alias("held"), F.array().cast(f"array<{told}>").alias("told"))
    in_order = F.array_sort(F.collect_list("__fact"), _earlier_first)
    by_key = facts.withColumn("__fact", fact).groupBy(*names).agg(in_order.alias("__facts"))
    said = F.aggregate("__facts", start, add, lambda done: done["told"])
    both = by_key.select(*names, "__facts", said.alias("__told_of"))
    # The keys stay beside the facts, so that what follows is not shuffled again.
    rows = both.select(*names, F.inline(F.arrays_zip("__facts", "__told_of")))
    return rows.select(*names, *[F.col(f"__facts.{name}") for name in others], "__told_of")


def _earlier_first(one: Expression, other: Expression) -> Expression:
    """Compare two facts by their moment, as an order of arrays."""
    at, then = one["__moment"], other["__moment"]
    return F.when(at < then, -1).when(at > then, 1).otherwise(0)
