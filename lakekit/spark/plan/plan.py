"""What a run would do to a table: its change set, staged and counted. Nothing is committed."""

from dataclasses import dataclass, replace

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from lakekit.batch import MergeMetrics
from lakekit.contract.contract import Contract
from lakekit.errors import LateExtractError, TooManyDeletedError, TooManyRejectedError
from lakekit.spark.diff.lateness import LATE
from lakekit.spark.diff.metrics import Counts, action_counts, has_null_key
from lakekit.spark.journal import Journal
from lakekit.spark.late.changes import Rederived
from lakekit.spark.late.derive import late_keys, rederive
from lakekit.spark.plan.journal_entries import journal_entries
from lakekit.spark.plan.stage import Staged, stage
from lakekit.spark.read.reasons import first_rejected, name_lines
from lakekit.spark.run import MergeRun, NoPassError
from lakekit.spark.session.tuning import broadcast_if_small
from lakekit.sql.line_hash import DIGEST
from lakekit.sql.tables import marks


@dataclass(frozen=True)
class Plan:
    """A staged run.

    metrics: what it will have done. staged: the rows of keys that move forward only; see
    `order.resolve`. rederived: the versions of keys with late changes; see `late.derive`.
    rejected_late: rows that go to the quarantine as late. journal: entries for the change journal.
    repeated: how many rows open nothing; they may renew a version, or go to the journal. touched:
    how many keys are staged. current_after: how many of them, and of the re-derived ones, have a
    current version afterwards. rewrites: whether current versions are written again. closes: how
    many current versions end of keys that move forward only. growth: how many more rows the table
    has afterwards. digests: the lines that current versions show, if they are to be written.
    records: parsed records among which all rejected ones are; None if these may be any. scopes:
    those of a full extract, where absence counts within them only.
    """

    metrics: MergeMetrics
    staged: DataFrame
    rederived: Rederived | None = None
    rejected_late: DataFrame | None = None
    journal: tuple[DataFrame, ...] = ()
    repeated: int = 0
    touched: int = 0
    current_after: int = 0
    rewrites: bool = False
    closes: int = 0
    growth: int = 0
    digests: DataFrame | None = None
    records: DataFrame | None = None
    scopes: tuple[str, ...] = ()

    @property
    def rows(self) -> int:
        """How many rows its publishing moves, at most."""
        return self._changes() + self.repeated

    def is_empty(self) -> bool:
        """Whether the table stays as it is."""
        return self.digests is None and not (self._changes() or self.rewrites)

    def _changes(self) -> int:
        late = self.rederived.changes if self.rederived else 0
        return self.metrics.opened + self.metrics.closed + late


def plan_merge(run: MergeRun, journal: Journal) -> Plan:
    """Stage what a run changes.

    Raises:
        TooManyRejectedError, TooManyDeletedError, LateExtractError: The run is refused.
    """
    contract, extracts = run.contract, journal.full_extracts
    state = replace(
        run.state,
        newest_full=extracts[-1].time if extracts else None,
        behind=run.full and journal.exact and run.state.ends_after(run.extracted),
    )
    run = replace(run, state=state)
    staged = stage(run, journal.deletions())
    n, rows = staged.counts, staged.rows
    _refuse(run, n)
    keys = late_keys(run, rows, journal, n) if journal.exact else None
    late = None
    if keys is not None:
        late = rederive(run, rows, keys, journal)
        rows = rows.join(keys, list(contract.keys), "left_anti")
        row = rows.agg(*action_counts()).first()
        n = n.updated(row.asDict() if row else {})
    found = late or Rederived()
    # An unchanged record is counted as it is read, or as a row.
    n = replace(n, same=0) if staged.all_rows else n
    repeated = n.overwrite + n.assert_ + n.delete + n.tombstone
    return Plan(
        metrics=_metrics(contract, n, found),
        staged=rows.where("__reject_reason IS NULL"),
        rederived=late,
        rejected_late=_quarantined(contract, staged.rows),
        journal=journal_entries(run, staged, journal, late),
        repeated=repeated + found.unchanged + found.deletes,
        touched=n.touched,
        current_after=n.current_after + found.current,
        rewrites=bool(n.rewritten),
        closes=n.closes,
        growth=_written(contract, n) - _dropped(contract, n) + found.growth,
        digests=_digests(run, staged) if staged.renews else None,
        records=staged.records,
        scopes=staged.counts.scopes,
    )


