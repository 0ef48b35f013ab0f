"""The rows of each key in order, and what each does. Frames in and out; no actions.

A change set has a row for each record (or absence) that may change something, with what it does:

* open: it holds the content of a new version, valid from `__start` until `__until`
* overwrite: it renews the untracked columns of the version that it falls into
* assert: it says what is known already
* delete: the key is gone from `__moment` on
* tombstone: the key is gone, and was before
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pyspark.sql import Column as Expression
from pyspark.sql import DataFrame, Window, WindowSpec
from pyspark.sql import functions as F

from lakekit.contracts import Contract
from lakekit.spark.base import overwrites
from lakekit.spark.first_values import with_fills
from lakekit.spark.lines import POSITION
from lakekit.spark.records import tie
from lakekit.sql.identifiers import quote
from lakekit.sql.later import Later
from lakekit.sql.line_hash import DIGEST

STAGED = {
    **dict.fromkeys(DIGEST, "bigint"), "_source_file": "string",
    **dict.fromkeys(("_row_hash", "__rest", "__digest"), "bigint"),
    "__tie": "struct<none: int>", "__position": POSITION,
    "__moment": "timestamp_ntz", "__gone": "boolean", "__kind": "string", "__absent": "boolean",
    "__late": "boolean", "__aside": "string", "__since": "timestamp_ntz",
    "__newest": "timestamp_ntz", "__base_hash": "bigint", "__act": "string", "__first": "boolean",
    "__start": "timestamp_ntz", "__until": "timestamp_ntz", "__close_at": "timestamp_ntz",
    "__replaced": "boolean", "__alive": "boolean", "__scope": "string",
}  # fmt: skip
# Which resolved rows tell that the version before them ends, one of each key.
CLOSES = "__first AND __close_at IS NOT NULL AND __since IS NOT NULL"
_WHOLE = (Window.unboundedPreceding, Window.unboundedFollowing)


@dataclass(frozen=True)
class Sight:
    """What a merge knows of the table before it looks at a row.

    newest_full: moment of the last full extract that is merged, with a sequence; else None.
    newest_by_scope: the last of each scope, where that decides what is late; else None. The scope
        None is each one that is not named.
    scopes_are_said: whether each record says its scope; a partial one need not.
    behind: the run is a full extract older than the end of a version that is not current.
    later: tracked columns that the table got after its first version, and that the run may fill.
    unaware: those of which a null of the run says nothing, as it was extracted before they came.
    """

    newest_full: str | None = None
    newest_by_scope: Mapping[str | None, str] | None = None
    scopes_are_said: bool = True
    behind: bool = False
    later: tuple[Later, ...] = ()
    unaware: tuple[Later, ...] = ()


def first_of(rows: DataFrame, keys: Sequence[str], *order: Expression) -> DataFrame:
    """Keep the first row of each key in an order."""
    window = Window.partitionBy(*map(quote, keys)).orderBy(*order)
    return rows.withColumn("__nth", F.row_number().over(window)).where("__nth = 1").drop("__nth")


def resolve(rows: DataFrame, contract: Contract, sight: Sight) -> DataFrame:
    """Put the rows of each key in order and say what each does (`__act`).

    Args:
        rows: One row per key and moment with the hashes, `__gone` and the base of its key.
        contract: Its keys and options.
        sight: What is known of the table.

    Returns:
        The rows with `__act`, `__start`, `__until`, and per key `__close_at` (when the current
        version ends), `__replaced` (it is written anew), `__alive` (there is a current version
        at the end) and `__first` (true for one row of the key).
    """
    # Rows that are set aside stand by themselves. As a column, so that one sort serves all windows.
    rows = rows.withColumn("__apart", F.col("__aside").isNotNull())
    keys = [quote(key) for key in contract.keys]
    order = Window.partitionBy(*keys, "__apart").orderBy("__moment")
    so_far = order.rowsBetween(Window.unboundedPreceding, Window.currentRow)
    ahead = order.rowsBetween(1, Window.unboundedFollowing)
    whole = order.rowsBetween(*_WHOLE)
    first = F.row_number().over(order) == 1
    before = F.when(first, F.col("__base_hash")).otherwise(F.lag("__state").over(order))
    known = "__state = __before"
    if "__split" in rows.columns:
        known += " AND NOT coalesce(__split, false)"
    if "__dropped" in rows.columns:
        # Of two versions that were told apart by a column since dropped, each stays.
        earlier = order.rowsBetween(Window.unboundedPreceding, -1)
        held = F.last("__dropped", ignorenulls=True).over(earlier)
        rows = rows.withColumn("__other", F.coalesce(F.col("__dropped") != held, F.lit(False)))
        known += " AND NOT __other"
    if sight.later:
        rows = with_fills(rows, contract, sight.later, so_far)
        known += " OR __fills"
    # As a text each takes one call of Java.
    state = F.expr("if(NOT __gone, __digest, NULL)")
    changes = f"if(__gone, __before IS NOT NULL, __before IS NULL OR NOT ({known}))"
    turn = F.expr("if(__changes, __moment, NULL)")
    framed = (
        rows.withColumn("__state", state)
        .withColumns({"__before": before, "__first": first})
        .withColumn("__changes", F.expr(changes))
        .withColumns(
            {
                "__group": F.sum(F.col("__changes").cast("int")).over(so_far),
                "__start": F.coalesce(F.max(turn).over(so_far), F.col("__since")),
                "__until": F.min(turn).over(ahead),
                "__close_at": F.min(turn).over(whole),
                "__last": F.coalesce(F.lead("__changes").over(order), F.lit(True)),
                "__alive": F.last("__state").over(whole).isNotNull(),
            }
        )
    )
    return _with_act(framed, contract, whole)


def hidden() -> Expression:
    """Return which resolved rows show in no version of their own."""
    merged = (F.col("__act") == "open") & (F.col("__moment") != F.col("__start"))
    return F.col("__act").isin("assert", "overwrite") | merged


def _with_act(framed: DataFrame, contract: Contract, whole: WindowSpec) -> DataFrame:
    shows, renews = "__changes", "__digest != __base_hash"
    if overwrites(contract):
        shows = "__last"
        renews += " OR __rest != __base_rest"
    act = f"""CASE
        WHEN __gone AND __changes THEN 'delete'
        WHEN __gone THEN 'tombstone'
        WHEN __group > 0 AND {shows} THEN 'open'
        WHEN __group = 0 AND __base_hash IS NOT NULL AND __last AND ({renews}) THEN 'overwrite'
        ELSE 'assert'
    END"""
    renewed = F.max(F.expr("__act = 'overwrite'")).over(whole)
    return framed.withColumn("__act", F.expr(act)).withColumn("__replaced", renewed)


def packed(rows: DataFrame, contract: Contract) -> DataFrame:
    """Move the stored columns that no step looks at into `__stored`: less to plan and to compile.

    Filling partial records looks at all of them.
    """
    if contract.history.ignore_null_updates or not contract.content:
        return rows
    stored = f"struct({', '.join(map(quote, contract.content))}) AS __stored"
    return rows.selectExpr(*[quote(n) for n in rows.columns if n not in contract.content], stored)


def no_rows(versions: DataFrame, contract: Contract) -> DataFrame:
    """Return a staged change set of no rows; `versions` are those of the table."""
    none = {name: F.lit(None).cast(type_) for name, type_ in STAGED.items()}
    rows = versions.where("false").select(*[quote(c.name) for c in contract.stored])
    return rows.withColumns({**none, "__tie": F.expr(tie(contract))})


def select_staged(resolved: DataFrame, contract: Contract) -> DataFrame:
    """Fix the schema of a staged change set."""
    names = [c.name for c in contract.stored]
    if "__stored" in resolved.columns:
        resolved = resolved.selectExpr("*", "__stored.*")
    partial = ["__record", "__partial"] if contract.history.ignore_null_updates else []
    return resolved.selectExpr(*map(quote, names), *STAGED, *partial)
