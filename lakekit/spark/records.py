"""From landed objects to records: read once, with the contract's schema. No actions."""

from pathlib import Path

from pyspark.sql import Column as Expression
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from lakekit.batch import Batch, naive_utc
from lakekit.contracts import Column, Contract
from lakekit.sql.identifiers import literal, quote
from lakekit.sql.row_hash import row_hash

CORRUPT = "_corrupt_record"
# Seconds since 1970 as an exact decimal; casts to a type without zone would use the session's.
_WITHOUT_ZONE = (
    "TIMESTAMP_NTZ '1970-01-01 00:00:00' + make_dt_interval(0, 0, 0, "
    "CAST(CAST(unix_micros({0}) AS decimal(20,0)) * 0.000001 AS decimal(18,6)))"
)


def read_batch(spark: SparkSession, contract: Contract, batch: Batch) -> DataFrame:
    """Read the records of a run.

    Returns:
        The columns of the contract's schema, `__raw`, `_source_file`, `__position` (total order
        of the records) and `__fault`, null for a record that keeps the contract.
    """
    fields = [f"{quote(c.name)} {_parsed_type(c)}" for c in contract.columns]
    schema = ", ".join([*fields, f"{CORRUPT} string"])
    options = {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": CORRUPT, "timeZone": "UTC"}
    files = [file_uri(name) for name in batch.files]
    known = F.array(*[F.lit(name) for name in files]).cast("array<string>")
    order = F.call_function("array_position", known, F.col("_source_file"))
    lines = _lines(spark, files)
    # Beside the line number no filter can be pushed below from_json, which would parse twice.
    parsed = lines.where(F.length(F.trim("__raw")) > 0).select(
        "*",
        F.monotonically_increasing_id().alias("__line"),
        F.from_json("__raw", schema, options).alias("__record"),
    )
    return parsed.withColumn("__fault", _fault(contract)).select(
        *[F.expr(f"{_value(c)} AS {quote(c.name)}") for c in contract.columns],
        "__raw",
        "_source_file",
        F.struct(order.alias("file"), "_source_file", "__start", "__line").alias("__position"),
        "__fault",
    )


def _lines(spark: SparkSession, files: list[str]) -> DataFrame:
    if not files:
        return spark.createDataFrame([], "__raw string, _source_file string, __start bigint")
    return spark.read.text(files).select(
        F.col("value").alias("__raw"),
        F.col("_metadata.file_path").alias("_source_file"),
        F.col("_metadata.file_block_start").alias("__start"),
    )


def file_uri(name: str) -> str:
    """Return a file's address in the form in which Spark reports it."""
    return name if "://" in name else Path(name).resolve().as_uri()


def with_facts(
    records: DataFrame, contract: Contract, batch: Batch, digest: str = "_row_hash"
) -> DataFrame:
    """Add what a record says: when, whether it deletes, and what it holds.

    Returns:
        The stored columns, `_source_file`, `__position`, `__fault`, `__moment`, `__gone`,
        `_row_hash`, `__digest`, `__rest` (hash of the untracked columns) and `__tie` (what decides
        between records of one moment, before the position).
    """
    history = contract.history
    ties = () if history.tie_break == "quarantine" else history.tie_break
    tie = ", ".join(quote(name) for name in ties if name != "file_position")
    facts = records.selectExpr(
        *[quote(c.name) for c in contract.stored],
        "_source_file",
        "__position",
        "__fault",
        f"{moment_of(contract, batch)} AS __moment",
        f"{_gone(contract, batch)} AS __gone",
        f"{row_hash(contract.tracked)} AS _row_hash",
        f"{row_hash(contract.untracked)} AS __rest",
        f"struct({tie or '0 AS none'}) AS __tie",
    )
    return facts.withColumn("__digest", F.expr(digest))


def moment_of(contract: Contract, batch: Batch) -> str:
    """Return the expression of a record's moment: its sequence, or the extraction time."""
    history = contract.history
    if history.sequence_by is None:
        return f"TIMESTAMP_NTZ {literal(str(naive_utc(batch.extraction_time)))}"
    return sequence(contract.column(history.sequence_by))


def sequence(column: Column) -> str:
    """Return a sequence column as a timestamp without zone, UTC."""
    if column.sql_type.name == "timestamp":
        return _WITHOUT_ZONE.format(quote(column.name))
    return f"CAST({quote(column.name)} AS timestamp_ntz)"


def _gone(contract: Contract, batch: Batch) -> str:
    predicate = contract.history.apply_as_deletes
    if batch.extract != "changes" or predicate is None:
        return "false"
    return f"coalesce(CAST(({predicate}) AS boolean), false)"


def _parsed_type(column: Column) -> str:
    # Spark rounds a number into a decimal; its text shows whether it fits.
    return "string" if column.sql_type.name == "decimal" else column.type


def _value(column: Column) -> str:
    field = f"__record.{quote(column.name)}"
    return f"try_cast({field} AS {column.type})" if column.sql_type.name == "decimal" else field


def _fault(contract: Contract) -> Expression:
    """Return why a parsed line is rejected, or null."""
    needed = {c.name for c in contract.columns if c.required}
    needed |= {*contract.keys, contract.history.sequence_by or ""}
    faults = [
        f"if(__record.{quote(c.name)} IS NULL, {literal(f'{c.name}: required, but null')}, NULL)"
        for c in contract.columns
        if c.name in needed
    ]
    faults += [_misfit(c) for c in contract.columns if c.sql_type.name == "decimal"]
    unreadable = F.col("__record").isNull() | F.col(f"__record.{CORRUPT}").isNotNull()
    missing = F.expr(f"concat_ws('; ', {', '.join(faults)})") if faults else F.lit("")
    return F.when(unreadable, "does not parse as the contract's schema").otherwise(
        F.when(missing != "", missing)
    )


def _misfit(column: Column) -> str:
    kind, field = column.sql_type, f"__record.{quote(column.name)}"
    wide = f"decimal(38,{min(38 - (kind.precision - kind.scale), 37)})"
    fits = f"try_cast({field} AS {column.type}) = try_cast({field} AS {wide})"
    fault = literal(f"{column.name}: does not fit {column.type}")
    return f"if({field} IS NOT NULL AND NOT coalesce({fits}, false), {fault}, NULL)"
