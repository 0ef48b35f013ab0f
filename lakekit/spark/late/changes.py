"""Settled keys: what their new versions change in the table, and what is counted of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pyspark.sql import Column as Expression
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from lakekit.contract.contract import Contract
from lakekit.spark.diff import order
from lakekit.spark.late.events import PRESENCE, RECORD
from lakekit.spark.late.first_values import aware, shows_first_values
from lakekit.spark.schema.conform import dropped_names, held_name
from lakekit.sql.added_columns import Later
from lakekit.sql.identifiers import quote
from lakekit.sql.row_hash import row_hash
from lakekit.sql.tables import marks


@dataclass(frozen=True)
class Settled:
    """The versions of the settled keys, and what was counted.

    versions: `__change` (insert, replace, close or drop) with the stored columns, `__from`,
    `__to` and `__gone`; what stays as it is has no row. growth: how many more rows the table gets.
    """

    versions: DataFrame | None = None
    keys: DataFrame | None = None
    opened: int = 0
    closed: int = 0
    deleted: int = 0
    unchanged: int = 0
    deletes: int = 0
    restored: int = 0
    lost_equal: int = 0
    lost_other: int = 0
    alive: int = 0
    changes: int = 0
    growth: int = 0
    facts: DataFrame | None = None


def compare(
    resolved: DataFrame, existing: DataFrame, contract: Contract, later: Sequence[Later]
) -> DataFrame:
    """Return what must change in the table, found by key and start of validity.

    `__renewed` tells that a version holds what it held, but for first values of later columns. It
    keeps what it held in columns that the contract has dropped; one that begins anew holds there
    what is known of its state.
    """
    names, dropped = contract.content, dropped_names(existing, contract)
    keys = list(contract.keys)
    opened = ["open", "delete"] if marks(contract) else ["open"]
    gone = F.col("__gone")
    new = resolved.where(F.col("__act").isin(opened)).select(
        *map(quote, keys),
        F.when(gone, F.col("__moment")).otherwise(F.col("__start")).alias("__from"),
        F.col("__until").alias("__to"),
        *[F.when(~gone, F.col(quote(name))).alias(name) for name in names],
        "_source_file",
        F.col("__shown_ingested" if later else "__ingested").alias("__ingested"),
        F.coalesce("_row_hash", F.lit(0)).alias("_row_hash"),
        F.coalesce("__rest", F.lit(0)).alias("__rest"),
        gone.alias("__gone"),
        "__said",
        "__opener",
        F.lit(True).alias("__new"),
        *[quote(held_name(name)) for name in dropped],
    )
    marked = F.col("_is_deleted") if marks(contract) else F.lit(False)
    old = existing.select(
        *map(quote, keys),
        F.col("_valid_from").alias("__from"),
        F.col("_valid_to").alias("__old_to"),
        # What is stored is of the columns of its time.
        F.expr(row_hash(contract.tracked)).alias("__old_hash"),
        F.expr(row_hash(contract.untracked)).alias("__old_rest"),
        marked.alias("__old_gone"),
        F.lit(True).alias("__old"),
        *(_old_hashes(contract, later) if later else []),
        *[F.col(quote(name)).alias(f"__held_{name}") for name in dropped],
    )
    alike = F.col("_row_hash") == F.col("__old_hash")
    same = (F.col("__gone") == F.col("__old_gone")) & (
        F.col("__gone") | (alike & (F.col("__rest") == F.col("__old_rest")))
    )
    like_before = alike
    if later:
        same = same & F.coalesce(F.col("__old_lent") == F.col("__ingested"), F.lit(True))
        like_before = _is_renewed(contract, later)
    ends = F.col("__to").eqNullSafe(F.col("__old_to"))
    kind = (
        F.when(F.col("__new").isNull(), "drop")
        .when(F.col("__old").isNull(), "insert")
        .when(same & ends, "keep")
        .when(same & F.col("__to").isNotNull(), "close")
        .otherwise("replace")
    )
    joined = old.join(new, [*keys, "__from"], "full_outer").withColumn("__change", kind)
    renewed = F.coalesce(like_before & ~F.col("__gone") & ~F.col("__old_gone"), F.lit(False))
    kept = {"__renewed": renewed}
    for name in dropped:
        before, now = F.col(quote(f"__held_{name}")), F.col(quote(held_name(name)))
        kept[name] = F.coalesce(F.when(renewed, before), now)
    used = [name for name in joined.columns if name.startswith("__old_") and name != "__old_to"]
    held = [form for name in dropped for form in (f"__held_{name}", held_name(name))]
    return joined.withColumns(kept).drop("__new", "__old", *used, *held)


def _old_hashes(contract: Contract, later: Sequence[Later]) -> list[Expression]:
    """Return the hash of the columns that are not later, and those of each that is.

    `__old_lent` is when a version was told that shows first values.
    """
    hashes = [_hash_of(contract, each).alias(f"__old_of_{each.name}") for each in later]
    # If its record says the first value itself by now, it is that record's.
    lent = F.when(shows_first_values(later), F.col("_ingested_at")).alias("__old_lent")
    return [F.expr(row_hash(aware(contract, later))).alias("__old_aware"), lent, *hashes]


def _is_renewed(contract: Contract, later: Sequence[Later]) -> Expression:
    same = F.expr(row_hash(aware(contract, later))) == F.col("__old_aware")
    for each in later:
        before = F.col(quote(f"__old_of_{each.name}"))
        same = same & ((before == 0) | (before == _hash_of(contract, each)))
    return same


def _hash_of(contract: Contract, each: Later) -> Expression:
    return F.expr(row_hash([contract.column(each.name)]))


def _unseen() -> Expression:
    """Return which facts show in no version of their own, so that the companion must know them."""
    fresh = F.col("__said") | F.col("__version")
    lost, hidden = F.col("__act") == "lost", order.hidden()
    record = (F.col("__priority") == RECORD) & ~F.col("__known") & ~lost
    deleted = F.col("__said") & F.col("__gone")
    unheard = F.col("__act") == "unheard"
    # What brought a key back, if a later record renewed it, or another extract has told it before.
    again = hidden | F.col("__filled") | F.col("__held_before")
    renewed = (F.col("__priority") == PRESENCE) & again
    return (record & fresh & (hidden | deleted | F.col("__filled"))) | unheard | renewed


def fact_counts() -> list[Expression]:
    """Return what is counted of the facts of settled keys."""
    act, said, equal = F.col("__act"), F.col("__said"), F.col("__equal")
    counted = {
        "unchanged": said & act.isin("assert", "overwrite"),
        "deletes": said & act.isin("delete", "tombstone"),
        "deleted": said & (act == "delete"),
        "shown": said & (act == "open"),
        "lost_equal": (act == "lost") & equal,
        "lost_other": (act == "lost") & ~equal,
    }
    return [F.count(F.when(where, 1)).alias(name) for name, where in counted.items()]


def version_counts() -> list[Expression]:
    """Return what is counted of the versions of `compare`."""
    kind, ends = F.col("__change"), F.col("__to").isNotNull()
    fresh, renewed = kind.isin("insert", "replace") & ~F.col("__gone"), F.col("__renewed")
    # The record that a version begins with opens it; it may show a later one.
    opened = F.col("__opener") & ~renewed
    counted = {
        "opened": fresh & opened,
        "restored": fresh & ~opened & ~(renewed & F.col("__said")),
        "cut": kind.isin("close", "replace") & ends & F.col("__old_to").isNull(),
        "short": (kind == "insert") & ends,
        "alive": (kind != "drop") & ~ends,
        "changes": kind != "keep",
        "inserted": kind == "insert",
        "dropped": kind == "drop",
    }
    return [F.count(F.when(where, 1)).alias(name) for name, where in counted.items()]


def settled(
    resolved: DataFrame, versions: DataFrame, keys: DataFrame, n: Mapping[str, int]
) -> Settled:
    """Return settled keys with what `fact_counts` and `version_counts` told of them."""
    return Settled(
        versions=versions.where("__change != 'keep'"),
        keys=keys,
        opened=n["opened"],
        closed=n["cut"] + n["short"],
        deleted=n["deleted"],
        unchanged=n["unchanged"] + n["shown"] - n["opened"],
        deletes=n["deletes"],
        restored=n["restored"],
        lost_equal=n["lost_equal"],
        lost_other=n["lost_other"],
        alive=n["alive"],
        changes=n["changes"],
        growth=n["inserted"] - n["dropped"],
        facts=resolved.where(_unseen()),
    )
