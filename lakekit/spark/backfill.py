"""Backfill of added columns: a null recorded before the column was added means unknown.

The first value is written into the current version in place, as long as all else stays the same and
a run only moves forward. A full extract ends it: with `delete_scope`, one of each scope that the
table holds.
"""

from collections.abc import Mapping, Sequence
from functools import partial

from pyspark.sql import Column as Expression
from pyspark.sql import DataFrame, WindowSpec
from pyspark.sql import functions as F

from lakekit.batch import naive_utc
from lakekit.contract.contract import Contract
from lakekit.spark.iceberg.table import change_properties
from lakekit.spark.read.parse import read_records
from lakekit.spark.run import MergeRun, read_state
from lakekit.sql.added_columns import AddedColumn, added_columns, ended_by_full
from lakekit.sql.identifiers import ntz_literal, quote
from lakekit.sql.scopes import scope_text


def fills(added: Sequence[AddedColumn], contract: Contract) -> Expression:
    """Whether a row has the content of the current row, but for columns unknown to that."""
    fits = F.col("__current_hash").isNotNull()
    fits = fits & (F.col("__without_added") == F.col("__current_without_added"))
    for each in added:
        value, current = _hashes(each)
        fits = fits & ((value == current) | _is_unknown(each))
    if contract.history.mode == "scd1" and contract.history.sequence_by:
        # It keeps the newest record, even one with the same content.
        fits = fits & (F.col("__event_time") == F.col("__current_from"))
    return fits


def with_backfills(
    rows: DataFrame, contract: Contract, added: Sequence[AddedColumn], so_far: WindowSpec
) -> DataFrame:
    """Add whether a row and all before it backfill their current version with the same values."""
    fits = fills(added, contract) & ~F.col("__deleted")
    for each in added:
        value, _ = _hashes(each)
        first = F.first(F.when(value != 0, value), ignorenulls=True).over(so_far)
        fits = fits & (~_is_unknown(each) | first.isNull() | (value == first))
    rows = rows.withColumn("__backfills", F.coalesce(fits, F.lit(False)))
    return rows.withColumn("__backfills", F.bool_and("__backfills").over(so_far))


def repeats_newest(
    added: Sequence[AddedColumn], contract: Contract, extracted: Expression
) -> Expression:
    """Whether a row is the newest record of its version again, with values of added columns.

    It takes the place of that record, as the later extract counts. The content of a partial record
    depends on what was before the version.
    """
    if contract.history.ignore_null_updates:
        return F.lit(False)
    time = F.col("__event_time")
    again = (time == F.col("__current_sequence")) & (time >= F.col("__current_from"))
    again = again & (F.col("__rest") == F.col("__current_rest")) & fills(added, contract)
    again = again & ~F.col("__deleted") & (extracted > F.col("__current_ingested"))
    return F.coalesce(again, F.lit(False))


def _hashes(each: AddedColumn) -> tuple[Expression, Expression]:
    """Return the hashes of an added column: of a row, and of its current row; of a null 0."""
    value, current = (F.col(f"{of}.{quote(each.name)}") for of in ("__added", "__current_added"))
    return value, current


def _is_unknown(each: AddedColumn) -> Expression:
    """Whether the current row was recorded before a column was added, and has no value of it."""
    _, current = _hashes(each)
    before = F.col("__current_ingested") <= F.expr(ntz_literal(each.added_after))
    return (current == 0) & before


def backfill_ended_by(
    run: MergeRun, properties: Mapping[str, str], scopes: Sequence[str] | None = None
) -> dict[str, str]:
    """Return the properties of a table once a full extract has ended its backfill.

    Args:
        run: A run that is published.
        properties: Those of the table now: another run may have ended it for its scopes.
        scopes: Those of the extract, if they are known; else it is read for them.
    """
    extracted, held = naive_utc(run.batch.extraction_time), []
    if not run.full or not any(c.predates(extracted) for c in added_columns(properties)):
        return {}
    if run.contract.history.delete_scope:
        held = _scopes(run, read_state(run.spark, run.contract, run.table).undeleted)
        if scopes is None:
            scopes = _scopes(run, read_records(run).where("__fault IS NULL"))
    return ended_by_full(properties, extracted, scopes=scopes or (), held=held)


def record_backfill(run: MergeRun) -> None:
    """Record that a full extract has ended the backfill, if a crash came before its merge could."""
    change_properties(run.spark, run.table, partial(backfill_ended_by, run))


def _scopes(run: MergeRun, rows: DataFrame) -> list[str]:
    scope = F.expr(scope_text(run.contract.history.delete_scope)).alias("scope")
    return [row[0] for row in rows.select(scope).distinct().collect()]
