"""Why records are rejected, by column, and on which lines they are: of rejected records alone."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from pyspark.sql import Column as Expression
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import StringType, StructField, StructType

from lakekit.contract.contract import Contract
from lakekit.contract.endpoint.paths import path_of
from lakekit.contract.fields import Steps
from lakekit.contract.sqltypes import SqlType
from lakekit.records.forms import UNREADABLE
from lakekit.spark.read.fields import (
    layers,
    record_type,
    type_along,
    value_along,
    walked_objects,
)
from lakekit.spark.read.lines import file_uri, read_every_line, with_position
from lakekit.spark.read.parse import PARSING, parse_lines
from lakekit.spark.run import MergeRun
from lakekit.sql.identifiers import quote

# How many lines a message names.
FEW = 3


class RejectedLine(NamedTuple):
    """A line that breaks the contract: its file, its number, its text and why."""

    file: str
    line: int
    raw: str
    fault: str


def with_reasons(rejected: DataFrame, contract: Contract) -> DataFrame:
    """Name in `__fault` the columns whose values have another type; see `parse_lines`.

    Spark leaves such a value null, while it is there as a text.
    """
    rows, texts = rejected, dict[str, Expression]()
    for number, columns in enumerate(layers(contract.columns)):
        name = f"__texts{number}"
        record = record_type(columns, lambda _: "string")
        rows = rows.withColumn(name, _parsed(F.col("__raw"), record))
        texts |= {c.name: F.expr(value_along(name, c.steps)) for c in columns}
    faults = [
        F.when(wrong, F.lit(f"{path}: does not fit {kind}"))
        for c in contract.columns
        for path, kind, wrong in _misfits(c.name, c.sql_type, F.col(quote(c.name)), texts[c.name])
    ]
    faults += [
        F.when(_is_no_object(steps), F.lit(f"{path_of(steps)}: is no object"))
        for steps in walked_objects(contract.columns)
    ]
    named = F.concat_ws("; ", *faults)
    is_known = (F.col("__fault") != UNREADABLE) | (named == "")
    rows = rows.withColumn("__fault", F.when(is_known, F.col("__fault")).otherwise(named))
    return rows.select(*rejected.columns)


def _is_no_object(steps: Steps) -> Expression:
    """Return whether a record has at a place something that has no fields."""
    text, fields = (
        _along(_parsed(F.col("__raw"), type_along(steps, kind)), steps)
        for kind in ("string", "map<string,string>")
    )
    return text.isNotNull() & fields.isNull()


def _along(record: Expression, steps: Steps) -> Expression:
    for name in steps:
        record = record.getField(name)
    return record


def first_rejected(run: MergeRun, where: str = "true") -> list[RejectedLine]:
    """Return the first lines of a run that break the contract, a few; reads all of them.

    Args:
        run: The run.
        where: Which of them, in SQL over the columns of the contract.
    """
    lines = read_every_line(run)
    records = parse_lines(lines, run.contract, run.batch.extract)
    records = records.where("__fault IS NOT NULL AND NOT __blank")
    records = with_position(with_reasons(records, run.contract).where(where), run.batch)
    rows = records.orderBy("__position").limit(FEW)
    found = rows.select("_source_file", "__block_start", "__line", "__raw", "__fault").collect()
    firsts = _first_lines(lines) if found else {}
    names = {file_uri(name): name for name in run.batch.files}
    return [
        RejectedLine(names.get(file, file), line + firsts[file, block], raw, fault)
        for file, block, line, raw, fault in found
    ]


def name_lines(rejected: Iterable[RejectedLine]) -> str:
    """Return which lines are rejected and why: each file once, and each of its faults.

    Example:
        >>> name_lines(RejectedLine("a.ndjson", n, "", "id: required, but null") for n in (1, 3))
        'a.ndjson lines 1, 3: id: required, but null'
    """
    found: dict[str, dict[str, list[str]]] = {}
    for each in rejected:
        found.setdefault(each.file, {}).setdefault(each.fault, []).append(str(each.line))
    return "; ".join(
        f"{file} {'; '.join(f'{_lines(n)}: {fault}' for fault, n in faults.items())}"
        for file, faults in found.items()
    )


def _lines(numbers: Sequence[str]) -> str:
    return f"{'line' if len(numbers) == 1 else 'lines'} {', '.join(numbers)}"


def _misfits(
    path: str, kind: SqlType, value: Expression, text: Expression
) -> Iterator[tuple[str, SqlType, Expression]]:
    """Yield the parts of a value that may not have their types, and whether they do not."""
    yield path, kind, value.isNull() & text.isNotNull()
    if kind.name == "struct":
        parts = StructType([StructField(name, StringType()) for name, _ in kind.fields])
        texts = F.from_json(text, parts, PARSING)
        for name, part in kind.fields:
            yield from _misfits(f"{path}.{name}", part, value[name], texts[name])


def _parsed(raw: Expression, record: str) -> Expression:
    """Return the parts of a line that is exactly one object; else nulls."""
    text = F.regexp_replace(raw, "^\ufeff", "")
    whole = f"struct<__record: {record}, __end: boolean>"
    alone = F.concat(F.lit('{"__record":'), text, F.lit(',"__end":true}'))
    parsed = F.from_json(alone, whole, PARSING)
    return F.when(parsed["__end"], parsed["__record"])


def _first_lines(lines: DataFrame) -> Mapping[tuple[str, int], int]:
    """Return what makes a line's `__line` its number, by its file and block.

    A block is a part of a file that one task reads.
    """
    blocks = lines.groupBy("_source_file", "__block_start").agg(
        F.min("__line").alias("first"), F.count(F.lit(1)).alias("lines")
    )
    firsts: dict[tuple[str, int], int] = {}
    before: dict[str, int] = {}
    for file, block, first, count in blocks.orderBy("_source_file", "__block_start").collect():
        firsts[file, block] = before.get(file, 0) + 1 - first
        before[file] = before.get(file, 0) + count
    return firsts
