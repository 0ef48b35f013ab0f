"""The events of a key, one after the other. Frames in and out; no actions."""

from collections.abc import Callable, Sequence

from pyspark.sql import Column as Expression
from pyspark.sql import DataFrame, Window
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
    restarts: Expression,
) -> DataFrame:
    """Go through the events of each key in the order of their times.

    A key is cut into parts, each of which begins with an event after which the state is the same
    whatever was before it. The time grows with the square of the events of a part.

    Args:
        events: With `__event_time`.
        keys: The columns of the natural key.
        state: The state of a key before its first event, and before each part.
        found: The type of what is found of each event.
        step: See `Step`; its states have the type of `state`.
        restarts: Which events begin a part.

    Returns:
        The events, each with what is found of it (`__folded`).
    """
    names = [quote(key) for key in keys]
    others = [quote(name) for name in events.columns if name not in keys]

    def add(so_far: Expression, event: Expression) -> Expression:
        after, one = step(so_far["state"], event)
        return F.struct(after.alias("state"), F.array_append(so_far["found"], one).alias("found"))

    start = F.struct(state.alias("state"), F.array().cast(f"array<{found}>").alias("found"))
    in_order = F.array_sort(F.collect_list("__event"), _earlier_first)
    forward = Window.partitionBy(*names).orderBy("__event_time")
    so_far = forward.rowsBetween(Window.unboundedPreceding, Window.currentRow)
    part = F.count(F.when(restarts, 1)).over(so_far)
    parts = events.select(*names, F.struct(*others).alias("__event"), part.alias("__part"))
    by_part = parts.groupBy(*names, "__part").agg(in_order.alias("__events"))
    all_found = F.aggregate("__events", start, add, lambda done: done["found"])
    both = by_part.select(*names, "__events", all_found.alias("__folded"))
    # The keys stay with the events, so that what follows is not shuffled again.
    rows = both.select(*names, F.inline(F.arrays_zip("__events", "__folded")))
    return rows.select(*names, *[F.col(f"__events.{name}") for name in others], "__folded")


def _earlier_first(one: Expression, other: Expression) -> Expression:
    """Compare two events by their times, as an order of arrays."""
    at, then = one["__event_time"], other["__event_time"]
    return F.when(at < then, -1).when(at > then, 1).otherwise(0)
