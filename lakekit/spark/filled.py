"""When the later columns of a table are filled: once full extracts have told them of all its keys.

Where absence counts within scopes only, one extract tells of its own.
"""

from collections.abc import Mapping, Sequence
from functools import partial

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from lakekit.batch import naive_utc
from lakekit.spark.context import Merge
from lakekit.spark.described import newest_told
from lakekit.spark.records import read_batch
from lakekit.spark.refs import change_properties
from lakekit.spark.scopes import scope_text
from lakekit.sql.later import told_by_full, untold


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
