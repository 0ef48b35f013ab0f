"""What a run tells the companion, in the columns of facts. Frames in and out; no actions."""

from collections.abc import Sequence

from pyspark.sql import Column as Expression
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from lakekit.spark.context import Merge, kept_apart
from lakekit.spark.fact import PRESENCE
from lakekit.spark.forms import dropped_names
from lakekit.spark.records import sequence_of
from lakekit.sql.identifiers import quote
from lakekit.sql.tables import ARRIVED


def of_rows(merge: Merge, rows: DataFrame) -> DataFrame:
    """Return staged rows as facts."""
    op = F.when(F.col("__gone"), "D").otherwise("U")
    now = kept_apart(merge.moment, F.col("__gone"))
    return _facts(merge, rows.withColumn("__said", F.lit(True)), now, moment="__moment", op=op)


def of_settled(merge: Merge, rows: DataFrame) -> DataFrame:
    """Return the facts of settled keys that no version shows, those of this run among them."""
    present = F.when(F.col("__priority") == PRESENCE, "P").otherwise("U")
    op = F.when(F.col("__gone"), "D").otherwise(present)
    kept = dropped_names(rows, merge.contract)
    return _facts(merge, rows, F.col("__ingested"), kept, moment="__moment", op=op)


def of_versions(merge: Merge, versions: DataFrame) -> DataFrame:
    """Return versions that are written anew as the facts that opened them.

    One that began after its record was brought back by a full extract. They keep what they hold in
    columns that the contract has dropped: these can come back.
    """
    brought = sequence_of(merge.contract) < F.col("_valid_from")
    op = F.when(brought, "P").otherwise("U")
    kept = dropped_names(versions, merge.contract)
    return _facts(merge, versions, F.col("_ingested_at"), kept, moment="_valid_from", op=op)


def of_absent(merge: Merge, versions: DataFrame) -> DataFrame:
    """Return the versions of keys that a full extract of their scope lacks, as deletions.

    Of a table that keeps no version of a key that is gone they say until when it was known:
    of another scope no extract has told what came later.
    """
    aside = merge.contract.history.sets_late_aside
    at = merge.moment if aside else F.col("_valid_from")
    gone = versions.withColumn("__moment", at)
    return _facts(merge, gone, F.col("_ingested_at"), moment="__moment", op=F.lit("D"))


def _facts(
    merge: Merge,
    rows: DataFrame,
    time: Expression,
    more: Sequence[str] = (),
    *,
    moment: str,
    op: Expression,
) -> DataFrame:
    return rows.select(
        *[F.col(quote(name)) for name in (*(c.name for c in merge.contract.stored), *more)],
        "_source_file",
        "_row_hash",
        F.col(moment).alias("_sequence"),
        op.alias("_op"),
        (F.col("__partial") if "__partial" in rows.columns else F.lit(False)).alias("_partial"),
        F.lit(None).cast("array<string>").alias("_scopes"),
        time.alias("_ingested_at"),
        _or_null(rows, "__said", "boolean"),
        _or_null(rows, ARRIVED, "bigint"),
    )


def _or_null(rows: DataFrame, name: str, kind: str) -> Expression:
    return F.col(name) if name in rows.columns else F.lit(None).cast(kind).alias(name)


def witnesses(merge: Merge, keys: DataFrame) -> DataFrame:
    """Return the facts that a full extract held some keys, though no record of them counts."""
    return _without_content(merge, keys, "W", F.lit(None).cast("array<string>"))


def full_extract(merge: Merge, scopes: Sequence[str]) -> DataFrame:
    """Return the fact that a full extract was merged."""
    known = F.array(*map(F.lit, scopes)).cast("array<string>")
    if not merge.contract.history.delete_scope:
        known = F.lit(None).cast("array<string>")
    # Of a list of values nothing is compiled; its column has a name that no contract's has.
    one = merge.spark.sql("VALUES (1) AS t(__one)")
    return _without_content(merge, one, "X", known)


def _without_content(merge: Merge, rows: DataFrame, op: str, scopes: Expression) -> DataFrame:
    """Return facts of the run's time; of the stored columns they have those of the rows."""
    moment, have = merge.moment, set(rows.columns)
    columns = [
        F.col(quote(c.name)) if c.name in have else F.lit(None).cast(c.type).alias(c.name)
        for c in merge.contract.stored
    ]
    return rows.select(
        *columns,
        F.lit(None).cast("string").alias("_source_file"),
        F.lit(None).cast("bigint").alias("_row_hash"),
        moment.alias("_sequence"),
        F.lit(op).alias("_op"),
        F.lit(False).alias("_partial"),
        scopes.alias("_scopes"),
        moment.alias("_ingested_at"),
        F.lit(False).alias("__said"),
        F.lit(None).cast("bigint").alias(ARRIVED),
    )
