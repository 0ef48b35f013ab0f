"""From landed objects to records: read once, with the contract's schema. No actions."""

import re
from pathlib import Path
from urllib.parse import quote as percent

from pyspark.sql import Column as Expression
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from lakekit.batch import Batch, naive_utc
from lakekit.contract_faults import FILE_POSITION
from lakekit.contracts import Column, Contract
from lakekit.spark.decimals import LOCALE, decimals, misfit, parsed_type, value_of, with_numbers
from lakekit.sql.identifiers import literal, quote
from lakekit.sql.row_hash import row_hash, state_hash

CORRUPT = "_corrupt_record"
# What Java writes with percent signs in a path.
_NOT_IN_A_PATH = r'[\x00-\x20\x7f"#%<>?\[\\\]^`{|}]'
_RAW = ("__raw", "_source_file", "__start", "__line")
UNREADABLE = "does not parse as the contract's schema"
PARSING = {
    "mode": "PERMISSIVE", "columnNameOfCorruptRecord": CORRUPT, "timeZone": "UTC", "locale": LOCALE,
}  # fmt: skip
# Seconds since 1970 as an exact decimal; casts to a type without zone would use the session's.
_WITHOUT_ZONE = (
    "TIMESTAMP_NTZ '1970-01-01 00:00:00' + make_dt_interval(0, 0, 0, "
    "CAST(CAST(unix_micros({0}) AS decimal(20,0)) * 0.000001 AS decimal(18,6)))"
)


def read_batch(spark: SparkSession, contract: Contract, batch: Batch) -> DataFrame:
    """Read the records of a run.

    Returns:
        The columns of the contract's schema, `_source_file`, `__start` and `__line` (place in the
        file) and `__fault`, null for a record that keeps the contract.
    """
    fields = [*_fields(contract), f"{CORRUPT} string"]
    reader = spark.read.schema(", ".join(fields)).options(**PARSING)
    files = [_absolute(name) for name in batch.files]
    lines = reader.json(files) if files else spark.createDataFrame([], ", ".join(fields))
    lines = with_numbers(lines, contract)
    # Beside the line number no filter can be pushed below the reading, which would hide lines.
    return lines.select(
        *[F.expr(f"{value_of(c)} AS {quote(c.name)}") for c in contract.columns],
        *_place(),
        F.expr(_fault(contract, "")).alias("__fault"),
    )


def read_raw(spark: SparkSession, contract: Contract, batch: Batch) -> DataFrame:
    """Read the lines of a run: `__raw`, `_source_file`, `__start`, `__line` and `__fault`.

    It is slower than `read_batch`, and says the same.
    """
    if not batch.files:
        columns = "__raw string, _source_file string, __start bigint, __line bigint, __fault string"
        return spark.createDataFrame([], columns)
    schema = ", ".join([*_fields(contract), f"{CORRUPT} string"])
    lines = spark.read.text([_absolute(name) for name in batch.files])
    parsed = lines.where(F.length(F.trim("value")) > 0).select(
        F.col("value").alias("__raw"),
        *_place(),
        F.from_json("value", schema, PARSING).alias("__record"),
    )
    parsed = with_numbers(parsed, contract, "__record.")
    return parsed.select(*_RAW, F.expr(_fault(contract, "__record.")).alias("__fault"))


def with_position(rows: DataFrame, batch: Batch) -> DataFrame:
    """Add `__position`, the total order of a run's records."""
    known = F.array(*[F.lit(file_uri(name)) for name in batch.files]).cast("array<string>")
    order = F.call_function("array_position", known, F.col("_source_file"))
    place = F.struct(order.alias("file"), "_source_file", "__start", "__line")
    return rows.withColumn("__position", place)


def file_uri(name: str) -> str:
    """Return a file's address in the form in which Spark reports it.

    Example:
        >>> file_uri("s3://landing/no 1.ndjson")
        's3://landing/no%201.ndjson'
    """
    scheme, rest = name.split("://", 1) if "://" in name else ("file", str(Path(name).resolve()))
    return f"{scheme}://{re.sub(_NOT_IN_A_PATH, lambda found: percent(found.group()), rest)}"


