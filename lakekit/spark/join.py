"""Records beside the current versions of their keys. Frames in and out; no actions."""

from collections.abc import Sequence

from pyspark.sql import Column as Expression
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from lakekit.contracts import Contract
from lakekit.spark.base import compares_untracked, overwrites
from lakekit.spark.later import is_before
from lakekit.spark.scopes import scope_text
from lakekit.sql.identifiers import quote
from lakekit.sql.later import Later


def join_base(
    facts: DataFrame, base: DataFrame, contract: Contract, how: str, *, hint: str
) -> DataFrame:
    """Join records to the current version of their key; a full join adds the absent keys."""
    keys = contract.keys
    scope = [name for name in contract.history.delete_scope if name not in keys]
    known = [name for name in base.columns if name.startswith("__")]
    beside = {name: quote(f"__old_{name}") for name in (*keys, *scope)}
    old = base.selectExpr(
        *[f"{quote(name)} AS {other}" for name, other in beside.items()],
        *known,
        "true AS __known",
    )
    match = " AND ".join(f"{quote(key)} = {beside[key]}" for key in keys)
    names = [name for name in facts.columns if name not in (*keys, *scope)]
    return (
        facts.withColumn("__here", F.lit(True))
        .join(old.hint(hint), F.expr(match), how)
        .selectExpr(
            *[f"coalesce({quote(key)}, {beside[key]}) AS {quote(key)}" for key in keys],
            # A record may say null.
            *[f"if(__here IS NULL, {beside[k]}, {quote(k)}) AS {quote(k)}" for k in scope],
            *map(quote, names),
            *known,
            "__known IS NOT NULL AS __known",
            "__here IS NULL AS __absent",
        )
    )


def with_kind(
    joined: DataFrame,
    contract: Contract,
    moment: Expression,
    later: Sequence[Later] = (),
    *,
    partial: bool = False,
) -> DataFrame:
    """Name what each joined row is by itself; `__kind` is one of the following.

    rejected (a bad record; its key is present), ignored (a delete that is not wanted), same (it
    says what the current version holds), gone (absent, and known to be), past (absent and gone,
    but perhaps not at the time of an extract that comes behind another), absent, candidate.

    `later` are the columns of the table that are still to be filled; of a `partial` record a null
    means "not changed".
    """
    since, gone = F.col("__since"), "__absent AND __base_hash IS NULL"
    same = F.expr(_same(contract))
    if contract.history.exact and later:
        # What its version has been filled with, its record may not have said yet.
        same = same & ~was_filled(later)
    kind = (
        F.when(F.expr(gone) & (F.expr("coalesce(__ended, __since)") > moment), "past")
        .when(F.expr(gone) | (F.col("__absent") & (since == moment)), "gone")
        .when(F.col("__absent"), "absent")
        .when(F.expr("__fault IS NOT NULL"), "rejected")
        .when(F.expr(f"__gone AND {contract.history.deletes == 'ignore'}"), "ignored")
        # What an older extract holds of a version that began later is not what that one shows.
        .when(same & _not_before(since, moment), "same")
        .otherwise("candidate")
    )
    return joined.withColumns(
        {
            "__kind": kind,
            "__gone": F.coalesce("__gone", F.lit(True)),
            "__moment": F.when(F.col("__absent"), moment).otherwise(F.col("__moment")),
            "__scope": _scope(contract, partial),
        }
    )


def _scope(contract: Contract, partial: bool) -> Expression:
    """Return the scope of a joined row: what a partial record does not say of it, its key does."""
    names = contract.history.delete_scope
    if not partial or not names:
        return F.expr(scope_text(names))
    said = [F.coalesce(quote(n), F.col(f"__base_row.{quote(n)}")).alias(n) for n in names]
    return F.to_json(F.struct(*said), {"ignoreNullFields": "false"})


def was_filled(later: Sequence[Later]) -> Expression:
    """Whether a current version from before a later column shows a value of it."""
    shows = F.lit(False)
    for each in later:
        if each.until is not None:
            held = F.col(f"__base_later.{quote(each.name)}") != 0
            shows = shows | (held & is_before("__base_ingested", each))
    return F.coalesce(shows, F.lit(False))


def _not_before(since: Expression, extracted: Expression) -> Expression:
    return F.coalesce((F.col("__moment") >= since) | (extracted >= since), F.lit(True))


def _same(contract: Contract) -> str:
    if contract.history.ignore_null_updates:
        return "false"
    equal = [f"{said} = {held}" for said, held in compared(contract)]
    return " AND ".join(["NOT __gone", *equal])


def compared(contract: Contract) -> list[tuple[str, str]]:
    """Return the columns that are equal if a record says what is known: of records, of base."""
    pairs = [("__digest", "__base_hash")]
    if compares_untracked(contract):
        pairs.append(("__rest", "__base_rest"))
    sequence = contract.history.sequence_by
    seen = sequence in {c.name for c in contract.untracked} and overwrites(contract)
    if sequence and (contract.history.mode == "scd1" or not seen):
        pairs.append(("__moment", "__since"))
    return pairs
