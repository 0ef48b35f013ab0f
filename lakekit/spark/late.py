"""Late changes, exactly: the history of the touched keys is derived again from all their facts.

Only keys that a late change touches come here; a run without late changes pays nothing.
"""

from collections.abc import Sequence
from typing import Any

from pyspark.sql import Column as Expression
from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from lakekit.contracts import Contract
from lakekit.spark import order
from lakekit.spark.base import overwrites
from lakekit.spark.context import Merge, sent
from lakekit.spark.fact import PRESENCE
from lakekit.spark.facts import Facts
from lakekit.spark.forms import dropped_names, held_name
from lakekit.spark.late_facts import gather_facts, with_neighbours
from lakekit.spark.late_ranks import ranked
from lakekit.spark.later import as_told, with_later
from lakekit.spark.partial import with_filled
from lakekit.spark.settled import Settled, compare, fact_counts, settled, version_counts
from lakekit.spark.staging import write_counted, write_down
from lakekit.spark.verdicts import with_verdicts
from lakekit.sql.identifiers import quote
from lakekit.sql.later import Later
from lakekit.sql.row_hash import state_hash


def late_keys(
    merge: Merge, staged: DataFrame, facts: Facts, counts: dict[str, Any]
) -> DataFrame | None:
    """Return the keys that do not simply move forward, or None; written beside the change set.

    Beside each key is `__earliest`: before that moment, the run says nothing new of it.
    """
    goes_back = counts["earliest"] and facts.any_since(counts["earliest"])
    if not goes_back and not counts["late"]:
        return None
    names = list(merge.contract.keys)
    moment, more = F.col("__moment"), F.col("__kind") == "more"
    news = staged.where("__aside IS NULL AND __kind != 'same'").groupBy(*merge.keys)
    own = news.agg(
        _first_said(merge, moment).alias("__earliest"),
        _first_said(merge, F.when(~more, moment)).alias("__earliest_change"),
        F.min(F.when(more, moment)).alias("__earliest_more"),
        F.max("__late").alias("__flagged"),
    )
    columns = [*merge.keys, F.col("__earliest")]
    late = own.where("__flagged").select(*columns)
    if goes_back:
        known = facts.records().select(*merge.keys, F.col("_sequence").alias("__known_at"))
        # What says more of its version takes the place of what is known of the same moment.
        meets = "__known_at >= __earliest_change OR __known_at > __earliest_more"
        met = known.join(sent(own, counts["touched"]), names).where(meets)
        late = late.unionByName(met.select(*columns)).distinct()
    path = f"{merge.place}/late"
    found, seen = write_counted(late, path, F.count(F.lit(1)).alias("keys"))
    return sent(found, seen["keys"]) if seen["keys"] else None


def _first_said(merge: Merge, moment: Expression) -> Expression:
    """Return the first of some moments; what a full extract holds is said at its own time, too."""
    return F.least(F.min(moment), merge.moment) if merge.full else F.min(moment)


def settle(merge: Merge, rows: DataFrame, keys: DataFrame, facts: Facts) -> Settled:
    """Derive the versions of some keys again and compare them with what the table has."""
    names = list(merge.contract.keys)
    # It is looked at from several sides; the table itself is read once.
    versions = with_neighbours(merge.versions().join(keys, names), merge.contract)
    existing = write_down(versions, f"{merge.place}/existing")
    own = rows.where("__aside IS NULL").join(keys, names, "left_semi")
    known = gather_facts(merge, existing, own, keys, facts)
    resolved = _resolve(known, merge.contract, merge.later)
    resolved, told = write_counted(resolved, f"{merge.place}/settled", *fact_counts())
    changes = compare(resolved, existing, merge.contract, merge.later)
    versions, made = write_counted(changes, f"{merge.place}/versions", *version_counts())
    return settled(as_told(resolved, merge.later), versions, keys, told | made)


def _resolve(facts: DataFrame, contract: Contract, later: Sequence[Later]) -> DataFrame:
    """Order the facts, keep the one that counts at each moment, and say what it does.

    Those that do not count are `lost` if the run said them, and `unheard`, see `_aside`.
    """
    placed = ranked(facts.repartition(*map(quote, contract.keys)), contract, later)
    judged = with_verdicts(placed.where("__place = 1 OR __said"), contract)
    kept = judged.withColumn("__aside", _aside(contract)).where("__heard OR __aside IS NOT NULL")
    kept = kept.drop("__heard", "__held").withColumns(
        {
            "__base_hash": F.lit(None).cast("bigint"),
            "__base_rest": F.lit(None).cast("bigint"),
            "__since": F.lit(None).cast("timestamp_ntz"),
            "__absent": ~F.col("__said"),
        }
    )
    if contract.history.ignore_null_updates:
        row = ", ".join(quote(c.name) for c in contract.stored)
        kept = kept.withColumn("__base_row", F.expr(f"if(false, struct({row}), NULL)"))
        kept = with_filled(kept, contract).drop("__base_row", "__record", "__life")
    kept = with_later(kept, contract, later)
    kept = kept.withColumn("__digest", F.expr(state_hash(contract)))
    resolved = order.resolve(kept, contract, order.Sight())
    opener = F.coalesce(_of_opener("__said", contract), F.lit(False))
    resolved = resolved.withColumns({"__act": F.coalesce("__aside", "__act"), "__opener": opener})
    resolved = _with_held(resolved, contract)
    if not later:
        return resolved
    # A version that shows a record of before a column may have begun with one that knows it.
    newest = F.greatest("__ingested", _of_opener("__ingested", contract))
    return resolved.withColumn("__shown_ingested", newest)


def _with_held(resolved: DataFrame, contract: Contract) -> DataFrame:
    """Add what each state holds in columns that the contract has dropped; see `held_name`.

    What was told without them says nothing of them. The facts keep what they say themselves.
    """
    keys = [quote(key) for key in contract.keys]
    state = Window.partitionBy(*keys, "__apart", "__group").orderBy("__moment")
    state = state.rowsBetween(Window.unboundedPreceding, Window.unboundedFollowing)
    one = F.last if overwrites(contract) else F.first
    held = {
        held_name(name): one(quote(name), ignorenulls=True).over(state)
        for name in dropped_names(resolved, contract)
    }
    return resolved.withColumns(held) if held else resolved


def _of_opener(name: str, contract: Contract) -> Expression:
    """Return what a column is of the fact that began the state which a resolved row is in."""
    keys = [quote(key) for key in contract.keys]
    # That of `order.resolve`, so that nothing is sorted again.
    forward = Window.partitionBy(*keys, "__apart").orderBy("__moment")
    so_far = forward.rowsBetween(Window.unboundedPreceding, Window.currentRow)
    turn = F.when(F.col("__changes"), F.col(name))
    return F.last(turn, ignorenulls=True).over(so_far)


def _aside(contract: Contract) -> Expression:
    """Return why a fact that changes nothing is kept, or null.

    The presence of a key that is there is `unheard` if it holds another content than the key has
    then, or than an extract of that moment has told: a later deletion before it would let it be
    heard.
    """
    other = ~F.col("_row_hash").eqNullSafe(F.col("__held.hash")) | (
        ~F.col("__shown") & ~F.col("__rest").eqNullSafe(F.col("__held.rest"))
    )
    # What a partial record holds is not known before it is filled.
    other = other | F.lit(contract.history.ignore_null_updates) | F.col("__held_before")
    unheard = ~F.col("__heard") & other & (F.col("__priority") == PRESENCE)
    return F.when(F.col("__place") > 1, "lost").when(unheard, "unheard")
