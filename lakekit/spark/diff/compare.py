"""The versions that records are compared with, narrowed to what that needs. No actions.

Records beside the current versions of their keys. Frames in and out; no actions.
"""

from collections.abc import Sequence

from pyspark.sql import Column as Expression
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from lakekit.contract.contract import Contract
from lakekit.spark.backfill import is_before
from lakekit.spark.read.parse import sequence, tie
from lakekit.sql.added_columns import Later
from lakekit.sql.identifiers import quote
from lakekit.sql.line_hash import DIGEST
from lakekit.sql.row_hash import row_hash, state_hash
from lakekit.sql.scopes import scope_text
from lakekit.sql.tables import marks

# The digest of the line that a version shows, and the newest moment that either says.
SHOWN = (*DIGEST, "_shown_moment")


def select_base(
    versions: DataFrame, contract: Contract, *, ended: bool = False, later: Sequence[Later] = ()
) -> DataFrame:
    """Narrow versions, one of each key, to what a comparison needs.

    Args:
        versions: The current ones, or the newest ones of all keys.
        contract: Its keys and options.
        ended: Whether there are versions that are not current.
        later: The columns of the table that are still to be filled.

    Returns:
        The keys, the columns of `delete_scope`, `__since`, `__newest` (the newest moment that the
        version shows), `__ended`, `__base_hash` (null for one that is not current or says
        deleted), `__base_rest` (hash of the untracked columns), `__base_row` if partial records
        need it, `__base_sequence` if late ones are set aside or there are such columns,
        `__base_scope` (null as the hash) if that tells which are late, `__base_ingested` and
        `later_hashes` if there are such columns, and of the line that it shows, if the table knows
        it, `SHOWN`.
    """
    names = dict.fromkeys((*contract.keys, *contract.history.delete_scope))
    state = state_hash(contract, "_valid_from")
    dead = "NOT _is_current" + (" OR _is_deleted" if marks(contract) else "")
    alive = f"if({dead}, NULL, {state})"
    rest = row_hash(contract.untracked) if contract.compares_untracked else "0L"
    rows = []
    if contract.history.ignore_null_updates:
        row = f"struct({', '.join(quote(c.name) for c in contract.stored)})"
        rows.append(f"if({alive} IS NULL, NULL, {row}) AS __base_row")
    if contract.history.sets_late_aside or (contract.history.exact and later):
        column = contract.column(contract.history.sequence_by or "")
        rows.append(f"{sequence(column)} AS __base_sequence")
    if contract.history.judges_by_scope:
        scope = scope_text(contract.history.delete_scope)
        rows.append(f"if({alive} IS NULL, NULL, {scope}) AS __base_scope")
    if contract.history.mode == "scd1" or later:
        rows.append("_ingested_at AS __base_ingested")
    if later:
        rows += later_hashes(contract, later, "__base_")
    if contract.history.mode == "scd1":
        rows.append(f"{tie(contract)} AS __base_tie")
    return versions.selectExpr(
        *[quote(name) for name in names],
        "_valid_from AS __since",
        f"{_newest(contract)} AS __newest",
        f"{'_valid_to' if ended else 'CAST(NULL AS timestamp_ntz)'} AS __ended",
        f"{alive} AS __base_hash",
        f"{rest} AS __base_rest",
        *rows,
        *(_shown(contract) if {*DIGEST} <= {*versions.columns} else []),
    )


def later_hashes(contract: Contract, later: Sequence[Later], prefix: str = "__") -> list[str]:
    """Return the hash of all tracked columns but some, and the hash of each of these (null: 0)."""
    columns = [contract.column(each.name) for each in later]
    each = ", ".join(f"{row_hash([column])} AS {quote(column.name)}" for column in columns)
    return [
        f"_row_hash ^ {row_hash(columns)} AS {prefix}without_later",
        f"struct({each}) AS {prefix}later",
    ]


def _shown(contract: Contract) -> list[str]:
    sequence_by, moment = contract.history.sequence_by, "_valid_from"
    if sequence_by is not None:
        moment = f"greatest(_valid_from, {sequence(contract.column(sequence_by))})"
    return [*DIGEST, f"{moment} AS {SHOWN[-1]}"]


def _newest(contract: Contract) -> str:
    history = contract.history
    column = contract.column(history.sequence_by) if history.sequence_by else None
    # Before it, the scope of a key may have been another.
    moved = any(c.name in history.delete_scope for c in contract.untracked)
    if (history.late_changes == "exact" and not moved) or column not in contract.untracked:
        return "_valid_from"
    return f"greatest(_valid_from, {sequence(column)})" if contract.overwrites else "_valid_from"


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
    if contract.compares_untracked:
        pairs.append(("__rest", "__base_rest"))
    sequence = contract.history.sequence_by
    seen = sequence in {c.name for c in contract.untracked} and contract.overwrites
    if sequence and (contract.history.mode == "scd1" or not seen):
        pairs.append(("__moment", "__since"))
    return pairs
