"""From landed objects to the change set of one run. Frames in, frames out; no actions."""

from collections.abc import Sequence
from pathlib import Path

from pyspark.sql import Column as Expression
from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F

from lakekit.batch import Batch, naive_utc
from lakekit.contracts import Column, Contract
from lakekit.sql.identifiers import quote

CORRUPT = "_corrupt_record"


def read_batch(spark: SparkSession, contract: Contract, batch: Batch) -> DataFrame:
    """Read the records of a run once, with the contract's schema.

    Returns:
        The contract's columns, `_raw`, `_source_file`, `_position` (total order of the records)
        and `_fault`, null for a record that keeps the contract.
    """
    fields = [f"{quote(c.name)} {c.type}" for c in contract.columns]
    schema = ", ".join([*fields, f"{CORRUPT} string"])
    options = {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": CORRUPT}
    files = [file_uri(name) for name in batch.files]
    known = F.array(*[F.lit(name) for name in files])
    order = F.call_function("array_position", known, F.col("_source_file"))
    lines = spark.read.text(files).select(
        F.col("value").alias("_raw"),
        F.col("_metadata.file_path").alias("_source_file"),
        F.col("_metadata.file_block_start").alias("_start"),
        F.monotonically_increasing_id().alias("_line"),
    )
    parsed = lines.where(F.length(F.trim("_raw")) > 0).withColumn(
        "_record", F.from_json("_raw", schema, options)
    )
    return parsed.withColumn("_fault", _fault(contract)).select(
        *[F.col(f"_record.{quote(c.name)}").alias(c.name) for c in contract.columns],
        "_raw",
        "_source_file",
        F.struct(order.alias("file"), "_source_file", "_start", "_line").alias("_position"),
        "_fault",
    )


def file_uri(name: str) -> str:
    """Return a file's address in the form in which Spark reports it."""
    return name if "://" in name else Path(name).resolve().as_uri()


def _fault(contract: Contract) -> Expression:
    """Return why a parsed line is rejected, or null."""
    needed = [c for c in contract.columns if c.required or c.name in contract.keys]
    missing = F.concat_ws(
        "; ",
        *[
            F.when(F.col(f"_record.{quote(c.name)}").isNull(), f"{c.name}: required, but null")
            for c in needed
        ],
    )
    unreadable = F.col("_record").isNull() | F.col(f"_record.{CORRUPT}").isNotNull()
    return F.when(unreadable, "does not parse as the contract's schema").otherwise(
        F.when(missing != "", missing)
    )


def with_row_hash(frame: DataFrame, tracked: Sequence[Column]) -> DataFrame:
    """Add `_row_hash`: a digest of the tracked columns that tells null from absence of change.

    `xxhash64` skips nulls, so a mask of them is hashed too.
    """
    mask = F.concat_ws(
        "", F.lit("m"), *[F.col(quote(c.name)).isNull().cast("int") for c in tracked]
    )
    return frame.withColumn("_row_hash", F.xxhash64(mask, *[_canonical(c) for c in tracked]))


def _canonical(column: Column) -> Expression:
    """Return a column in a form in which equal values have equal bytes."""
    value = F.col(quote(column.name))
    match column.sql_type.name:
        case "float" | "double":
            return F.when(value == 0, F.lit(0.0).cast(column.type)).otherwise(value)
        case "map":
            value = F.array_sort(F.map_entries(value))
            return F.to_json(value, {"ignoreNullFields": "false"})
        case "array" | "struct":
            return F.to_json(value, {"ignoreNullFields": "false"})
    return value


def latest_per_key(frame: DataFrame, keys: Sequence[str]) -> DataFrame:
    """Keep the last record of every key, in the total order of `_position`."""
    newest = Window.partitionBy(*[quote(k) for k in keys]).orderBy(F.col("_position").desc())
    ranked = frame.withColumn("_rank", F.row_number().over(newest))
    return ranked.where("_rank = 1").drop("_rank")


def with_change_kind(records: DataFrame, current: DataFrame, contract: Contract) -> DataFrame:
    """Join one record per key to the current versions and name what it does.

    Args:
        records: One record per key, with `_row_hash`.
        current: The keys, `_row_hash` and `_valid_from` of the current versions.
        contract: Whose keys and columns they have.

    Returns:
        The contract's columns, `_source_file`, `_row_hash`, `_since` (start of the current
        version) and `_kind`: open, change, same, or absent.
    """
    old = current.select(
        *[F.col(quote(k)).alias(f"_old_{k}") for k in contract.keys],
        F.col("_row_hash").alias("_old_hash"),
        F.col("_valid_from").alias("_since"),
    )
    match = F.lit(True)
    for key in contract.keys:
        match = match & (F.col(quote(key)) == F.col(quote(f"_old_{key}")))
    kind = (
        F.when(F.col("_row_hash").isNull(), "absent")
        .when(F.col("_old_hash").isNull(), "open")
        .when(F.col("_row_hash") == F.col("_old_hash"), "same")
        .otherwise("change")
    )
    columns = [
        F.coalesce(quote(c.name), quote(f"_old_{c.name}")).alias(c.name)
        if c.name in contract.keys
        else F.col(quote(c.name))
        for c in contract.columns
    ]
    joined = records.join(old, match, "full_outer").withColumn("_kind", kind)
    return joined.select(*columns, "_source_file", "_row_hash", "_since", "_kind")


def select_versions(changes: DataFrame, contract: Contract, batch: Batch) -> DataFrame:
    """Fix the schema of the versions that a change set opens."""
    moment = F.lit(naive_utc(batch.extraction_time)).cast("timestamp_ntz")
    opened = changes.where(F.col("_kind").isin("open", "change"))
    return opened.select(
        *[F.col(quote(c.name)) for c in contract.columns],
        moment.alias("_ingested_at"),
        "_source_file",
        F.lit(True).alias("_is_current"),
        moment.alias("_valid_from"),
        F.lit(None).cast("timestamp_ntz").alias("_valid_to"),
        "_row_hash",
    )
