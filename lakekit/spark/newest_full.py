"""The newest full extract that tells of a row. Expressions; no actions.

Where absence counts within scopes, an extract tells of the keys of its scopes only.
"""

import json

from pyspark.sql import Column as Expression
from pyspark.sql import functions as F

from lakekit.spark.context import kept_apart
from lakekit.spark.order import Sight


def newest_full(sight: Sight) -> Expression:
    """Return the moment of the newest full extract that tells of a row, null if none does.

    It differs from run to run. A key that is there tells its scope, else the row does, unless it
    need not.
    """
    gone = F.col("__base_hash").isNull()
    if sight.newest_by_scope is None or not sight.scopes_are_said:
        return kept_apart(F.lit(sight.newest_full).cast("timestamp_ntz"), gone)
    return newest_full_of(sight, F.coalesce("__base_scope", "__scope"))


def newest_full_of(sight: Sight, scope: Expression) -> Expression:
    """Return the moment of the newest full extract of a scope, null if none told of it."""
    gone, newest = F.col("__base_hash").isNull(), sight.newest_by_scope or {}
    named = {name: at for name, at in newest.items() if name is not None}
    told = F.from_json(F.lit(json.dumps(named)), "map<string,string>")
    moment = F.try_element_at(kept_apart(told, gone), scope)
    others = kept_apart(F.lit(newest.get(None)).cast("timestamp_ntz"), gone)
    return F.coalesce(moment.cast("timestamp_ntz"), others)


def moved_before_full(sight: Sight) -> Expression:
    """Whether a row puts its key into a scope in which a younger full extract did not find it.

    An extract of both scopes held the key, as it is still there; one of the new scope alone would
    have moved it.
    """
    moved = ~F.col("__gone") & (F.col("__scope") != F.col("__base_scope"))
    moment, newest = F.col("__moment"), newest_full_of(sight, F.col("__scope"))
    held = F.coalesce(newest <= newest_full_of(sight, F.col("__base_scope")), F.lit(False))
    moved = moved & (moment > F.col("__newest")) & (moment < newest) & ~held
    return F.coalesce(moved, F.lit(False))
