"""The lines of landed objects: where each stands, and the digest of its bytes. No actions.

A row of a Parquet file is a line too: the JSON text of its values.
"""

import re
from collections.abc import Sequence
from functools import reduce
from pathlib import Path
from urllib.parse import quote as percent

from pyspark.sql import Column as Expression
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from lakekit.batch import Batch, naive_utc
from lakekit.json_text.lines import BLANK
from lakekit.spark.read.rows import PARQUET, row_texts
from lakekit.spark.run import MergeRun
from lakekit.spark.session.tuning import runtime_literal
from lakekit.sql.identifiers import ntz_literal
from lakekit.sql.line_hash import line_digest

# The type of the place of a record among those of its run.
POSITION = "struct<file: bigint, _source_file: string, __block_start: bigint, __line: bigint>"
# Only lines without an object are compared with it.
_BLANK = rf"^[{BLANK}]*\z"
# What Java writes with percent signs in a path.
_NOT_IN_A_PATH = r'[\x00-\x20\x7f"#%<>?\[\\\]^`{|}]'


def read_lines(run: MergeRun) -> DataFrame:
    """Return the lines of a run that are not blank.

    Returns:
        `__raw`, `_source_file`, `__block_start` and `__line` (place in the file), and the digest.
    """
    spark, digest = run.spark, line_digest(run.fingerprint)
    files, rows = _addresses(run.batch)
    # With the line number no filter can be pushed below the reading, which would hide lines.
    found = [read_text(spark, files).select("__raw", *_place())] if files else []
    found += [row_texts(spark, file).select("__raw", *_place()) for file in rows]
    found = found or [spark.createDataFrame([], "__raw string").select("__raw", *_place())]
    return reduce(DataFrame.unionAll, found).selectExpr("*", *digest)


def read_text(spark: SparkSession, addresses: Sequence[str]) -> DataFrame:
    """Return the lines of files that are not blank, as `__raw`."""
    # Spark would also end a line at a carriage return, which JSON takes for a blank.
    lines = spark.read.text([*addresses], lineSep="\n").withColumnRenamed("value", "__raw")
    return lines.where(F.contains("__raw", F.lit("{")) | ~F.col("__raw").rlike(_BLANK))


def read_every_line(run: MergeRun) -> DataFrame:
    """Return all lines of a run, with `__blank`; see `read_lines`.

    A line's `__line` counts from that of the first line of its block.
    """
    files, rows = _addresses(run.batch)
    found = [row_texts(run.spark, file) for file in rows]
    if files:
        lines = run.spark.read.text(files, lineSep="\n")
        found = [lines.withColumnRenamed("value", "__raw"), *found]
    blank = F.col("__raw").rlike(_BLANK).alias("__blank")
    return reduce(DataFrame.unionAll, [each.select("__raw", *_place(), blank) for each in found])


def _addresses(batch: Batch) -> tuple[list[str], list[str]]:
    """Return the addresses of a run's files in the form that Spark reads: of lines, and of rows."""
    paths = [name if "://" in name else str(Path(name).resolve()) for name in batch.files]
    # Spark takes these for patterns of names.
    found = [re.sub(r"[\\\[\]{}*?]", lambda found: f"\\{found.group()}", path) for path in paths]
    rows = [path for path in found if path.endswith(PARQUET)]
    return [path for path in found if path not in rows], rows


def with_position(rows: DataFrame, batch: Batch) -> DataFrame:
    """Add `__position`, the total order of a run's records."""
    files = F.array(*[F.lit(file_uri(name)) for name in batch.files]).cast("array<string>")
    order = F.call_function("array_position", files, F.col("_source_file"))
    place = F.struct(order.alias("file"), "_source_file", "__block_start", "__line")
    return rows.withColumn("__position", place)


def landed_at(run: MergeRun, flag: Expression | None = None) -> Expression:
    """Return the extraction time of the landing of a record, which has its `_source_file`.

    Args:
        run: The run, of one landing or more.
        flag: See `runtime_literal`.
    """
    if not run.landings:
        return run.extracted if flag is None else runtime_literal(run.extracted, flag)
    files = F.array(*[F.lit(file_uri(name)) for name in run.batch.files])
    times = [
        F.expr(ntz_literal(naive_utc(landing.extraction_time)))
        for landing in run.landings
        for _ in landing.files
    ]
    place = F.call_function("array_position", files, F.col("_source_file"))
    return F.get(F.array(*times), place.cast("int") - 1)


def file_uri(name: str) -> str:
    """Return a file's address in the form in which Spark reports it.

    Example:
        >>> file_uri("s3://landing/no 1.ndjson")
        's3://landing/no%201.ndjson'
    """
    scheme, rest = name.split("://", 1) if "://" in name else ("file", str(Path(name).resolve()))
    return f"{scheme}://{re.sub(_NOT_IN_A_PATH, lambda found: percent(found.group()), rest)}"


def _place() -> list[Expression]:
    """Return where a line stands; the reader's own metadata columns take longer."""
    return [
        F.input_file_name().alias("_source_file"),
        F.input_file_block_start().alias("__block_start"),
        F.monotonically_increasing_id().alias("__line"),
    ]