def _absolute(name: str) -> str:
    path = name if "://" in name else str(Path(name).resolve())
    # Spark takes these for patterns of names.
    return re.sub(r"[\\\[\]{}*?]", lambda found: f"\\{found.group()}", path)


def _place() -> list[Expression]:
    """Return where a line stands; the reader's own metadata columns take longer."""
    return [
        F.input_file_name().alias("_source_file"),
        F.input_file_block_start().alias("__start"),
        F.monotonically_increasing_id().alias("__line"),
    ]


def _fields(contract: Contract) -> list[str]:
    return [f"{quote(c.name)} {parsed_type(c)}" for c in contract.columns]


def with_facts(records: DataFrame, contract: Contract, batch: Batch) -> DataFrame:
    """Add what a record says: when, whether it deletes, and what it holds.

    Returns:
        The stored columns, `_source_file`, `__start`, `__line`, `__fault`, `__moment`, `__gone`,
        `_row_hash`, `__digest`, `__rest` (hash of the untracked columns) and `__tie` (what decides
        between records of one moment, before the position).
    """
    facts = records.selectExpr(
        *[quote(c.name) for c in contract.stored],
        "_source_file",
        "__start",
        "__line",
        "__fault",
        f"{moment_of(contract, batch)} AS __moment",
        f"{_gone(contract, batch)} AS __gone",
        f"{row_hash(contract.tracked)} AS _row_hash",
        f"{row_hash(contract.untracked)} AS __rest",
        f"{tie(contract)} AS __tie",
    )
    return facts.withColumn("__digest", F.expr(state_hash(contract)))


def tie(contract: Contract) -> str:
    """Return the expression of what decides between records of one moment, the greatest first."""
    ties = () if contract.history.tie_break == "quarantine" else contract.history.tie_break
    names = ", ".join(quote(name) for name in ties if name != FILE_POSITION)
    return f"struct({names or '0 AS none'})"


def moment_of(contract: Contract, batch: Batch) -> str:
    """Return the expression of a record's moment: its sequence, or the extraction time."""
    history = contract.history
    if history.sequence_by is None:
        return f"TIMESTAMP_NTZ {literal(str(naive_utc(batch.extraction_time)))}"
    return sequence(contract.column(history.sequence_by))


def sequence_of(contract: Contract) -> Expression:
    """Return the moment of a stored record, by the contract's sequence."""
    return F.expr(sequence(contract.column(contract.history.sequence_by or "")))


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


def _fault(contract: Contract, prefix: str) -> str:
    """Return the expression of why a parsed line is rejected, or null."""
    needed = {c.name for c in contract.columns if c.required}
    needed |= {*contract.keys, contract.history.sequence_by or ""}
    faults = [
        (f"{prefix}{quote(c.name)} IS NULL", f"{c.name}: required, but null")
        for c in contract.columns
        if c.name in needed
    ]
    faults += [(quote(misfit(c)), f"{c.name}: does not fit {c.type}") for c in decimals(contract)]
    unreadable = f"{prefix}{CORRUPT} IS NOT NULL"
    # The reader parses, and finds fault with, only what is referred to; here all columns are.
    line = " AND ".join(f"{prefix}{quote(c.name)} IS NULL" for c in contract.columns)
    why_unreadable = f"concat({literal(UNREADABLE)}, left(CAST({line} AS string), 0))"
    if not faults:
        return f"if({unreadable}, {why_unreadable}, NULL)"
    told = ", ".join(f"if({where}, {literal(why)}, NULL)" for where, why in faults)
    broken = " OR ".join(f"({where})" for where, _ in faults)
    return (
        f"CASE WHEN {unreadable} THEN {why_unreadable} "
        f"WHEN {broken} THEN concat_ws('; ', {told}) END"
    )
