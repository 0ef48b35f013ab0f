"""MaintainTables: compaction, manifests, snapshots, orphan files; each only when it is due."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from lakekit import layout
from lakekit.batch import naive_utc
from lakekit.contract.contract import Contract
from lakekit.errors import CommitConflictError
from lakekit.health import (
    ACTIONS,
    EXPIRE_SNAPSHOTS,
    REMOVE_ORPHAN_FILES,
    REWRITE_DATA_FILES,
    REWRITE_MANIFESTS,
    SMALL,
    Maintained,
    Measures,
    PartitionFiles,
    due_actions,
    left_by,
)
from lakekit.spark.iceberg.table import change_properties, load_table, properties_of
from lakekit.spark.session.session import IN_UTC, session_settings
from lakekit.spark.session.tuning import PLANNED_ONCE
from lakekit.sql import maintenance as sql
from lakekit.sql.identifiers import quote_table
from lakekit.table_properties import MAINTENANCE, MaintenanceProperty

# A longer job than this would lose files that it has written but not committed.
ORPHAN_AGE = timedelta(days=3)
ATTEMPTS = 5
# Iceberg's errors if another commit came since it planned: for files, and for manifests.
_CONFLICTS = ("CommitFailedException", "could not be found in the latest snapshot")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def wants_maintenance(
    spark: SparkSession, contract: Contract, table: str, *, now: datetime
) -> bool:
    """Say whether maintenance has anything to do with a table, its journal or its quarantine."""
    return any(
        due_actions(contract.maintenance, measure(spark, contract, name, now=now), now)
        for name in _with_journal(spark, table)
    )


def maintain_with_journal(
    spark: SparkSession, contract: Contract, table: str, *, now: datetime
) -> tuple[Maintained, ...]:
    """Maintain a table, and its journal and quarantine where they exist."""
    names = _with_journal(spark, table)
    return tuple(maintain_table(spark, contract, name, now=now) for name in names)


def maintain_table(
    spark: SparkSession, contract: Contract, table: str, *, now: datetime
) -> Maintained:
    """Run what is due, each action once, and record what it left.

    After each action the table is measured again. If a run commits meanwhile, an action that
    conflicts with it is dropped and planned again.

    Args:
        spark: A session whose catalog holds the table.
        contract: Whose `maintenance` section sets the thresholds.
        table: Identifier of the table.
        now: What ages of snapshots and files are measured against; aware.

    Raises:
        CommitConflictError: Others wrote during each of five attempts; what was done stays done.
    """
    limits, statements = contract.maintenance, _statements(spark, contract, table, now)
    measures = before = measure(spark, contract, table, now=now)
    done: list[str] = []
    conflicts = 0
    planned = due_actions(limits, measures, now)
    while planned:
        action = planned[0]
        committed = _committed(spark, statements[action])
        measures = measure(spark, contract, table, now=now)
        if committed:
            done.append(action)
            measures = _recorded(spark, table, measures, left_by(action, limits, measures, now))
        elif (conflicts := conflicts + 1) == ATTEMPTS:
            raise CommitConflictError(f"{table}: others wrote {ATTEMPTS} times during maintenance")
        due = {*planned, *due_actions(limits, measures, now)}
        planned = [each for each in ACTIONS if each in due and each not in done]
    return Maintained(table=table, actions=tuple(done), before=before.health, after=measures.health)


def measure(spark: SparkSession, contract: Contract, table: str, *, now: datetime) -> Measures:
    """Measure a table by its metadata."""
    loaded = load_table(spark, table)
    properties, head = properties_of(loaded), loaded.currentSnapshot()
    deletes_files = properties.get("gc.enabled", "true").lower() == "true"
    small_bytes = int(SMALL * _target_bytes(contract, properties))
    return Measures(
        partitions=_partitions(spark, table, small_bytes),
        manifests=0 if head is None else head.allManifests(loaded.io()).size(),
        snapshots=loaded.operations().current().snapshots().size(),
        expirable=_expirable(loaded, contract, now) if deletes_files else 0,
        deletes_files=deletes_files,
        left=MAINTENANCE.read(properties) or MaintenanceProperty(),
    )


def _with_journal(spark: SparkSession, table: str) -> list[str]:
    derived = (layout.journal_table(table), layout.quarantine_table(table))
    return [table, *(name for name in derived if spark.catalog.tableExists(name))]


def _target_bytes(contract: Contract, properties: Mapping[str, str]) -> int:
    """Return the size that data files of a table should have; a journal does not name it."""
    named = properties.get("write.target-file-size-bytes")
    return int(named) if named else contract.maintenance.target_file_size_mb * 1024 * 1024


def _partitions(spark: SparkSession, table: str, small_bytes: int) -> tuple[PartitionFiles, ...]:
    fields = spark.table(f"{quote_table(table)}.entries").select("data_file.*").columns
    query = sql.partition_files(table, small_bytes=small_bytes, partitioned="partition" in fields)
    with session_settings(spark, PLANNED_ONCE):
        return tuple(PartitionFiles(**row.asDict()) for row in spark.sql(query).collect())


def _expirable(loaded: Any, contract: Contract, now: datetime) -> int:
    """Return how many snapshots Iceberg would remove, by its own rule for branches and tags."""
    keep = contract.maintenance.snapshots
    edge = (now - timedelta(days=keep.max_age_days) - _EPOCH) // timedelta(milliseconds=1)
    expiry = loaded.expireSnapshots().expireOlderThan(edge).retainLast(keep.min_to_keep)
    # Without a commit, nothing expires.
    return int(expiry.apply().size())


def _recorded(
    spark: SparkSession, table: str, measures: Measures, left: MaintenanceProperty
) -> Measures:
    """Record what an action left, if that is new."""
    if left != measures.left:
        change_properties(spark, table, lambda _: MAINTENANCE.write(left))
    return measures._replace(left=left)


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


def _statements(
    spark: SparkSession, contract: Contract, table: str, now: datetime
) -> dict[str, str]:
    keep, time = contract.maintenance.snapshots, naive_utc(now)
    target = _target_bytes(contract, properties_of(load_table(spark, table)))
    return {
        REWRITE_DATA_FILES: sql.rewrite_data_files(table, min_input_files=2, target_bytes=target),
        REWRITE_MANIFESTS: sql.rewrite_manifests(table),
        EXPIRE_SNAPSHOTS: sql.expire_snapshots(
            table,
            older_than=time - timedelta(days=keep.max_age_days),
            retain_last=keep.min_to_keep,
        ),
        REMOVE_ORPHAN_FILES: sql.remove_orphan_files(
            table, older_than=time - ORPHAN_AGE, prefix_listing=True
        ),
    }
