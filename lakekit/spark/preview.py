"""Merge preview: what a run would do to a table, with sample rows. Nothing is committed.

Sample rows of a plan: what each kind of change looks like, as plain values.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from math import isnan
from typing import Any

from pyspark.sql import Column as Expression
from pyspark.sql import DataFrame, Row, Window
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from lakekit.batch import MergeResult
from lakekit.spark.diff import order
from lakekit.spark.iceberg.baseline import pin
from lakekit.spark.iceberg.published_runs import published_runs
from lakekit.spark.journal import Facts
from lakekit.spark.merge_scd2 import plan_run
from lakekit.spark.plan.plan import Plan
from lakekit.spark.run import Merge
from lakekit.spark.schema.conform import dropped_names, in_contract_form, in_shown_form
from lakekit.spark.schema.describe import describe_table, newest_told
from lakekit.spark.session.session import session_settings, steady
from lakekit.spark.session.staging import drop_staging, own_place
from lakekit.spark.write.quarantine import rejected
from lakekit.sql.added_columns import with_added
from lakekit.sql.columns import new_columns
from lakekit.sql.evolve import evolve_table
from lakekit.sql.identifiers import quote, quote_table
from lakekit.sql.renames import noted_names
from lakekit.sql.row_hash import row_hash
from lakekit.sql.tables import control_ddl, marks


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
    samples: dict[str, list[dict[str, Any]]] | None = None


@dataclass(frozen=True)
class _Preview(Merge):
    """A merge whose table is seen as its contract would make it."""

    seen: DataFrame | None = None
    exists: bool = True
    added: tuple[str, ...] = ()
    renames: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def current_sizes(self) -> list[int]:
        return super().current_sizes if self.exists else []

    @cached_property
    def properties(self) -> dict[str, str]:
        known = super().properties if self.exists else {}
        newest = newest_told(self.spark, self.table) if self.added else ""
        names = noted_names(self.contract, self.table, self.renames, known)
        return {**known, **with_added(known, self.added, self.renames, newest), **names}

    def versions(self) -> DataFrame:
        return super().versions() if self.seen is None else self.seen


def preview_merge(merge: Merge, *, rows: int = 5) -> Preview:
    """Plan a run against a table as it is, or as its contract would make it, and forget the plan.

    Args:
        merge: The run; the table need not exist. Its place is removed afterwards.
        rows: How many sample rows of each kind.

    Raises:
        SchemaMismatchError, TooManyRejectedError, TooManyDeletedError, LateExtractError: As the
            merge itself would.
    """
    spark, table, batch = merge.spark, merge.table, merge.batch
    exists = spark.catalog.tableExists(table)
    pinned = pin(spark, merge.contract, table) if exists else None
    published = published_runs(spark, table) if exists else {}
    if batch.run_id in published:
        done = MergeResult(
            table=table, run_id=batch.run_id, snapshot_id=published[batch.run_id].snapshot_id
        )
        return Preview(result=done, merged=True)
    if pinned and pinned.has_told(spark, batch.run_id):
        return Preview(result=MergeResult(table=table, run_id=batch.run_id), merged=True)
    evolves = _evolves(merge) if exists else ()
    merge = replace(merge, place=own_place(merge.place, batch.run_id))
    new = _Preview(**_fields(merge), seen=_empty(merge), exists=False)
    seen = _seen(merge, evolves) if exists else new
    try:
        facts = Facts(seen, pinned.under_way if pinned else ())
        with session_settings(spark, steady(spark)):
            plan = plan_run(seen, facts, published.values())
            samples = sample(seen, plan, rows)
        return Preview(plan.result, not exists, evolves, samples=samples)
    finally:
        drop_staging(spark, merge.place)


def _evolves(merge: Merge) -> tuple[str, ...]:
    columns, properties, partition = describe_table(merge.spark, merge.table)
    return tuple(
        evolve_table(
            merge.contract, merge.table, columns, properties=properties, partition=partition
        )
    )


def _empty(merge: Merge) -> DataFrame:
    """Return no versions, in the schema of the contract."""
    contract = merge.contract
    types = {column.name: column.type for column in contract.stored} | control_ddl(contract)
    ddl = ", ".join(f"{quote(name)} {type_}" for name, type_ in types.items())
    return merge.spark.createDataFrame([], ddl)


def _seen(merge: Merge, evolves: tuple[str, ...]) -> _Preview:
    """Return the merge over the versions as the statements would make them."""
    contract = merge.contract
    known = merge.spark.table(quote_table(merge.table))
    added, renames = tuple(new_columns(contract, known.columns)), contract.renames(known.columns)
    known = in_contract_form(known, contract)
    dropped = [known.schema[name] for name in dropped_names(known, contract)]
    known = known.to(StructType([*_empty(merge).schema.fields, *dropped]))
    if any(statement.startswith("UPDATE ") for statement in evolves):
        known = known.withColumn("_row_hash", F.expr(row_hash(contract.tracked)))
    return _Preview(**_fields(merge), seen=known, added=added, renames=renames)


def _fields(merge: Merge) -> dict[str, Any]:
    return {each.name: getattr(merge, each.name) for each in fields(merge)}


Samples = dict[str, list[dict[str, Any]]]


def sample(merge: Merge, plan: Plan, rows: int) -> Samples:
    """Return up to `rows` rows of each kind that the plan has, those of the least keys first.

    opened, overwritten: `key`, `from`, `to` and `changes`, the old and new values of the columns
    that differ from the version before; without old values where there is none. closed: `key`,
    `from`, `to`. deleted: `key`, `at`. late: `key`, `change`, `from`, `to`. quarantined: `raw`,
    `fault`. In the mode append, opened has `row` alone. Times are those of the session's zone, UTC.
    """
    found: Samples = {}
    if merge.contract.history.mode == "append":
        stored = [quote(column.name) for column in merge.contract.stored]
        fresh = in_shown_form(plan.staged.limit(rows).select(*stored)).collect()
        found["opened"] = [{"row": row.asDict(recursive=True)} for row in fresh]
    else:
        found["opened"] = _opened(merge, plan, rows)
        found["overwritten"] = _overwritten(merge, plan, rows)
        closed = plan.staged.where(order.CLOSES)
        found["closed"] = _simple(merge, closed, rows, {"from": "__since", "to": "__close_at"})
        gone = plan.staged.where("__act = 'delete'")
        found["deleted"] = _simple(merge, gone, rows, {"at": "__moment"})
    if plan.settled and plan.settled.versions is not None:
        columns = {"change": "__change", "from": "__from", "to": "__to"}
        found["late"] = _simple(merge, plan.settled.versions, rows, columns)
    if plan.result.quarantined:
        aside = rejected(merge, plan).limit(rows).collect()
        found["quarantined"] = [{"raw": row["_raw"], "fault": row["_fault"]} for row in aside]
    return {kind: samples for kind, samples in found.items() if samples}


def _opened(merge: Merge, plan: Plan, rows: int) -> list[dict[str, Any]]:
    """Compare each new version with the one before it, which this run may have opened too."""
    forward = Window.partitionBy(*merge.keys).orderBy("__moment")
    told = plan.staged.where("__act IN ('open', 'delete')")
    told = told.withColumns({"__new": _content(merge), "__nth": F.row_number().over(forward)})
    alive = F.when(~F.col("__gone"), F.col("__new"))
    opened = told.withColumn("__lag", F.lag(alive).over(forward)).where("__act = 'open'")
    if merge.contract.history.mode == "scd1":
        opened = opened.where("__until IS NULL")
    opened = opened.orderBy(*merge.keys, "__start").limit(rows)
    before = F.when(F.col("__nth") == 1, F.col("__current")).otherwise(F.col("__lag"))
    return _compared(merge, opened, before)


def _overwritten(merge: Merge, plan: Plan, rows: int) -> list[dict[str, Any]]:
    renewed = plan.staged.where("__act = 'overwrite'").withColumn("__new", _content(merge))
    renewed = renewed.orderBy(*merge.keys).limit(rows)
    return _compared(merge, renewed, F.col("__current"))


def _compared(merge: Merge, chosen: DataFrame, before: Expression) -> list[dict[str, Any]]:
    current = merge.current()
    if marks(merge.contract):
        current = current.where(~F.col("_is_deleted"))
    current = current.select(*merge.keys, _content(merge).alias("__current"))
    beside = chosen.join(current, list(merge.contract.keys), "left").withColumn("__old", before)
    ordered = beside.orderBy(*merge.keys, "__start")
    compared = ordered.select(*merge.keys, "__start", "__until", "__old", "__new")
    return [
        {
            "key": _key(merge, row),
            "from": row["__start"],
            "to": row["__until"],
            "changes": _changes(row["__old"], row["__new"]),
        }
        for row in in_shown_form(compared).collect()
    ]


def _changes(old: Row | None, new: Row) -> dict[str, dict[str, Any]]:
    """Return what differs, by value; NaN equals NaN."""
    after = new.asDict(recursive=True)
    after.pop("__there")
    if old is None:
        return {name: {"new": value} for name, value in after.items()}
    before = old.asDict(recursive=True)
    return {
        name: {"old": before[name], "new": value}
        for name, value in after.items()
        if not _same(before[name], value)
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
    merge: Merge, frame: DataFrame, rows: int, columns: dict[str, str]
) -> list[dict[str, Any]]:
    found = frame.orderBy(*merge.keys, *columns.values()).limit(rows)
    shown = in_shown_form(found.select(*merge.keys, *columns.values()))
    return [
        {"key": _key(merge, row), **{name: row[column] for name, column in columns.items()}}
        for row in shown.collect()
    ]


def _content(merge: Merge) -> Expression:
    contract = merge.contract
    names = contract.content
    return F.struct(*[F.col(quote(name)) for name in names], F.lit(True).alias("__there"))


def _key(merge: Merge, row: Row) -> dict[str, Any]:
    return {key: row[key] for key in merge.contract.keys}