def _quarantined(contract: Contract, rows: DataFrame) -> DataFrame | None:
    """Return the late rows that go to the quarantine."""
    if contract.history.late_changes != "quarantine":
        return None
    return rows.where(F.col("__reject_reason") == LATE)


def _digests(run: MergeRun, staged: Staged) -> DataFrame:
    """Return the keys whose current version a line shows, with its digest."""
    same = staged.rows.where("__reject_reason IS NULL AND __kind = 'same'")
    return broadcast_if_small(same.select(*run.keys, "__current_from", *DIGEST), staged.counts.same)


def _written(contract: Contract, n: Counts) -> int:
    """Return how many versions staged rows write."""
    passed = n.short + n.outdone if contract.history.mode == "scd1" else 0
    deletions = n.delete + n.absences if contract.history.deletes == "mark" else 0
    return n.open + n.overwrite + deletions - passed


def _dropped(contract: Contract, n: Counts) -> int:
    """Return how many current versions are removed: scd1 keeps none that has ended."""
    return n.rewritten + (n.ends if contract.history.mode == "scd1" else 0)


def _metrics(contract: Contract, n: Counts, late: Rederived) -> MergeMetrics:
    quarantined = n.rejected_late if contract.history.late_changes == "quarantine" else 0
    # scd1 keeps only the last of several records of a key, and none that a deletion follows.
    latest = contract.history.mode == "scd1"
    passed = n.short if latest else 0
    marked = n.short_deletions if marks(contract) else 0
    return MergeMetrics(
        opened=n.open - passed + late.opened,
        closed=n.closes + n.short + marked - passed + late.closed,
        deleted=(n.deleted if latest else n.absences + n.delete) + late.deleted,
        unchanged=n.same + n.assert_ + n.overwrite + late.unchanged,
        duplicates=n.lost_equal + late.lost_equal,
        superseded=n.lost_other + passed + late.lost_other + n.rejected_late - quarantined,
        quarantined=n.rejected + quarantined,
        deletes=n.delete + n.tombstone + n.ignored + late.deletes,
        restored=late.restored,
    )


def refuse_rejected(run: MergeRun, n: Counts) -> None:
    """Raise if more records are rejected than the contract allows, or one has a null in its key.

    The error names the first of them. What a pass rejects is judged landing by landing.
    """
    name = f"run {run.batch.run_id}"
    if run.landings and n.rejected:
        raise NoPassError
    if n.null_keys and run.contract.history.null_keys == "fail":
        first = first_rejected(run, has_null_key(run.contract))
        raise TooManyRejectedError(
            f"{run.table}: {n.null_keys} records of {name} have a null in their key, and "
            f"history.null_keys is fail: {name_lines(first)}",
            first,
        )
    allowed = run.contract.quality.max_rejected_ratio
    if n.rejected > allowed * n.records and not run.batch.approved:
        first = first_rejected(run)
        raise TooManyRejectedError(
            f"{run.table}: {n.rejected} of {n.records} records of {name} break the contract, and "
            f"quality.max_rejected_ratio allows {allowed}: {name_lines(first)}",
            first,
        )


def _refuse(run: MergeRun, n: Counts) -> None:
    """Raise if the counters break one of the contract's limits."""
    contract, batch, table = run.contract, run.batch, run.table
    history, name = contract.history, f"run {batch.run_id}"
    refuse_rejected(run, n)
    deletes = batch.extract == "full" and history.deletes != "ignore"
    absent = n.absent - n.late_absent if deletes else 0
    existing = n.undeleted if deletes else 0
    if absent > history.max_deleted_ratio * existing and not batch.approved:
        where = " of its scopes" if history.delete_scope else ""
        raise TooManyDeletedError(
            f"{table}: {name} would close {absent} of {existing} current keys{where}; "
            f"history.max_deleted_ratio allows {history.max_deleted_ratio}"
        )
    if n.late and history.sequence_by is None:
        raise LateExtractError(
            f"{table}: {n.late} keys of {name} have versions that start at or after its "
            f"extraction time {batch.extraction_time.isoformat()}"
        )
