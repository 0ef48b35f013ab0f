"""First values of later columns where a run only moves forward: a row beside its current version.

Where that does not tell which value holds, all that is known of a key is asked; see `later.py`.

When the later columns of a table are filled: once full extracts have told them of all its keys.

Where absence counts within scopes only, one extract tells of its own.
"""

from collections.abc import Mapping, Sequence
from functools import partial

from pyspark.sql import Column as Expression
from pyspark.sql import DataFrame, Window, WindowSpec
from pyspark.sql import functions as F

from lakekit.batch import naive_utc
from lakekit.contract.contract import Contract
from lakekit.spark.iceberg.table import change_properties
from lakekit.spark.read.parse import read_batch
from lakekit.spark.run import Merge
from lakekit.spark.schema.describe import newest_told
from lakekit.sql.added_columns import Later, told_by_full, untold
from lakekit.sql.identifiers import moment_literal, quote
from lakekit.sql.scopes import scope_text


def fills(later: Sequence[Later], contract: Contract) -> Expression:
    """Whether a row says what its current version does, but for columns that are unknown to that.

    One that is null in a version which is too old for it; see `Later`.
    """
    fits = F.col("__base_hash").isNotNull() & _alike_beside()
    for each in later:
        said, held = _said_and_held(each)
        fits = fits & ((said == held) | _is_unknown(each))
    if contract.history.mode == "scd1" and contract.history.sequence_by:
        # It keeps the newest record, even one that says what was known.
        fits = fits & (F.col("__moment") == F.col("__since"))
    return fits


def with_fills(
    rows: DataFrame, contract: Contract, later: Sequence[Later], so_far: WindowSpec
) -> DataFrame:
    """Add whether a row and all before it fill in their current version, each the same values."""
    fits = fills(later, contract) & ~F.col("__gone")
    for each in later:
        said, _ = _said_and_held(each)
        first = F.first(F.when(said != 0, said), ignorenulls=True).over(so_far)
        fits = fits & (~_is_unknown(each) | first.isNull() | (said == first))
    rows = rows.withColumn("__fills", F.coalesce(fits, F.lit(False)))
    return rows.withColumn("__fills", F.bool_and("__fills").over(so_far))


def says_more(later: Sequence[Later], contract: Contract, extracted: Expression) -> Expression:
    """Whether a row is the newest record of its version again, with first values beside.

    That one gives way to it wherever it stands, as the later extract counts. What a partial record
    holds depends on what was before the version.
    """
    if contract.history.ignore_null_updates:
        return F.lit(False)
    moment = F.col("__moment")
    again = (moment == F.col("__base_sequence")) & (moment >= F.col("__since"))
    again = again & (F.col("__rest") == F.col("__base_rest")) & fills(later, contract)
    again = again & ~F.col("__gone") & (extracted > F.col("__base_ingested"))
    return F.coalesce(again, F.lit(False))


def may_fill(later: Sequence[Later], unaware: Sequence[Later], contract: Contract) -> Expression:
    """Whether the current version does not tell which value of a later column holds in it.

    See the notes beside the reasons.
    """
    partial = contract.history.ignore_null_updates
    key = Window.partitionBy(*map(quote, contract.keys))
    may = F.lit(False)
    for each in later:
        said, held = _said_and_held(each)
        first = (said != 0) & (held == 0)
        if partial:
            # The record that began it may hold what another has told of the column.
            may = may | (first & _is_unknown(each))
        if contract.overwrites:
            # It shows a record younger than its start, and may have begun before the column.
            renewed = F.col("__base_sequence") > F.col("__since")
            may = may | (first & renewed & ~_is_unknown(each))
        else:
            # Its untracked columns stay as they are, and are not those of the row that fills it.
            may = may | (first & (F.col("__rest") != F.col("__base_rest")))
        if each in unaware:
            # A row that was extracted before the column does not say that its value is gone.
            valued = F.max((said != 0) & ~F.col("__gone")).over(key)
            may = may | ((said == 0) & (~_is_unknown(each) | valued))
    # What a partial record holds is not known before it is filled.
    alike = F.lit(True) if partial else _alike_beside()
    alive = F.col("__base_hash").isNotNull() & ~F.col("__gone")
    return F.coalesce(alive & alike & may, F.lit(False))


def _alike_beside() -> Expression:
    """Whether a row says what its current version holds beside later columns."""
    return F.col("__without_later") == F.col("__base_without_later")


def _said_and_held(each: Later) -> tuple[Expression, Expression]:
    """Return the hashes of a later column: of a row, and of its current version; of a null 0."""
    said, held = (F.col(f"{of}.{quote(each.name)}") for of in ("__later", "__base_later"))
    return said, held


def _is_unknown(each: Later) -> Expression:
    """Whether a current version is too old to know a column."""
    _, held = _said_and_held(each)
    return (held == 0) & is_before("__base_ingested", each)


def filled_by(
    merge: Merge, properties: Mapping[str, str], scopes: Sequence[str] | None = None
) -> dict[str, str]:
    """Return how a table knows what a full extract has told of its later columns.

    Args:
        merge: A run that is published.
        properties: Those of the table now: another run may have told of its scopes meanwhile.
        scopes: Those that the extract holds, if that is known; else it is read for them.
    """
    now, held = naive_utc(merge.batch.extraction_time), []
    if not (merge.full and untold(properties, now)):
        return {}
    if merge.contract.history.delete_scope:
        held = _scopes(merge, merge.alive())
        if scopes is None:
            scopes = _scopes(merge, read_batch(merge).where("__fault IS NULL"))
    newest = newest_told(merge.spark, merge.table)
    return told_by_full(properties, now, newest, scopes=scopes or (), held=held)


def tell_filled(merge: Merge) -> None:
    """Tell what a full extract has filled in, if a crash came before its merge could."""
    change_properties(merge.spark, merge.table, partial(filled_by, merge))


def _scopes(merge: Merge, rows: DataFrame) -> list[str]:
    scope = F.expr(scope_text(merge.contract.history.delete_scope)).alias("scope")
    return [row[0] for row in rows.select(scope).distinct().collect()]


def is_before(told: str, each: Later) -> Expression:
    """Whether something was told before the table had a column; null until when is for ever."""
    if each.until is None:
        return F.lit(True)
    return F.col(told) <= F.expr(moment_literal(each.until))
