"""Records with the current rows of their keys: narrowed, joined, and named by what they are.

Frames in and out; no actions.
"""

from collections.abc import Sequence

from pyspark.sql import Column as Expression
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from lakekit.contract.contract import Contract
from lakekit.spark.read.parse import sequence, tie
from lakekit.sql.added_columns import AddedColumn
from lakekit.sql.identifiers import quote
from lakekit.sql.line_hash import DIGEST
from lakekit.sql.row_hash import row_hash, state_hash
from lakekit.sql.scopes import scope_text
from lakekit.sql.tables import marks

# The digest of the line that a version shows, and the newest event time of either.
LINE_COLUMNS = (*DIGEST, "_shown_event_time")


def select_current(
    versions: DataFrame,
    contract: Contract,
    *,
    ended: bool = False,
    added: Sequence[AddedColumn] = (),
) -> DataFrame:
    """Narrow versions, one of each key, to what a comparison needs.

    Args:
        versions: The current ones, or the newest ones of all keys.
        contract: Its keys and options.
        ended: Whether there are versions that are not current.
        added: The columns of the table that are still backfilled.

    Returns:
        The keys, the columns of `delete_scope`, `__current_from` and `__current_to`, `__newest`
        (the newest event time that the version shows), `__current_hash` (null for a version that is
        not current or says deleted), `__current_rest` (hash of the untracked columns),
        `__current_row` if partial records need it, `__current_sequence` if late records are
        rejected or there are added columns, `__current_ingested` and `added_hashes` if there are
        such columns, and `LINE_COLUMNS`.
    """
    names = dict.fromkeys((*contract.keys, *contract.history.delete_scope))
    ended_or_deleted = "NOT _is_current" + (" OR _is_deleted" if marks(contract) else "")
    state = f"if({ended_or_deleted}, NULL, {state_hash(contract, '_valid_from')})"
    rest = row_hash(contract.untracked) if contract.compares_untracked else "0L"
    rows = []
    if contract.history.ignore_null_updates:
        row = f"struct({', '.join(quote(c.name) for c in contract.stored)})"
        rows.append(f"if({state} IS NULL, NULL, {row}) AS __current_row")
    if contract.history.rejects_late or (contract.history.exact and added):
        column = contract.column(contract.history.sequence_by or "")
        rows.append(f"{sequence(column)} AS __current_sequence")
    if contract.history.mode == "scd1" or added:
        rows.append("_ingested_at AS __current_ingested")
    if added:
        rows += added_hashes(contract, added, "__current_")
    if contract.history.mode == "scd1":
        rows.append(f"{tie(contract)} AS __current_tie")
    return versions.selectExpr(
        *[quote(name) for name in names],
        "_valid_from AS __current_from",
        f"{_newest(contract)} AS __newest",
        f"{'_valid_to' if ended else 'CAST(NULL AS timestamp_ntz)'} AS __current_to",
        f"{state} AS __current_hash",
        f"{rest} AS __current_rest",
        *rows,
        *_line_columns(contract),
    )


def added_hashes(contract: Contract, added: Sequence[AddedColumn], prefix: str = "__") -> list[str]:
    """Return the hash of all tracked columns but some, and the hash of each of these (null: 0)."""
    columns = [contract.column(each.name) for each in added]
    each = ", ".join(f"{row_hash([column])} AS {quote(column.name)}" for column in columns)
    return [
        f"_row_hash ^ {row_hash(columns)} AS {prefix}without_added",
        f"struct({each}) AS {prefix}added",
    ]


def _line_columns(contract: Contract) -> list[str]:
    sequence_by, time = contract.history.sequence_by, "_valid_from"
    if sequence_by is not None:
        time = f"greatest(_valid_from, {sequence(contract.column(sequence_by))})"
    return [*DIGEST, f"{time} AS {LINE_COLUMNS[-1]}"]


