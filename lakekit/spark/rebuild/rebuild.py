"""Rebuild: derive a table again from its landed runs, and publish what comes out.

The table has one commit; its companion, if there is one, has its own before it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from lakekit import layout
from lakekit.batch import Batch
from lakekit.contract.contract import Contract
from lakekit.errors import CommitConflictError, InvalidStepInputError, LandingCorruptError
from lakekit.layout import branch_name
from lakekit.models import Model
from lakekit.spark.iceberg.baseline import Pin, pin
from lakekit.spark.iceberg.branch import branch_of, drop_branch
from lakekit.spark.iceberg.published_runs import published_runs
from lakekit.spark.iceberg.table import commits_of, load_table, properties_of
from lakekit.spark.journal import Facts
from lakekit.spark.merge_scd2 import merge_scd2
from lakekit.spark.rebuild.replace import Replacement, difference, publish_replacement
from lakekit.spark.rebuild.shadow import (
    drop_shadow,
    evolve_shadow,
    hand_over,
    refuse_missed_renamings,
)
from lakekit.spark.run import Merge
from lakekit.spark.schema.create_tables import create_or_evolve
from lakekit.spark.schema.describe import columns_of
from lakekit.sql.identifiers import quote_table
from lakekit.sql.line_hash import DIGEST, LINES
from lakekit.sql.renames import renamings
from lakekit.sql.tables import ARRIVED, create_facts_table, set_properties


@dataclass(frozen=True)
class Run:
    """A merged run: its contract as it was then, and its landed records."""

    contract: Contract
    batch: Batch


@dataclass(frozen=True)
class Scope:
    """What is published: all, the versions that held at or after a moment, or those of keys.

    seen: what the table was before it was asked which runs it has; nothing is published if it has
    moved since. Without it that is when the rebuild begins.
    """

    since: datetime | None = None
    keys: DataFrame | None = None
    seen: Pin | None = None


class RebuildResult(Model):
    """What a rebuild did. missing: rows that the table lacked. wrong: rows it should not have.

    facts_missing, facts_wrong: the same of its companion, which has a commit of its own.
    """

    table: str
    runs: int
    missing: int
    wrong: int
    facts_missing: int = 0
    facts_wrong: int = 0
    snapshot_id: int | None = None
    committed: bool = False


def rebuild_table(
    spark: SparkSession,
    contract: Contract,
    runs: Sequence[Run],
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
        LandingCorruptError: The table has seen a run that is not given.
        InvariantViolatedError: The table is wrong outside the scope too; nothing was published.
        CommitConflictError: A run was merged meanwhile, or what the table knows of its columns was
            changed; nothing was published.
        SchemaMismatchError: The runs do not tell what a column was called; nothing was published.
    """
    scope = scope or Scope()
    seen, notes = None, dict[str, str]()
    if spark.catalog.tableExists(table):
        # Before anything is read of it: what moves it afterwards stops the publishing.
        now = _evolved(spark, [contract], table)
        seen = scope.seen or now
        known = load_table(spark, table)
        if not seen.stands(spark, known):
            raise _moved(table)
        notes = properties_of(known)
    steps = renamings(notes)
    _check(spark, runs, table, scope)
    shadow = drop_shadow(spark, table)
    try:
        for run in runs:
            promise = evolve_shadow(spark, run.contract, table, shadow, steps)
            merge_scd2(spark, promise, run.batch, shadow, staging=staging)
        evolve_shadow(spark, contract, table, shadow, steps)
        refuse_missed_renamings(spark, contract, table, shadow, steps)
        if seen is None:
            # It grows as it did before: the order of its columns tells.
            seen = _evolved(spark, [*(run.contract for run in runs), contract], table)
            notes = properties_of(load_table(spark, table))
        if seen.head is None and not hand_over(spark, shadow, table, notes):
            raise _moved(table)
        return _publish(spark, contract, runs, seen, scope=scope)
    finally:
        drop_shadow(spark, table)


def _moved(table: str) -> CommitConflictError:
    return CommitConflictError(
        f"{table}: a run was merged meanwhile, or its columns were changed; rebuild again"
    )


def _evolved(spark: SparkSession, contracts: Sequence[Contract], table: str) -> Pin:
    """Bring a table to contracts, one after the other, and pin it."""
    for contract in contracts:
        create_or_evolve(spark, contract, table)
    return pin(spark, contracts[-1], table)


def _check(spark: SparkSession, runs: Sequence[Run], table: str, scope: Scope) -> None:
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
    spark: SparkSession, contract: Contract, runs: Sequence[Run], seen: Pin, *, scope: Scope
) -> RebuildResult:
    """Publish the companion, then the table: a fact that no version shows yet is true already."""
    table, batches = seen.table, [run.batch for run in runs]
    *_, shadow = layout.shadow_tables(table)
    result = RebuildResult(table=table, runs=len(runs), missing=0, wrong=0)
    facts = Facts(Merge(spark, contract, batches[-1], shadow, ""))
    pairs = [(table, shadow, scope)]
    if facts.exists and seen.companion:
        spark.sql(create_facts_table(contract, seen.companion, columns_of(spark, table)))
        pairs.insert(0, (seen.companion, facts.name, Scope(keys=scope.keys)))
    for target, source, within in pairs:
        have = spark.table(quote_table(target))
        rows = spark.table(quote_table(source)).drop(*DIGEST).to(have.schema)
        if target == seen.companion:
            rows = _arrived_before(spark, rows, source)
            rows = rows.unionByName(_told_under_way(have, seen, batches))
        new = Replacement(contract, rows, tuple(batches), since=within.since, keys=within.keys)
        # Facts are a set: a run that came again has told them again.
        missing, wrong = difference(have, new, once=target == seen.companion)
        prefix = "" if target == table else "facts_"
        counts = {f"{prefix}missing": missing, f"{prefix}wrong": wrong}
        result = result.model_copy(update=counts)
        if not missing and not wrong:
            continue
        if target == table:
            # Which lines its versions show is told by the next full extract.
            spark.sql(set_properties(table, {LINES: ""}))
        at = seen if target == table else Pin(target, seen.companion_head)
        head = publish_replacement(spark, new, at)
        if head is None:
            raise _moved(target)
        if target == table:
            result = result.model_copy(update={"snapshot_id": head, "committed": True})
        else:
            seen = replace(seen, companion_head=head)
    for branch in seen.under_way & _branches(batches):
        # What it has told is what is rebuilt.
        drop_branch(spark, table, branch)
    return result


def _arrived_before(spark: SparkSession, facts: DataFrame, source: str) -> DataFrame:
    """Let facts of a companion have arrived before all that others will tell, in their order."""
    after = 2 * commits_of(load_table(spark, source))
    return facts.withColumn(ARRIVED, F.col(ARRIVED) - after)


def _told_under_way(facts: DataFrame, seen: Pin, rebuilt: Sequence[Batch]) -> DataFrame:
    """Return what runs have told that have not ended yet."""
    others = seen.under_way - _branches(rebuilt)
    return facts.where(branch_of(F.col("_run_id")).isin([*others]))


def _branches(batches: Sequence[Batch]) -> set[str]:
    return {branch_name(batch.run_id) for batch in batches}
