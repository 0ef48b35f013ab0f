"""The limits of a contract: what a run may reject and delete, and how late it may come."""

from typing import Any

from lakekit.errors import LateExtractError, TooManyDeletedError, TooManyRejectedError
from lakekit.spark.context import Merge


def refuse_rejected(merge: Merge, n: dict[str, Any]) -> None:
    """Raise if too many records are `rejected` of `all`, with one `fault` of them.

    `null_keys` are how many have a null in their key, which the contract may not suffer at all.
    """
    if n["null_keys"] and merge.contract.history.null_keys == "fail":
        raise TooManyRejectedError(
            f"{merge.table}: {n['null_keys']} records of run {merge.batch.run_id} have a null in "
            "their key, and history.null_keys is fail"
        )
    allowed = merge.contract.quality.max_rejected_ratio
    if n["rejected"] > allowed * n["all"]:
        raise TooManyRejectedError(
            f"{merge.table}: {n['rejected']} of {n['all']} records of run {merge.batch.run_id} "
            f"break the contract (one fault: {n['fault']}); quality.max_rejected_ratio allows "
            f"{allowed}"
        )


def refuse(merge: Merge, n: dict[str, Any]) -> None:
    """Raise if the counts break one of the contract's limits."""
    contract, batch, table = merge.contract, merge.batch, merge.table
    history, run = contract.history, f"run {batch.run_id}"
    refuse_rejected(merge, n)
    deletes = batch.extract == "full" and history.deletes != "ignore"
    absent = n["absent"] - n["late_absent"] if deletes else 0
    existing = n["based_alive"] if deletes else 0
    if absent > history.max_deleted_ratio * existing:
        where = " of its scopes" if history.delete_scope else ""
        raise TooManyDeletedError(
            f"{table}: {run} would close {absent} of {existing} current keys{where}; "
            f"history.max_deleted_ratio allows {history.max_deleted_ratio}"
        )
    if n["late"] and history.sequence_by is None:
        raise LateExtractError(
            f"{table}: {n['late']} keys of {run} have versions that start at or after its "
            f"extraction time {batch.extraction_time.isoformat()}"
        )
