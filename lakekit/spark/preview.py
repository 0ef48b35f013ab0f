"""Merge preview: what a run would do to a table, with sample rows. Nothing is committed."""

from dataclasses import dataclass, replace
from datetime import datetime
from math import isnan
from typing import Any

from pyspark.sql import Column as Expression
from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from lakekit.batch import Batch, MergeResult
from lakekit.contract.contract import Contract
from lakekit.spark.diff import order
from lakekit.spark.iceberg.baseline import take_baseline
from lakekit.spark.iceberg.published_runs import published_runs
from lakekit.spark.journal import Journal
from lakekit.spark.merge_scd2 import plan_run
from lakekit.spark.plan.plan import Plan
from lakekit.spark.run import MergeRun, TableState, backfilled_columns, no_table, read_state
from lakekit.spark.schema.conform import dropped_names
from lakekit.spark.schema.describe import describe_table, newest_extraction
from lakekit.spark.schema.display import collect_shown
from lakekit.spark.session.session import session_settings, steady
from lakekit.spark.session.staging import drop_staging, staging_of_run
from lakekit.spark.write.quarantine import rejected
from lakekit.sql.added_columns import with_added
from lakekit.sql.columns import new_columns
from lakekit.sql.evolve import evolve_table
from lakekit.sql.identifiers import quote
from lakekit.sql.renames import recorded_renames
from lakekit.sql.row_hash import row_hash
from lakekit.sql.tables import marks

Samples = dict[str, list[dict[str, Any]]]


@dataclass(frozen=True)
class Preview:
    """What a run would do.

    creates: the table would be made. evolves: the statements that would bring it to its contract.
    merged: the run is merged already and would change nothing. samples: rows of each kind.
    """

    result: MergeResult
    creates: bool = False
    evolves: tuple[str, ...] = ()
    merged: bool = False
    samples: Samples | None = None


def preview_merge(
    spark: SparkSession,
    contract: Contract,
    batch: Batch,
    table: str,
    *,
    staging: str,
    rows: int = 5,
) -> Preview:
    """Plan a run against a table as it is, or as its contract would make it, and drop the plan.

    Args:
        spark: A session whose catalog holds the table, if there is one.
        contract: The table's contract.
        batch: The landed records of the run.
        table: Identifier of the table; it need not exist.
        staging: Folder for the change set, an address that Spark writes.
        rows: How many sample rows of each kind.

    Raises:
        SchemaMismatchError, TooManyRejectedError, TooManyDeletedError, LateExtractError: As the
            merge itself would.
    """
    exists = spark.catalog.tableExists(table)
    baseline = take_baseline(spark, contract, table) if exists else None
    published = published_runs(spark, table) if exists else {}
    done = MergeResult(table=table, run_id=batch.run_id)
    if batch.run_id in published:
        snapshot = published[batch.run_id].snapshot_id
        return Preview(done.model_copy(update={"snapshot_id": snapshot}), merged=True)
    if baseline and baseline.has_recorded(spark, batch.run_id):
        return Preview(done, merged=True)
    place = staging_of_run(staging, batch.run_id)
    evolves: tuple[str, ...] = ()
    state = no_table(spark, contract)
    if exists:
        evolves, state = _evolved(spark, contract, table)
    run = MergeRun(spark, contract, batch, table, place, state)
    try:
        journal = Journal(run, baseline.in_progress if baseline else ())
        with session_settings(spark, steady(spark)):
            plan = plan_run(run, journal, published.values())
            samples = sample(run, plan, rows)
        result = done.model_copy(update=plan.metrics.model_dump())
        return Preview(result, not exists, evolves, samples=samples)
    finally:
        drop_staging(spark, place)


def _evolved(
    spark: SparkSession, contract: Contract, table: str
) -> tuple[tuple[str, ...], TableState]:
    """Return the statements that bring a table to its contract, and its state after them."""
    columns, known, partition = describe_table(spark, table)
    added, renames = new_columns(contract, columns), contract.renames(columns)
    newest = newest_extraction(spark, table) if added else datetime.min
    evolves = evolve_table(
        contract, table, columns, properties=known, partition=partition, newest=newest
    )
    state = read_state(spark, contract, table)
    versions = state.versions
    dropped = [versions.schema[name] for name in dropped_names(versions, contract)]
    fields = no_table(spark, contract).versions.schema.fields
    versions = versions.to(StructType([*fields, *dropped]))
    if any(statement.startswith("UPDATE ") for statement in evolves):
        versions = versions.withColumn("_row_hash", F.expr(row_hash(contract.tracked)))
    properties = {
        **state.properties,
        **with_added(state.properties, added, renames, newest),
        **recorded_renames(contract, table, renames, state.properties),
    }
    backfilled = backfilled_columns(contract, properties)
    after = replace(state, versions=versions, properties=properties, added=backfilled)
    return tuple(evolves), after


