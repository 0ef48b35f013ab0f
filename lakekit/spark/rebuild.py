"""Rebuild: derive a table again from its landed runs, and publish what comes out in one commit."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from lakekit import layout
from lakekit.batch import Batch
from lakekit.contracts import Contract
from lakekit.errors import CommitConflictError, InvalidStepInputError, LandingCorruptError
from lakekit.models import Model
from lakekit.spark.branch import branch_name, branch_of, drop_branch
from lakekit.spark.context import Merge
from lakekit.spark.evidence import published_runs
from lakekit.spark.facts import Facts
from lakekit.spark.iceberg import table_property
from lakekit.spark.pin import Pin, pin
from lakekit.spark.replace import Replacement, difference, publish_replacement
from lakekit.spark.scd2 import merge_scd2
from lakekit.spark.tables import create_or_evolve
from lakekit.sql.identifiers import quote_table
from lakekit.sql.tables import create_facts_table

SHADOW_OF = "lakekit.shadow-of"


@dataclass(frozen=True)
class Run:
    """A merged run: its contract as it was then, and its landed records."""

    contract: Contract
    batch: Batch


@dataclass(frozen=True)
class Scope:
    """What is published: all, the versions that held at or after a moment, or those of keys."""

    since: datetime | None = None
    keys: DataFrame | None = None


class RebuildResult(Model):
    """What a rebuild did. missing: rows that the table lacked. wrong: rows it should not have."""

    table: str
    runs: int
    missing: int
    wrong: int
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
        CommitConflictError: A run was merged meanwhile; nothing was published.
    """
    scope = scope or Scope()
    exists = spark.catalog.tableExists(table)
    # Before anything is read of it: what moves it afterwards stops the publishing.
    seen = _evolved(spark, [contract], table) if exists else None
    _check(spark, runs, table, scope)
    shadow = _drop_shadow(spark, table)
    try:
        for run in runs:
            marked = _marked(run.contract, table)
            create_or_evolve(spark, marked, shadow)
            merge_scd2(spark, marked, run.batch, shadow, staging=staging)
        create_or_evolve(spark, _marked(contract, table), shadow)
        if seen is None:
            # It grows as it did before: the order of its columns tells.
            seen = _evolved(spark, [*(run.contract for run in runs), contract], table)
        return _publish(spark, contract, runs, seen, scope=scope)
    finally:
        _drop_shadow(spark, table)


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
    spark: SparkSession,
    contract: Contract,
    runs: Sequence[Run],
    seen: Pin,
    *,
    scope: Scope,
) -> RebuildResult:
    """Publish the companion, then the table: a fact that no version shows yet is true already."""
    table, batches = seen.table, [run.batch for run in runs]
    *_, shadow = layout.shadow_tables(table)
    result = RebuildResult(table=table, runs=len(runs), missing=0, wrong=0)
    facts = Facts(Merge(spark, contract, batches[-1], shadow, ""))
    pairs = [(table, shadow, scope)]
    if facts.exists and seen.companion:
        spark.sql(create_facts_table(contract, seen.companion))
        pairs.insert(0, (seen.companion, facts.name, Scope(keys=scope.keys)))
    for target, source, within in pairs:
        have = spark.table(quote_table(target))
        rows = spark.table(quote_table(source)).to(have.schema)
        if target == seen.companion:
            rows = rows.unionByName(_told_under_way(have, seen, batches))
        new = Replacement(contract, rows, tuple(batches), since=within.since, keys=within.keys)
        missing, wrong = difference(have, new)
        if target == table:
            result = result.model_copy(update={"missing": missing, "wrong": wrong})
        if not missing and not wrong:
            continue
        at = seen if target == table else Pin(target, seen.companion_head)
        head = publish_replacement(spark, new, at)
        if head is None:
            raise CommitConflictError(f"{target}: a run was merged meanwhile; rebuild again")
        if target == table:
            result = result.model_copy(update={"snapshot_id": head, "committed": True})
        else:
            seen = replace(seen, companion_head=head)
    for branch in seen.under_way & _branches(batches):
        # What it has told is what is rebuilt.
        drop_branch(spark, table, branch)
    return result


def _told_under_way(facts: DataFrame, seen: Pin, rebuilt: Sequence[Batch]) -> DataFrame:
    """Return what runs have told that have not ended yet."""
    others = seen.under_way - _branches(rebuilt)
    return facts.where(branch_of(F.col("_run_id")).isin([*others]))


def _branches(batches: Sequence[Batch]) -> set[str]:
    return {branch_name(batch.run_id) for batch in batches}


def _marked(contract: Contract, table: str) -> Contract:
    """Return the contract of a shadow, which says whose shadow it is."""
    properties = {
        **contract.table.properties,
        SHADOW_OF: table,
        # PURGE looks for every metadata file that was ever written.
        "write.metadata.delete-after-commit.enabled": "false",
    }
    shadowed = contract.table.model_copy(update={"properties": properties})
    return contract.model_copy(update={"table": shadowed})


def _drop_shadow(spark: SparkSession, table: str) -> str:
    """Drop a shadow with its companions, one that a crash left behind too; return its name."""
    names = layout.shadow_tables(table)
    *_, shadow = names
    if not spark.catalog.tableExists(shadow):
        return shadow
    if table_property(spark, shadow, SHADOW_OF) != table:
        raise InvalidStepInputError(f"{shadow}: is there and is no shadow of {table}; rename it")
    for name in names:
        spark.sql(f"DROP TABLE IF EXISTS {quote_table(name)} PURGE")
    return shadow


def read_keys(spark: SparkSession, contract: Contract, file: str) -> DataFrame:
    """Read natural keys, one JSON object per line.

    Raises:
        InvalidStepInputError: A key lacks a column or does not parse, or the table has no keys.
    """
    if not contract.keys:
        raise InvalidStepInputError(f"{contract.contract}: has no keys; rebuild all of it")
    fields = ", ".join(f"`{key}` {contract.column(key).type}" for key in contract.keys)
    options = {"mode": "PERMISSIVE", "timeZone": "UTC"}
    keys = spark.read.schema(fields).options(**options).json(file).distinct()
    bad = F.lit(False)
    for key in contract.keys:
        bad = bad | F.col(f"`{key}`").isNull()
    if not keys.take(1) or keys.where(bad).take(1):
        raise InvalidStepInputError(
            f"{file}: each line must be a JSON object with {', '.join(contract.keys)}"
        )
    return keys
