"""Late changes, exactly: the history of the touched keys is derived again from all their facts.

Only keys that a late change touches come here; a run without late changes pays nothing.

Of the facts of one key and moment, which one counts, for late changes. No actions.

Which facts of a key count, judged one after the other in the order of their moments.
"""

from collections.abc import Sequence
from typing import Any

from pyspark.sql import Column as Expression
from pyspark.sql import DataFrame, Window, WindowSpec
from pyspark.sql import functions as F

from lakekit.contract.contract import Contract
from lakekit.spark.diff import order
from lakekit.spark.diff.order import content_hash, with_filled
from lakekit.spark.diff.state import Sight
from lakekit.spark.journal import Facts
from lakekit.spark.late.changes import Settled, compare, fact_counts, settled, version_counts
from lakekit.spark.late.events import PRESENCE, RECORD, TOLD, gather_facts, of_run, with_neighbours
from lakekit.spark.late.first_values import as_first_told, as_told, aware, with_later
from lakekit.spark.late.fold import Step, folded
from lakekit.spark.read.parse import sequence_of
from lakekit.spark.run import Merge
from lakekit.spark.schema.conform import dropped_names, held_name
from lakekit.spark.session.staging import write_counted, write_down
from lakekit.spark.session.tuning import sent
from lakekit.sql.added_columns import Later
from lakekit.sql.identifiers import quote
from lakekit.sql.row_hash import row_hash, state_hash
from lakekit.sql.tables import ARRIVED


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
    resolved = order.resolve(kept, contract, Sight())
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
    one = F.last if contract.overwrites else F.first
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


def ranked(facts: DataFrame, contract: Contract, later: Sequence[Later]) -> DataFrame:
    """Rank the facts of one key and moment; `__place` 1 counts."""
    keys = [quote(key) for key in contract.keys]
    moment = Window.partitionBy(*keys, "__moment")
    ties = () if contract.history.tie_break == "quarantine" else contract.history.tie_break
    stored = {c.name for c in contract.stored}
    held, told_before = F.col("__priority") == PRESENCE, F.max(F.col("__priority") == TOLD)
    best = moment.orderBy(
        F.when(F.col("__priority") == TOLD, PRESENCE).otherwise(F.col("__priority")).desc(),
        # Of what several full extracts held of a key, its newest record tells what it was.
        F.least(sequence_of(contract), "__moment").desc(),
        *[F.col(quote(name)).desc() for name in ties if name in stored],
        F.col("__ingested").desc(),
        F.col("__said").desc(),
        F.col(ARRIVED).desc_nulls_first(),
        F.col("__position").desc(),
    )
    # A version shows its newest untracked values; the companion knows the record of its start.
    known = F.col("__known") & ~F.col("__gone")
    gives_way, told = F.col("__shown") & F.max(known).over(moment), F.col("__ingested")
    # What the companion tells of a presence beats what the versions show of it.
    gives_way = gives_way | (held & ~of_run() & told_before.over(moment))
    if later:
        same = Window.partitionBy(*keys, "__moment", "__ingested", "__aware")
        gives_way = gives_way | (F.col("__first_values") & F.max(known).over(same))
        told = F.min(told).over(Window.partitionBy(*keys, "__moment", "__priority", "__content"))
    hashed = facts.withColumns(
        {
            "_row_hash": F.expr(row_hash(contract.tracked)),
            "__rest": F.expr(row_hash(contract.untracked)),
            # What a column is filled with is no other content.
            "__aware": F.expr(row_hash(aware(contract, later))),
            "__held_before": told_before.over(moment),
        }
    )
    rows = _told_apart(hashed.withColumn("__gives_way", gives_way), moment)
    rows = rows.where("NOT __gives_way").withColumn("__content", content_hash())
    rows = rows.withColumns(
        {
            "__place": F.row_number().over(best),
            "__equal": F.col("__content") == F.first("__content").over(best),
            "__told": told,
        }
    )
    return as_first_told(rows, later)


def _told_apart(facts: DataFrame, moment: WindowSpec) -> DataFrame:
    """Let what tells a version from the one before it stay with whatever says the same then."""
    names = [name for name in ("__split", "__dropped") if name in facts.columns]
    version = F.when(F.col("__version"), F.struct("__aware", *names))
    facts = facts.withColumn("__of", F.max(version).over(moment))
    # What a partial record holds is not known before it is filled.
    same = F.col("__partial") | (F.col("__aware") == F.col("__of.__aware"))
    for name in names:
        held = F.when(same & ~F.col("__gone"), F.col(f"__of.{name}"))
        facts = facts.withColumn(name, held)
    return facts.drop("__of")


_HELD = "struct<alive:boolean,scope:{scope},hash:bigint,rest:bigint>"
_JUDGED = "struct<heard:boolean,held:{held}>"


def with_verdicts(placed: DataFrame, contract: Contract) -> DataFrame:
    """Add whether each fact counts (`__heard`), and what its key holds before it (`__held`).

    A record always counts; presence only if the key is gone; absence only if the key is there,
    with a content that is within the scopes of the extract; nothing that is not first at its
    moment (`__place`).

    Args:
        placed: Facts, one first among those of a key and moment.
        contract: Its keys and scopes.
    """
    held = _HELD.format(scope=_scope_type(contract))
    judged = folded(
        placed, contract.keys, _nothing(held), _JUDGED.format(held=held), _judge(contract, held),
        __scope=_scope(contract),
    )  # fmt: skip
    told = {f"__{name}": F.col(f"__told_of.{name}") for name in ("heard", "held")}
    return judged.withColumns(told).drop("__told_of")


def _scope(contract: Contract) -> Expression:
    names = contract.history.delete_scope
    return F.struct(*map(quote, names)) if names else F.lit(None).cast("string")


def _scope_type(contract: Contract) -> str:
    fields = [f"{quote(n)}:{contract.column(n).type}" for n in contract.history.delete_scope]
    return f"struct<{','.join(fields)}>" if fields else "string"


def _nothing(held: str) -> Expression:
    return F.struct(F.lit(False), *[F.lit(None)] * 3).cast(held)


def _judge(contract: Contract, state: str) -> Step:
    """Return the step from what a key holds before a fact to what it holds after it."""
    scope = contract.history.delete_scope

    def judge(held: Expression, fact: Expression) -> tuple[Expression, Expression]:
        gone = fact["__gone"]
        within, at = F.lit(True), fact["__scope"]
        if scope:
            text = F.to_json(held["scope"], {"ignoreNullFields": "false"})
            within = fact["__scopes"].isNull() | F.array_contains(fact["__scopes"], text)
            filled = [F.coalesce(at[name], held["scope"][name]).alias(name) for name in scope]
            at = F.when(fact["__partial"] & held["alive"], F.struct(*filled)).otherwise(at)
        changes = F.when(gone, held["alive"] & within).otherwise(~held["alive"])
        heard = (fact["__place"] == 1) & ((fact["__priority"] == RECORD) | changes)
        alive = F.struct(F.lit(True), at, fact["_row_hash"], fact["__rest"]).cast(state)
        after = F.when(~heard, held).when(gone, _nothing(state)).otherwise(alive)
        judged = F.struct(heard, held).cast(_JUDGED.format(held=state))
        return after, judged

    return judge
