"""MaintainTables: compaction, manifests, snapshots, orphan files; each only when health asks."""

from collections.abc import Callable
from datetime import datetime, timedelta
from itertools import takewhile

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from lakekit import layout
from lakekit.batch import naive_utc
from lakekit.contract.contract import Contract
from lakekit.errors import CommitConflictError
from lakekit.health import SMALL, Health, Maintained
from lakekit.spark.session.session import IN_UTC, session_settings
from lakekit.sql import maintenance as sql
from lakekit.sql.identifiers import quote_table

# A longer job than this would lose files that it has written but not committed.
ORPHAN_AGE = timedelta(days=3)
MANY_MANIFESTS = 100
ATTEMPTS = 5
# Iceberg's errors if another commit came since it planned: for files, and for manifests.
_CONFLICTS = ("CommitFailedException", "could not be found in the latest snapshot")


def maintain_with_journal(
    spark: SparkSession, contract: Contract, table: str, *, now: datetime
) -> tuple[Maintained, ...]:
    """Maintain a table, and its journal and quarantine where they exist."""
    derived = (layout.journal_table(table), layout.quarantine_table(table))
    present = [name for name in derived if spark.catalog.tableExists(name)]
    return tuple(maintain_table(spark, contract, name, now=now) for name in (table, *present))


def maintain_table(
    spark: SparkSession, contract: Contract, table: str, *, now: datetime
) -> Maintained:
    """Run what the table's health asks for, in the order that leaves least behind.

    If a run commits meanwhile, an action that conflicts with it is dropped: health is measured and
    planned again. `actions` are those that were done.

    Args:
        spark: A session whose catalog holds the table.
        contract: Whose `maintenance` section sets the thresholds.
        table: Identifier of the table.
        now: What ages of snapshots and files are measured against; aware.

    Raises:
        CommitConflictError: Others wrote during each of five attempts; what was done stays done.
    """
    statements = _statements(contract, table, now)
    before = after = table_health(spark, contract, table, now=now)
    done: list[str] = []
    for _ in range(ATTEMPTS):
        planned = _planned(contract, after)
        ran = list(takewhile(lambda action: _committed(spark, statements[action]()), planned))
        done += ran
        if planned:
            after = table_health(spark, contract, table, now=now)
        if ran == planned:
            return Maintained(table=table, actions=tuple(done), before=before, after=after)
    raise CommitConflictError(f"{table}: others wrote {ATTEMPTS} times during maintenance")


def table_health(spark: SparkSession, contract: Contract, table: str, *, now: datetime) -> Health:
    """Measure a table by its metadata tables."""
    name, limits = quote_table(table), contract.maintenance
    small = int(SMALL * limits.target_file_size_mb * 1024 * 1024)
    rows = spark.table(f"{name}.files")
    # A table without partitions has no such column.
    place = [column for column in ("content", "partition") if column in rows.columns]
    counts = (
        F.count("*").alias("n"),
        F.count_if(F.col("file_size_in_bytes") < small).alias("small"),
    )
    files = rows.groupBy(*place).agg(*counts).collect()
    edge = (now - timedelta(days=limits.snapshots.max_age_days)).timestamp() * 1_000_000
    commits = f"SELECT unix_micros(committed_at) AS at FROM {name}.snapshots"
    ages = [row["at"] < edge for row in spark.sql(commits).collect()]
    return Health(
        data_files=sum(row["n"] for row in files if row["content"] == 0),
        small_files=max((row["small"] for row in files if row["content"] == 0), default=0),
        delete_files=sum(row["n"] for row in files if row["content"] != 0),
        manifests=spark.sql(f"SELECT 1 FROM {name}.manifests").count(),
        snapshots=len(ages),
        expirable=min(sum(ages), max(0, len(ages) - limits.snapshots.min_to_keep)),
    )


def _committed(spark: SparkSession, statement: str) -> bool:
    """Run a procedure; False if another commit conflicts with it."""
    try:
        with session_settings(spark, IN_UTC):
            spark.sql(statement).collect()
    except (Py4JJavaError, PySparkException) as error:
        if any(reason in str(error) for reason in _CONFLICTS):
            return False
        raise
    return True


def _planned(contract: Contract, health: Health) -> list[str]:
    """Decide what to run. Pure."""
    actions = []
    crowded = health.small_files >= contract.maintenance.small_files_threshold
    if crowded or health.delete_files > health.data_files:
        actions.append("rewrite_data_files")
    if health.manifests > MANY_MANIFESTS:
        actions.append("rewrite_manifests")
    if health.expirable:
        # Only expiry makes orphans likely; listing a bucket is the dearest part of maintenance.
        actions += ["expire_snapshots", "remove_orphan_files"]
    return actions


def _statements(contract: Contract, table: str, now: datetime) -> dict[str, Callable[[], str]]:
    keep, time = contract.maintenance.snapshots, naive_utc(now)
    return {
        "rewrite_data_files": lambda: sql.rewrite_data_files(table, min_input_files=2),
        "rewrite_manifests": lambda: sql.rewrite_manifests(table),
        "expire_snapshots": lambda: sql.expire_snapshots(
            table,
            older_than=time - timedelta(days=keep.max_age_days),
            retain_last=keep.min_to_keep,
        ),
        "remove_orphan_files": lambda: sql.remove_orphan_files(
            table, older_than=time - ORPHAN_AGE, prefix_listing=True
        ),
    }
