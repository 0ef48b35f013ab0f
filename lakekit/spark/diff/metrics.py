"""What is counted while a batch is read, and what the counts are called."""

import json
from typing import Any

from pyspark.sql import Column as Expression
from pyspark.sql import functions as F

from lakekit.contract.contract import Contract
from lakekit.spark.diff import order
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
    counts = [F.expr("count(1) AS joined")]
    if contract.history.sequence_by:
        counts.append(F.count(F.when(F.col("__moment") > extracted, 1)).alias("ahead"))
    if contract.history.delete_scope:
        read = "if(NOT __absent AND __fault IS NULL, __scope, NULL)"
        counts.append(F.expr(f"to_json(collect_set({read})) AS scopes"))
    return counts


def based_counts() -> list[Expression]:
    """Return what is counted of the versions that records are compared with."""
    return [F.expr("count(1) AS based"), F.expr("count(__base_hash) AS based_alive")]


def kind_counts(contract: Contract) -> list[Expression]:
    """Return what is counted of the joined rows of some kinds."""
    return [
        F.expr("count(1) AS told"),
        _count("all", "NOT __absent"),
        F.expr("min(__fault) AS fault"),
        null_keys(contract),
        *[_count(kind, f"__kind = '{kind}'") for kind in KINDS],
        _count("matched", "__known AND NOT __absent"),
        _count("lost_sight", "__absent"),
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
    null = " OR ".join(f"{quote(key)} IS NULL" for key in contract.keys)
    return _count("null_keys", f"({null or 'false'}) AND __fault IS NOT NULL")


def place_counts() -> list[Expression]:
    """Return what is counted of ranked rows."""
    lost = "__place > 1 AND __aside IS NULL"
    first = "if(__place = 1 AND __kind != 'same', __moment, NULL)"
    return [
        _count("lost_equal", f"{lost} AND __equal"),
        _count("lost_other", f"{lost} AND NOT __equal"),
        _count("ties", "__aside = 'tie'"),
        _count("set_aside", "__aside = 'late'"),
        *late_counts("__place = 1"),
        F.expr(f"CAST(min({first}) AS string) AS earliest"),
    ]


def late_counts(placed: str) -> list[Expression]:
    """Return what is counted of late rows, of those that count at their moment.

    `placed` says in SQL which do.
    """
    late = f"{placed} AND __late"
    # The current version shows what came after the extract: it stays. So it does where late
    # changes are not exact.
    stays = "__kind = 'absent' AND (__newest > __moment OR __aside IS NOT NULL)"
    return [
        _count("late", f"{late} AND __aside IS NULL"),
        _count("late_absent", f"{late} AND {stays}"),
    ]


def act_counts() -> list[Expression]:
    """Return what is counted of resolved rows, those that are set aside left out."""
    opened = "__act = 'open'"
    counted = {
        **{name: f"__act = '{name}' AND NOT __absent" for name in ACTS},
        "absences": "__act = 'delete' AND __absent",
        "closes": order.CLOSES,
        "short": f"{opened} AND __until IS NOT NULL",
        "merged": f"{opened} AND __moment != __start",
        "touched": "__first",
        "alive": "__first AND __alive",
        "replaced": "__first AND __replaced",
        "ends": f"{order.CLOSES} AND NOT __replaced",
        "outdone": "__act = 'overwrite' AND __until IS NOT NULL",
    }
    return [_count(name, f"__aside IS NULL AND {where}") for name, where in counted.items()]


def _count(name: str, where: str) -> Expression:
    """Return how many rows a predicate of SQL is true for; a text takes one call of Java."""
    return F.expr(f"count_if({where}) AS {quote(name)}")


def scopes_of(counts: dict[str, Any]) -> list[str]:
    """Return the scopes that an extract holds, as JSON texts in one order."""
    return sorted(json.loads(counts["scopes"]))
