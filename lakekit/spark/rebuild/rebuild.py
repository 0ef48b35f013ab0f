"""Rebuild: derive a table again from its landed runs, and publish what comes out.

The table has one commit; its change journal, if there is one, has its own before it.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import groupby

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from lakekit import layout
from lakekit.batch import Batch
from lakekit.contract.contract import Contract
from lakekit.errors import CommitConflictError, InvalidStepInputError, LandingCorruptError
from lakekit.layout import branch_name
from lakekit.models import Model
from lakekit.replay.merged_runs import MergedRun
from lakekit.spark.iceberg.baseline import Baseline, take_baseline
from lakekit.spark.iceberg.branch import branch_of, drop_branch
from lakekit.spark.iceberg.published_runs import published_runs
from lakekit.spark.iceberg.table import change_properties, commits_of, load_table, properties_of
from lakekit.spark.merge_scd2 import merge_landings
from lakekit.spark.rebuild.replace import Replacement, difference, publish_replacement
from lakekit.spark.rebuild.shadow import (
    drop_shadow,
    evolve_shadow,
    hand_over,
    refuse_missed_renamings,
)
from lakekit.spark.schema.create_tables import create_or_evolve
from lakekit.spark.schema.describe import columns_of
from lakekit.sql.identifiers import quote_table
from lakekit.sql.line_hash import DIGEST
from lakekit.sql.renames import renamings
from lakekit.sql.tables import ARRIVAL, create_journal_table
from lakekit.table_properties import LINE_DIGESTS, line_digests


@dataclass(frozen=True)
class Scope:
    """What is published: all, the versions that held at or after a time, or those of keys.

    baseline: the table before its runs were read; nothing is published if it has changed since.
    Without it that is when the rebuild begins.
    """

    since: datetime | None = None
    keys: DataFrame | None = None
    baseline: Baseline | None = None


class RebuildResult(Model):
    """What a rebuild did. missing: rows that the table lacked. wrong: rows it should not have.

    journal_missing, journal_wrong: the same of its change journal, which has a commit of its own.
    """

    table: str
    runs: int
    missing: int
    wrong: int
    journal_missing: int = 0
    journal_wrong: int = 0
    snapshot_id: int | None = None
    committed: bool = False


def rebuild_table(
    spark: SparkSession,
    contract: Contract,
    runs: Sequence[MergedRun],
    table: str,
    *,
    staging: str,
    scope: Scope | None = None,
) -> RebuildResult:
    """Replay all runs into a shadow table and put its rows in the place of the table's.

    Args:
        spark: A session whose catalog holds the table.
        contract: The table's contract today; it may be newer than that of the last run.
        runs: All runs of the table, in the order in which they were merged.
        table: Its identifier; it is made if it is absent.
        staging: Folder for change sets, an address that Spark writes.
        scope: What is published; all of it if absent.

    Raises:
        LandingCorruptError: The table shows a run that is not given.
        InvariantViolatedError: The table is wrong outside the scope too; nothing was published.
        CommitConflictError: A run was merged meanwhile, or the properties of the table's columns
            were changed; nothing was published.
        SchemaMismatchError: The contracts of the runs lack a renaming; nothing was published.
    """
    scope = scope or Scope()
    baseline, properties = None, dict[str, str]()
    if spark.catalog.tableExists(table):
        # Before anything is read of it: a change after that stops the publishing.
        now = _evolved(spark, [contract], table)
        baseline = scope.baseline or now
        loaded = load_table(spark, table)
        if not baseline.is_unchanged(spark, loaded):
            raise _moved(table)
        properties = properties_of(loaded)
    steps = renamings(properties)
    _check(spark, runs, table, scope)
    shadow = drop_shadow(spark, table)
    try:
        for together in _as_merged(runs):
            promise = evolve_shadow(spark, together[0].contract, table, shadow, steps)
            landings = [run.batch for run in together]
            for _ in merge_landings(spark, promise, landings, shadow, staging=staging):
                pass
        evolve_shadow(spark, contract, table, shadow, steps)
        refuse_missed_renamings(spark, contract, table, shadow, steps)
        if baseline is None:
            # By each contract in turn, so that its columns have the order that they had.
            baseline = _evolved(spark, [*(run.contract for run in runs), contract], table)
            properties = properties_of(load_table(spark, table))
        if baseline.head is None and not hand_over(spark, shadow, table, properties):
            raise _moved(table)
        return _publish(spark, contract, runs, baseline, scope=scope)
    finally:
        drop_shadow(spark, table)


def _as_merged(runs: Sequence[MergedRun]) -> Iterator[list[MergedRun]]:
    """Yield the runs of each pass together, the others alone, in their order."""
    for (pass_id, _), found in groupby(runs, lambda run: (run.pass_id, run.contract)):
        together = [*found]
        yield from [together] if pass_id else ([run] for run in together)


def _moved(table: str) -> CommitConflictError:
    return CommitConflictError(
        f"{table}: a run was merged meanwhile, or its columns were changed; rebuild again"
    )


def _evolved(spark: SparkSession, contracts: Sequence[Contract], table: str) -> Baseline:
    """Bring a table to contracts, one after the other, and return its baseline."""
    for contract in contracts:
        create_or_evolve(spark, contract, table)
    return take_baseline(spark, contracts[-1], table)


def _check(spark: SparkSession, runs: Sequence[MergedRun], table: str, scope: Scope) -> None:
    """Refuse what cannot be rebuilt."""
    if not runs:
        raise LandingCorruptError(f"{table}: no merged run in the landing")
    if scope.since is not None and runs[-1].contract.history.mode == "append":
        raise InvalidStepInputError(f"{table}: mode append has no validity; rebuild all of it")
    known = {run.batch.run_id for run in runs}
    seen = published_runs(spark, table) if spark.catalog.tableExists(table) else {}
    lost = sorted(seen.keys() - known)
    if lost:
        named = ", ".join(lost[:5])
        raise LandingCorruptError(
            f"{table}: {len(lost)} runs of its history are not in the landing: {named}"
        )


def _publish(
    spark: SparkSession,
    contract: Contract,
    runs: Sequence[MergedRun],
    baseline: Baseline,
    *,
    scope: Scope,
) -> RebuildResult:
    """Publish the journal, then the table: an entry is true before a version shows its effect."""
    table, batches = baseline.table, [run.batch for run in runs]
    *_, shadow = layout.shadow_tables(table)
    result = RebuildResult(table=table, runs=len(runs), missing=0, wrong=0)
    source = layout.journal_table(shadow)
    if baseline.journal and spark.catalog.tableExists(source):
        spark.sql(create_journal_table(contract, baseline.journal, columns_of(spark, table)))
        have = spark.table(quote_table(baseline.journal))
        rows = spark.table(quote_table(source)).to(have.schema)
        rows = _arrived_before(spark, rows, source)
        rows = rows.unionByName(_of_runs_in_progress(have, baseline, batches))
        new = Replacement(contract, rows, tuple(batches), keys=scope.keys)
        # Entries are a set: a run that came again has appended them again.
        missing, wrong = difference(have, new, once=True)
        update = {"journal_missing": missing, "journal_wrong": wrong}
        result = result.model_copy(update=update)
        if missing or wrong:
            at = Baseline(baseline.journal, baseline.journal_head)
            baseline = replace(baseline, journal_head=_replaced(spark, new, at))
    have = spark.table(quote_table(table))
    rows = spark.table(quote_table(shadow)).drop(*DIGEST).to(have.schema)
    new = Replacement(contract, rows, tuple(batches), since=scope.since, keys=scope.keys)
    missing, wrong = difference(have, new)
    result = result.model_copy(update={"missing": missing, "wrong": wrong})
    if missing or wrong:
        # The next full extract computes the digests of its lines.
        change_properties(spark, table, _without_digests)
        head = _replaced(spark, new, baseline)
        result = result.model_copy(update={"snapshot_id": head, "committed": True})
    for branch in baseline.in_progress & _branches(batches):
        # The journal entries of these runs are rebuilt.
        drop_branch(spark, table, branch)
    return result


def _replaced(spark: SparkSession, new: Replacement, baseline: Baseline) -> int:
    """Publish a replacement and return the new head; raise if the table has changed."""
    head = publish_replacement(spark, new, baseline)
    if head is None:
        raise _moved(baseline.table)
    return head


def _without_digests(properties: Mapping[str, str]) -> dict[str, str]:
    """Return the property of a table whose versions have no digests of lines."""
    return LINE_DIGESTS.write(line_digests(properties).model_copy(update={"fingerprint": None}))


def _arrived_before(spark: SparkSession, entries: DataFrame, source: str) -> DataFrame:
    """Let rebuilt entries have arrived before all that other runs will append, in their order."""
    after = 2 * commits_of(load_table(spark, source))
    return entries.withColumn(ARRIVAL, F.col(ARRIVAL) - after)


def _of_runs_in_progress(
    entries: DataFrame, baseline: Baseline, rebuilt: Sequence[Batch]
) -> DataFrame:
    """Return the entries of runs in progress that are not rebuilt."""
    others = baseline.in_progress - _branches(rebuilt)
    return entries.where(branch_of(F.col("_run_id")).isin([*others]))


def _branches(batches: Sequence[Batch]) -> set[str]:
    return {branch_name(batch.run_id) for batch in batches}
