"""The events of a key, one after the other. Frames in and out; no actions."""

from collections.abc import Callable, Sequence

from pyspark.sql import Column as Expression
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from lakekit.sql.identifiers import quote

# From the state of a key before an event, and the event: the state after it, what is found of it.
Step = Callable[[Expression, Expression], tuple[Expression, Expression]]


def folded(
    events: DataFrame,
    keys: Sequence[str],
    state: Expression,
    found: str,
    step: Step,
    **more: Expression,
) -> DataFrame:
    """Go through the events of each key in the order of their times.

    Args:
        events: With `__event_time`.
        keys: The columns of the natural key.
        state: The state of a key before its first event.
        found: The type of what is found of each event.
        step: See `Step`; its states have the type of `state`.
        more: What a step needs of an event in addition to its columns.

    Returns:
        The events, each with what is found of it (`__folded`).
    """
    names = [quote(key) for key in keys]
    others = [quote(name) for name in events.columns if name not in keys]
    event = F.struct(*others, *[value.alias(name) for name, value in more.items()])

    def add(so_far: Expression, event: Expression) -> Expression:
        after, one = step(so_far["state"], event)
        return F.struct(after.alias("state"), F.array_append(so_far["found"], one).alias("found"))

    start = F.struct(state.alias("state"), F.array().cast(f"array<{found}>").alias("found"))
    in_order = F.array_sort(F.collect_list("__event"), _earlier_first)
    by_key = events.withColumn("__event", event).groupBy(*names).agg(in_order.alias("__events"))
    all_found = F.aggregate("__events", start, add, lambda done: done["found"])
    both = by_key.select(*names, "__events", all_found.alias("__folded"))
    # The keys stay with the events, so that what follows is not shuffled again.
    rows = both.select(*names, F.inline(F.arrays_zip("__events", "__folded")))
    return rows.select(*names, *[F.col(f"__events.{name}") for name in others], "__folded")


def _earlier_first(one: Expression, other: Expression) -> Expression:
    """Compare two events by their times, as an order of arrays."""
    at, then = one["__event_time"], other["__event_time"]
    return F.when(at < then, -1).when(at > then, 1).otherwise(0)
