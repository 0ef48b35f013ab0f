"""Rows in the place of others, in one commit that becomes visible, or none."""

import json
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from pyspark.sql import Column as Expression
from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F

from lakekit.batch import Batch, naive_utc
from lakekit.contract.contract import Contract
from lakekit.errors import InvariantViolatedError
from lakekit.layout import OWN
from lakekit.spark.iceberg.baseline import Baseline
from lakekit.spark.iceberg.branch import branch_head, drop_branch, fast_forward, open_branch
from lakekit.spark.iceberg.published_runs import iso
from lakekit.spark.schema.display import collect_shown
from lakekit.sql import merge_scd2 as sql
from lakekit.sql.identifiers import ntz_literal, quote
from lakekit.sql.line_hash import DIGEST
from lakekit.sql.tables import ARRIVAL
from lakekit.table_properties import EXTRACTION_TIME, RUN_IDS
from lakekit.values import to_json

BRANCH = f"{OWN}rebuild"
_NEXT = {"__next": "_valid_from", "__next_to": "_valid_to"}


@dataclass(frozen=True)
class Replacement:
    """All rows that a table should have, and the part of it that is replaced.

    rows: in the schema of the table. runs: whose records they are. since, keys: the part that
    held at or after a time, or that of some keys; otherwise all of it.
    """

    contract: Contract
    rows: DataFrame
    runs: tuple[Batch, ...]
    since: datetime | None = None
    keys: DataFrame | None = None

    def part(self, rows: DataFrame) -> DataFrame:
        """Return those of some rows that are replaced."""
        if self.keys is not None:
            return rows.join(F.broadcast(self.keys), list(self.contract.keys), "left_semi")
        if self.since is not None:
            end, since = F.col("_valid_to"), F.expr(ntz_literal(naive_utc(self.since)))
            return rows.where(end.isNull() | (end >= since))
        return rows


def difference(have: DataFrame, new: Replacement, *, once: bool = False) -> tuple[int, int]:
    """Return how many rows a table lacks, and how many it should not have.

    Args:
        have: Its rows.
        new: Those that it should have.
        once: Whether a row says no more if it is there more than once.
    """
    sides = [(new.part(new.rows), 1), (new.part(have), -1)]
    marked = [
        rows.select(_fingerprint(rows).alias("print"), F.lit(count).alias("n"))
        for rows, count in sides
    ]
    if once:
        marked = [rows.distinct() for rows in marked]
    both = marked[0].unionByName(marked[1]).groupBy("print").agg(F.sum("n").alias("n"))
    row = both.agg(
        F.coalesce(F.sum(F.greatest("n", F.lit(0))), F.lit(0)).alias("missing"),
        F.coalesce(F.sum(F.greatest(-F.col("n"), F.lit(0))), F.lit(0)).alias("wrong"),
    ).first()
    return (row["missing"], row["wrong"]) if row else (0, 0)


def _fingerprint(rows: DataFrame) -> Expression:
    """Return a digest of all columns but those of lines, and the order in which events arrived.

    Nested ones cannot be hashed: two texts stand for them.
    """
    values = []
    for field in rows.drop(*DIGEST, ARRIVAL).schema:
        column, kind = F.col(quote(field.name)), field.dataType.typeName()
        values.append(column.isNull())
        if kind in ("map", "array", "struct"):
            values += [column.cast("string"), F.to_json(column, {"ignoreNullFields": "false"})]
        else:
            values.append(column)
    return F.xxhash64(*values)


def publish_replacement(spark: SparkSession, new: Replacement, baseline: Baseline) -> int | None:
    """Replace rows on a branch and move main to it; None if the table has changed since.

    Returns:
        Main's new head.

    Raises:
        InvariantViolatedError: The rows that stay do not fit those that come.
    """
    table = baseline.table
    if not open_branch(spark, table, BRANCH, baseline.head):
        return None
    try:
        _replace(spark, table, new)
        head = branch_head(spark, table, BRANCH)
        if new.since is not None:
            _check(spark, table, new)
        moved = fast_forward(spark, table, BRANCH, head, partial(baseline.is_unchanged, spark))
        return head if moved else None
    finally:
        drop_branch(spark, table, BRANCH)


def _replace(spark: SparkSession, table: str, new: Replacement) -> None:
    branch = sql.branch_of(table, BRANCH)
    writer = (
        new.part(new.rows)
        .writeTo(branch)
        .options(
            **{
                f"snapshot-property.{RUN_IDS}": json.dumps([run.run_id for run in new.runs]),
                f"snapshot-property.{EXTRACTION_TIME}": max(map(iso, new.runs)),
            }
        )
    )
    if new.keys is None and new.since is None:
        writer.overwrite(F.lit(True))
        return
    if new.keys is not None:
        view = "lakekit_rebuilt_keys"
        F.broadcast(new.keys).createOrReplaceTempView(view)
        spark.sql(sql.delete_keys(table, BRANCH, new.contract.keys, view))
    elif new.since is not None:
        spark.sql(sql.delete_since(table, BRANCH, naive_utc(new.since)))
    writer.append()


def _check(spark: SparkSession, table: str, new: Replacement) -> None:
    keys = [F.col(quote(key)) for key in new.contract.keys]
    order = Window.partitionBy(*keys).orderBy("_valid_from")
    versions = spark.sql(f"SELECT * FROM {sql.branch_of(table, BRANCH)}")
    after, right = (
        rows.withColumns({name: F.lead(column).over(order) for name, column in _NEXT.items()})
        for rows in (versions, new.rows)
    )
    end, following = F.col("_valid_to"), F.col("__next")
    clash = following.isNotNull() & (end.isNull() | (end > following))
    gaps = [*new.contract.keys, "_valid_to", "__next"]
    # A key that was deleted for a time was so in the rows that should be there, too.
    holes = after.where(end < following).join(right.select(*map(quote, gaps)), gaps, "left_anti")
    # What stays on both sides is as it was.
    holes = new.part(holes.withColumn("_valid_to", F.col("__next_to")))
    wrong = after.where(clash).select(*keys).unionByName(holes.select(*keys))
    for key in collect_shown(wrong.limit(1)).records():
        raise InvariantViolatedError(
            f"{table}: key {to_json(key)} would have versions that overlap, or a hole between two; "
            "the table is wrong before that time too, rebuild all of it"
        )
