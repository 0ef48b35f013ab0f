"""What is counted while a batch is read, and what the counts are called."""

import json
from typing import Any

from pyspark.sql import Column as Expression
from pyspark.sql import functions as F

from lakekit.contracts import Contract
from lakekit.spark import order
from lakekit.sql.identifiers import quote

ACTS = ("open", "overwrite", "assert", "delete", "tombstone")
KINDS = ("same", "gone", "past", "absent", "rejected", "ignored", "candidate")
# What is counted of an extract of which nothing is left beside its known lines.
NOTHING = dict.fromkeys(
    (
        "joined", "told", "all", "null_keys", *KINDS, "matched", "lost_sight", "unlike",
        "lost_equal", "lost_other", "ties", "set_aside", "late", "late_absent",
        *ACTS, "absences", "closes", "short", "merged", "touched", "alive", "replaced",
        "ends", "outdone",
    ), 0,
) | {"fault": None, "earliest": None}  # fmt: skip


def joined_counts(contract: Contract, extracted: Expression) -> list[Expression]:
    """Return what is counted of all joined rows: little, as nearly all say what is known."""
    counts = [F.count(F.lit(1)).alias("joined")]
    if contract.history.sequence_by:
        counts.append(F.count(F.when(F.col("__moment") > extracted, 1)).alias("ahead"))
    if contract.history.delete_scope:
        read = ~F.col("__absent") & F.col("__fault").isNull()
        scopes = F.to_json(F.collect_set(F.when(read, F.col("__scope"))))
        counts.append(scopes.alias("scopes"))
    return counts


def based_counts() -> list[Expression]:
    """Return what is counted of the versions that records are compared with."""
    return [F.count(F.lit(1)).alias("based"), F.count("__base_hash").alias("based_alive")]


def kind_counts(contract: Contract) -> list[Expression]:
    """Return what is counted of the joined rows of some kinds."""
    return [
        F.count(F.lit(1)).alias("told"),
        F.count(F.when(~F.col("__absent"), 1)).alias("all"),
        F.min("__fault").alias("fault"),
        null_keys(contract),
        *[F.count(F.when(F.col("__kind") == kind, 1)).alias(kind) for kind in KINDS],
        F.count(F.when(F.col("__known") & ~F.col("__absent"), 1)).alias("matched"),
        F.count(F.when(F.col("__absent"), 1)).alias("lost_sight"),
    ]


def with_uncounted(n: dict[str, Any]) -> dict[str, Any]:
    """Complete the counts of all rows and of those of some kinds: the others say what is known."""
    known = n["joined"] - n["told"]
    whole = {name: n[name] + known for name in ("same", "matched", "all")}
    return {"ahead": 0, "scopes": "[]"} | n | whole


def with_known(n: dict[str, Any], known: int) -> dict[str, Any]:
    """Complete the counts of what is left of an extract by those of its known lines."""
    whole = {name: n[name] + known for name in ("same", "matched", "all")}
    scopes = {*scopes_of(n), *json.loads(n["shown_scopes"])}
    return n | whole | {"scopes": json.dumps([*scopes])}


def null_keys(contract: Contract) -> Expression:
    """Return how many records have a null in their key."""
    null = F.lit(False)
    for key in contract.keys:
        null = null | F.col(quote(key)).isNull()
    return F.count(F.when(null & F.col("__fault").isNotNull(), 1)).alias("null_keys")


def place_counts() -> list[Expression]:
    """Return what is counted of ranked rows."""
    place, aside = F.col("__place"), F.col("__aside")
    lost = (place > 1) & aside.isNull()
    real = F.col("__kind") != "same"
    return [
        F.count(F.when(lost & F.col("__equal"), 1)).alias("lost_equal"),
        F.count(F.when(lost & ~F.col("__equal"), 1)).alias("lost_other"),
        F.count(F.when(aside == "tie", 1)).alias("ties"),
        F.count(F.when(aside == "late", 1)).alias("set_aside"),
        *late_counts(place == 1),
        F.min(F.when(real & (place == 1), F.col("__moment"))).cast("string").alias("earliest"),
    ]


def late_counts(placed: Expression) -> list[Expression]:
    """Return what is counted of late rows, of those that count at their moment."""
    late = placed & F.col("__late")
    # The current version shows what came after the extract: it stays. So it does where late
    # changes are not exact.
    stays = (F.col("__newest") > F.col("__moment")) | F.col("__aside").isNotNull()
    stays = (F.col("__kind") == "absent") & stays
    return [
        F.count(F.when(late & F.col("__aside").isNull(), 1)).alias("late"),
        F.count(F.when(late & stays, 1)).alias("late_absent"),
    ]


def act_counts() -> list[Expression]:
    """Return what is counted of resolved rows, those that are set aside left out."""
    merged, absent, act = F.col("__aside").isNull(), F.col("__absent"), F.col("__act")
    opened, first = merged & (act == "open"), merged & F.col("__first")
    counted = {
        **{name: merged & (act == name) & ~absent for name in ACTS},
        "absences": merged & (act == "delete") & absent,
        "closes": merged & order.closes(),
        "short": opened & F.col("__until").isNotNull(),
        "merged": opened & (F.col("__moment") != F.col("__start")),
        "touched": first,
        "alive": first & F.col("__alive"),
        "replaced": first & F.col("__replaced"),
        "ends": merged & order.closes() & ~F.col("__replaced"),
        "outdone": merged & (act == "overwrite") & F.col("__until").isNotNull(),
    }
    return [F.count(F.when(where, 1)).alias(name) for name, where in counted.items()]


def scopes_of(counts: dict[str, Any]) -> list[str]:
    """Return the scopes that an extract holds, as JSON texts in one order."""
    return sorted(json.loads(counts["scopes"]))