def sample(run: MergeRun, plan: Plan, rows: int) -> Samples:
    """Return up to `rows` rows of each kind that the plan has, those of the least keys first.

    opened, overwritten: `key`, `from`, `to` and `changes`, the old and new values of the columns
    that differ from the version before; without old values where there is none. closed: `key`,
    `from`, `to`. deleted: `key`, `at`. late: `key`, `change`, `from`, `to`. quarantined: `raw`,
    `fault`. In the mode append, opened has `row` alone. Times are those of the session's zone, UTC.
    """
    found: Samples = {}
    if run.contract.history.mode == "append":
        stored = [quote(column.name) for column in run.contract.stored]
        fresh = collect_shown(plan.staged.limit(rows).select(*stored)).records()
        found["opened"] = [{"row": row} for row in fresh]
    else:
        found["opened"] = _opened(run, plan, rows)
        found["overwritten"] = _overwritten(run, plan, rows)
        closed = plan.staged.where(order.CLOSES)
        found["closed"] = _simple(run, closed, rows, {"from": "__current_from", "to": "__close_at"})
        deleted = plan.staged.where("__action = 'delete'")
        found["deleted"] = _simple(run, deleted, rows, {"at": "__event_time"})
    if plan.rederived and plan.rederived.versions is not None:
        columns = {"change": "__change", "from": "__valid_from", "to": "__valid_to"}
        found["late"] = _simple(run, plan.rederived.versions, rows, columns)
    if plan.metrics.quarantined:
        aside = rejected(run, plan).limit(rows).collect()
        found["quarantined"] = [{"raw": row["_raw"], "fault": row["_fault"]} for row in aside]
    return {kind: samples for kind, samples in found.items() if samples}


def _opened(run: MergeRun, plan: Plan, rows: int) -> list[dict[str, Any]]:
    """Compare each new version with the one before it, which this run may have opened too."""
    forward = Window.partitionBy(*run.keys).orderBy("__event_time")
    changes = plan.staged.where("__action IN ('open', 'delete')")
    changes = changes.withColumns({"__new": _content(run), "__nth": F.row_number().over(forward)})
    undeleted = F.when(~F.col("__deleted"), F.col("__new"))
    opened = changes.withColumn("__lag", F.lag(undeleted).over(forward)).where("__action = 'open'")
    if run.contract.history.mode == "scd1":
        opened = opened.where("__valid_to IS NULL")
    opened = opened.orderBy(*run.keys, "__valid_from").limit(rows)
    before = F.when(F.col("__nth") == 1, F.col("__current")).otherwise(F.col("__lag"))
    return _compared(run, opened, before)


def _overwritten(run: MergeRun, plan: Plan, rows: int) -> list[dict[str, Any]]:
    renewed = plan.staged.where("__action = 'overwrite'").withColumn("__new", _content(run))
    renewed = renewed.orderBy(*run.keys).limit(rows)
    return _compared(run, renewed, F.col("__current"))


def _compared(run: MergeRun, chosen: DataFrame, before: Expression) -> list[dict[str, Any]]:
    current = run.state.current
    if marks(run.contract):
        current = current.where(~F.col("_is_deleted"))
    current = current.select(*run.keys, _content(run).alias("__current"))
    both = chosen.join(current, list(run.contract.keys), "left").withColumn("__old", before)
    ordered = both.orderBy(*run.keys, "__valid_from")
    compared = ordered.select(*run.keys, "__valid_from", "__valid_to", "__old", "__new")
    return [
        {
            "key": _key(run, row),
            "from": row["__valid_from"],
            "to": row["__valid_to"],
            "changes": _changes(row["__old"], row["__new"]),
        }
        for row in collect_shown(compared).records()
    ]


def _changes(old: dict[str, Any] | None, new: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return what differs, by value; NaN equals NaN."""
    after = {name: value for name, value in new.items() if name != "__there"}
    if old is None:
        return {name: {"new": value} for name, value in after.items()}
    return {
        name: {"old": old[name], "new": value}
        for name, value in after.items()
        if not _same(old[name], value)
    }


def _same(one: Any, other: Any) -> bool:
    """Whether two values of one type, of which rows are dictionaries, are the same."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_same(one[name], other[name]) for name in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_same, one, other))
    if isinstance(one, float) and isinstance(other, float) and isnan(one):
        return isnan(other)
    return bool(one == other)


def _simple(
    run: MergeRun, frame: DataFrame, rows: int, columns: dict[str, str]
) -> list[dict[str, Any]]:
    found = frame.orderBy(*run.keys, *columns.values()).limit(rows)
    shown = collect_shown(found.select(*run.keys, *columns.values()))
    return [
        {"key": _key(run, row), **{name: row[column] for name, column in columns.items()}}
        for row in shown.records()
    ]


def _content(run: MergeRun) -> Expression:
    contract = run.contract
    names = contract.content
    return F.struct(*[F.col(quote(name)) for name in names], F.lit(True).alias("__there"))


def _key(run: MergeRun, row: dict[str, Any]) -> dict[str, Any]:
    return {key: row[key] for key in run.contract.keys}
