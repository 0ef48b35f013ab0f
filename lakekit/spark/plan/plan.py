"""What a run would do to a table: its change set, staged and counted. Nothing is committed.

The limits of a contract: what a run may reject and delete, and how late it may come.
"""

from dataclasses import dataclass
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from lakekit.batch import MergeResult, naive_utc
from lakekit.contract.contract import Contract
from lakekit.errors import LateExtractError, TooManyDeletedError, TooManyRejectedError
from lakekit.spark.diff.metrics import ACTS, act_counts, scopes_of
from lakekit.spark.diff.state import Sight
from lakekit.spark.journal import Facts
from lakekit.spark.late.changes import Settled
from lakekit.spark.late.derive import late_keys, settle
from lakekit.spark.plan.journal_entries import remembered
from lakekit.spark.plan.stage import Staged, stage
from lakekit.spark.run import Merge
from lakekit.spark.session.tuning import sent
from lakekit.sql.line_hash import DIGEST
from lakekit.sql.tables import marks


@dataclass(frozen=True)
class Plan:
    """A staged run.

    staged: the rows of keys that move forward only; see `order.resolve`. settled: the versions
    of keys with late changes, see `late.settle`; None if there are none. set_aside: rows that
    are not merged, with `__aside`. said: how many of its rows open nothing; they may renew a
    version, or be remembered. touched: how many keys are staged. alive: how many of them and of
    the settled ones have a current version afterwards. drops: whether versions are written anew.
    closes: how many current versions end of keys that move forward only. growth: how many more
    rows the table has afterwards.
    digests: the lines that current versions show, if the table does not know them. records: those
    among which are all that are not merged, parsed; None if that may be any, or none. scopes: those
    that a full extract holds, where absence counts within them only.
    """

    result: MergeResult
    staged: DataFrame
    settled: Settled | None = None
    set_aside: DataFrame | None = None
    remembered: tuple[DataFrame, ...] = ()
    said: int = 0
    touched: int = 0
    alive: int = 0
    drops: bool = False
    closes: int = 0
    growth: int = 0
    digests: DataFrame | None = None
    records: DataFrame | None = None
    scopes: tuple[str, ...] = ()

    @property
    def rows(self) -> int:
        """How many rows its publishing moves, at most."""
        return self._changes() + self.said

    def empty(self) -> bool:
        """Whether the table stays as it is."""
        return self.digests is None and not (self._changes() or self.drops)

    def _changes(self) -> int:
        settled = self.settled.changes if self.settled else 0
        return self.result.opened + self.result.closed + settled


def plan_merge(merge: Merge, facts: Facts) -> Plan:
    """Stage what a run changes.

    Raises:
        TooManyRejectedError, TooManyDeletedError, LateExtractError: The run is refused.
    """
    contract = merge.contract
    newest = facts.full_extracts[-1].moment if facts.full_extracts else None
    extracted = naive_utc(merge.batch.extraction_time)
    sight = Sight(
        newest_full=newest,
        newest_by_scope=facts.newest_by_scope(),
        scopes_are_said=not contract.history.ignore_null_updates,
        behind=merge.full and facts.exact and merge.ends_ahead(),
        later=tuple(each for each in merge.later if each.is_filled_by(extracted)),
        # A null of a partial record is filled.
        unaware=tuple(e for e in merge.later if not merge.partial and e.is_unknown_to(extracted)),
    )
    staged = stage(merge, sight, facts.deletions())
    refuse(merge, staged.counts)
    n, rows = dict(staged.counts), staged.rows
    keys = late_keys(merge, rows, facts, n) if facts.exact else None
    settled = None
    if keys is not None:
        settled = settle(merge, rows, keys, facts)
        rows = rows.join(keys, list(contract.keys), "left_anti")
        row = rows.agg(*act_counts()).first()
        n |= row.asDict() if row else {}
    late = settled or Settled()
    said = sum(n[act] for act in ACTS if act != "open")
    # What only says what is known is counted as it is read, or as a row.
    n["same"] = 0 if staged.all_rows else n["same"]
    return Plan(
        result=_result(merge, n, late),
        staged=rows.where("__aside IS NULL"),
        settled=settled,
        set_aside=staged.rows.where(F.col("__aside").isin(*_quarantined(contract))),
        remembered=remembered(merge, staged, facts, settled),
        said=said + late.unchanged + late.deletes,
        touched=n["touched"],
        alive=n["alive"] + late.alive,
        drops=bool(n["replaced"]),
        closes=n["closes"],
        growth=_written(contract, n) - _dropped(contract, n) + late.growth,
        digests=_digests(merge, staged) if staged.renewed else None,
        records=staged.records,
        scopes=tuple(scopes_of(staged.counts)),
    )


def _digests(merge: Merge, staged: Staged) -> DataFrame:
    """Return the keys whose current version a line shows, with its digest."""
    same = staged.rows.where("__aside IS NULL AND __kind = 'same'")
    return sent(same.select(*merge.keys, "__since", *DIGEST), staged.counts["same"])


def _written(contract: Contract, n: dict[str, Any]) -> int:
    """Return how many versions staged rows show."""
    passed = n["short"] + n["outdone"] if contract.history.mode == "scd1" else 0
    gone = n["delete"] + n["absences"] if marks(contract) else 0
    return int(n["open"] + n["overwrite"] + gone - passed)


def _dropped(contract: Contract, n: dict[str, Any]) -> int:
    """Return how many current versions are taken out: scd1 keeps none that has ended."""
    ended = n["ends"] if contract.history.mode == "scd1" else 0
    return int(n["replaced"] + ended)


def _quarantined(contract: Contract) -> list[str]:
    """Return which of the records that are set aside go to the quarantine."""
    return ["tie", "late"] if contract.history.late_changes == "quarantine" else ["tie"]


def _result(merge: Merge, n: dict[str, Any], late: Settled) -> MergeResult:
    refused = "late" in _quarantined(merge.contract)
    # What scd1 does not keep of a key: partial records before the last.
    passed = n["short"] if merge.contract.history.mode == "scd1" else 0
    return MergeResult(
        table=merge.table,
        run_id=merge.batch.run_id,
        opened=n["open"] - passed + late.opened,
        closed=n["closes"] + n["short"] - passed + late.closed,
        deleted=n["absences"] + n["delete"] + late.deleted,
        unchanged=n["same"] + n["assert"] + n["overwrite"] + late.unchanged,
        duplicates=n["lost_equal"] + late.lost_equal,
        superseded=n["lost_other"] + passed + late.lost_other + (0 if refused else n["set_aside"]),
        quarantined=n["rejected"] + n["ties"] + (n["set_aside"] if refused else 0),
        deletes=n["delete"] + n["tombstone"] + n["ignored"] + late.deletes,
        restored=late.restored,
    )


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