def _newest(contract: Contract) -> str:
    history = contract.history
    column = contract.column(history.sequence_by) if history.sequence_by else None
    # Before it, the scope of a key may have been another.
    moved = any(c.name in history.delete_scope for c in contract.untracked)
    if (history.late_changes == "exact" and not moved) or column not in contract.untracked:
        return "_valid_from"
    return f"greatest(_valid_from, {sequence(column)})" if contract.overwrites else "_valid_from"


def join_current(
    records: DataFrame, current: DataFrame, contract: Contract, how: str, *, hint: str
) -> DataFrame:
    """Join records to the current row of their key; a full join adds the absent keys.

    Returns:
        Both sides' columns, `__known` (the key has a current row) and `__absent` (no record of it).
    """
    keys = contract.keys
    scope = [name for name in contract.history.delete_scope if name not in keys]
    shown = [name for name in current.columns if name.startswith("__")]
    old_names = {name: quote(f"__old_{name}") for name in (*keys, *scope)}
    old = current.selectExpr(
        *[f"{quote(name)} AS {other}" for name, other in old_names.items()],
        *shown,
        "true AS __known",
    )
    match = " AND ".join(f"{quote(key)} = {old_names[key]}" for key in keys)
    names = [name for name in records.columns if name not in (*keys, *scope)]
    return (
        records.withColumn("__in_batch", F.lit(True))
        .join(old.hint(hint), F.expr(match), how)
        .selectExpr(
            *[f"coalesce({quote(key)}, {old_names[key]}) AS {quote(key)}" for key in keys],
            # The scope of a record may be null.
            *[f"if(__in_batch IS NULL, {old_names[k]}, {quote(k)}) AS {quote(k)}" for k in scope],
            *map(quote, names),
            *shown,
            "__known IS NOT NULL AS __known",
            "__in_batch IS NULL AS __absent",
        )
    )


def with_kind(joined: DataFrame, contract: Contract, extracted: Expression) -> DataFrame:
    """Name what each joined row is by itself; `__kind` is one of the following.

    rejected (a bad record; its key is present), ignored (a delete that is not wanted), same (the
    content of the current row), deleted (absent, and deleted before), past (absent and deleted, but
    perhaps not at the time of an extract that is older than the deletion), absent, candidate.
    """
    since, deleted = F.col("__current_from"), "__absent AND __current_hash IS NULL"
    ended = F.expr("coalesce(__current_to, __current_from)")
    kind = (
        F.when(F.expr(deleted) & (ended > extracted), "past")
        .when(F.expr(deleted) | (F.col("__absent") & (since == extracted)), "deleted")
        .when(F.col("__absent"), "absent")
        .when(F.expr("__fault IS NOT NULL"), "rejected")
        .when(F.expr(f"__deleted AND {contract.history.deletes == 'ignore'}"), "ignored")
        # An older extract held another version than one that began later.
        .when(F.expr(_same(contract)) & _not_before(since, extracted), "same")
        .otherwise("candidate")
    )
    time = F.when(F.col("__absent"), extracted).otherwise(F.col("__event_time"))
    return joined.withColumns(
        {
            "__kind": kind,
            "__deleted": F.coalesce("__deleted", F.lit(True)),
            "__event_time": time,
            "__scope": F.expr(scope_text(contract.history.delete_scope)),
        }
    )


def _not_before(since: Expression, extracted: Expression) -> Expression:
    return F.coalesce((F.col("__event_time") >= since) | (extracted >= since), F.lit(True))


def _same(contract: Contract) -> str:
    if contract.history.ignore_null_updates:
        return "false"
    equal = [f"{record} = {current}" for record, current in compared(contract)]
    return " AND ".join(["NOT __deleted", *equal])


def compared(contract: Contract) -> list[tuple[str, str]]:
    """Return the columns that are equal if a record repeats the current row: of both sides."""
    pairs = [("__digest", "__current_hash")]
    if contract.compares_untracked:
        pairs.append(("__rest", "__current_rest"))
    sequence = contract.history.sequence_by
    renewed = sequence in {c.name for c in contract.untracked} and contract.overwrites
    if sequence and (contract.history.mode == "scd1" or not renewed):
        pairs.append(("__event_time", "__current_from"))
    return pairs
