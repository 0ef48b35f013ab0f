"""Sample rows of a plan: what each kind of change looks like, as plain values."""

from math import isnan
from typing import Any

from pyspark.sql import Column as Expression
from pyspark.sql import DataFrame, Row, Window
from pyspark.sql import functions as F

from lakekit.spark import order
from lakekit.spark.context import Merge
from lakekit.spark.forms import in_shown_form
from lakekit.spark.plan import Plan
from lakekit.spark.quarantine import rejected
from lakekit.sql.identifiers import quote
from lakekit.sql.tables import marks

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
