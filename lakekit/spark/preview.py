"""Merge preview: what a run would do to a table, with sample rows. Nothing is committed."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from lakekit.batch import MergeResult
from lakekit.spark.context import Merge
from lakekit.spark.described import describe_table, newest_told
from lakekit.spark.evidence import published_runs
from lakekit.spark.facts import Facts
from lakekit.spark.forms import dropped_names, in_contract_form
from lakekit.spark.pin import pin
from lakekit.spark.samples import sample
from lakekit.spark.scd2 import plan_run
from lakekit.spark.session import session_settings, steady
from lakekit.spark.staging import drop_staging, own_place
from lakekit.sql.columns import new_columns
from lakekit.sql.evolve import evolve_table
from lakekit.sql.identifiers import quote, quote_table
from lakekit.sql.later import with_added
from lakekit.sql.renamed import noted_names
from lakekit.sql.row_hash import row_hash
from lakekit.sql.tables import control_ddl


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
