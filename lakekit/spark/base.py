"""The versions that records are compared with, narrowed to what that needs. No actions."""

from collections.abc import Sequence

from pyspark.sql import DataFrame

from lakekit.contracts import Contract
from lakekit.spark.records import sequence, tie
from lakekit.spark.scopes import scope_text
from lakekit.sql.identifiers import quote
from lakekit.sql.later import Later
from lakekit.sql.line_hash import DIGEST
from lakekit.sql.row_hash import row_hash, state_hash
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
    rest = row_hash(contract.untracked) if compares_untracked(contract) else "0L"
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
    return f"greatest(_valid_from, {sequence(column)})" if overwrites(contract) else "_valid_from"


def compares_untracked(contract: Contract) -> bool:
    """Whether they tell apart what is known: where they are ignored, only of two at one moment."""
    return overwrites(contract) or (contract.history.exact and bool(contract.untracked))


def overwrites(contract: Contract) -> bool:
    """Whether untracked columns are renewed in place."""
    return contract.history.untracked == "overwrite" and bool(contract.untracked)
