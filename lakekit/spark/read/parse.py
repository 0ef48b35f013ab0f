"""From landed objects to records: read once, with the contract's schema. No actions."""

from collections.abc import Sequence

from pyspark.sql import Column as Expression
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from lakekit.batch import Batch, Extract, naive_utc
from lakekit.contract.checks import FILE_POSITION
from lakekit.contract.contract import Column, Contract
from lakekit.json_text.lines import (
    BLANK,
    BYTE_ORDER_MARK,
    HALF_PAIR,
    MOST_DIGITS,
    MOST_LEVELS,
    WHOLE_PAIRS,
)
from lakekit.records.forms import UNREADABLE
from lakekit.spark.read.fields import layers, record_type, value_along
from lakekit.spark.read.lines import read_lines
from lakekit.spark.read.types import (
    LOCALE,
    checked,
    misfit,
    parsed_type,
    value_of,
    with_fitting,
)
from lakekit.spark.run import MergeRun
from lakekit.spark.schema.condition import deletes
from lakekit.spark.session.tuning import runtime_literal
from lakekit.sql.identifiers import literal, ntz_literal, quote
from lakekit.sql.line_hash import DIGEST
from lakekit.sql.row_hash import row_hash, state_hash

CORRUPT = "_corrupt_record"
PARSING = {
    "mode": "PERMISSIVE", "columnNameOfCorruptRecord": CORRUPT, "timeZone": "UTC", "locale": LOCALE,
    "allowSingleQuotes": "false", "allowNonNumericNumbers": "false",
    "maxNestingDepth": str(MOST_LEVELS), "maxNumLen": str(MOST_DIGITS),
    "maxStringLen": str((1 << 31) - 1),
}  # fmt: skip
# What is parsed of a line: its object with a seal as the last field. Spark reads the first value of
# a line and nothing behind it, so only a line that is one object shows its seal. If the object has
# a field of that name itself, the last one counts.
_TEXT = f"if(startswith(__raw, {literal(BYTE_ORDER_MARK)}), substring(__raw, 2), __raw)"
_TRIMMED = f"if(endswith(__text, '}}'), __text, rtrim({literal(BLANK)}, __text))"
_SEAL = "CAST(xxhash64(__raw) AS string)"
_SEALED = """
CASE WHEN endswith(__text, '}') THEN CAST(concat(
  substring(CAST(__text AS binary), 1, octet_length(__text) - 1),
  CAST(concat(if(contains(__text, '"'), ',', ''), '"__seal":"', __expected, '"}') AS binary)
) AS string) END
"""
_IS_WHOLE = "coalesce(__parsed.__seal = __expected, false)"
# A line without escapes, as most are, is searched only once.
_ESCAPES = [f"contains(__raw, {literal(start)})" for start in (r"\u", r"\ud", r"\uD")]
_HAS_HALF_PAIR = (
    f"({_ESCAPES[0]} AND ({_ESCAPES[1]} OR {_ESCAPES[2]}) AND "
    f"regexp_replace(__raw, {literal(WHOLE_PAIRS)}, '_') RLIKE {literal(HALF_PAIR)})"
)
_IS_NOT_UTF8 = "decode(CAST(__raw AS binary), 'UTF-8') != __raw"
_IS_NO_RECORD = f"NOT {_IS_WHOLE} OR {_HAS_HALF_PAIR} OR {_IS_NOT_UTF8}"
# Seconds since 1970 as an exact decimal; casts to a type without zone would use the session's.
_WITHOUT_ZONE = (
    "TIMESTAMP_NTZ '1970-01-01 00:00:00' + make_dt_interval(0, 0, 0, "
    "CAST(CAST(unix_micros({0}) AS decimal(20,0)) * 0.000001 AS decimal(18,6)))"
)


def read_records(run: MergeRun) -> DataFrame:
    """Read the records of a run; see `parse_lines`."""
    return parse_lines(read_lines(run), run.contract, run.batch.extract)


def parse_lines(lines: DataFrame, contract: Contract, extract: Extract = "full") -> DataFrame:
    """Parse lines as records.

    Args:
        lines: `__raw` and more; see `read_lines`.
        contract: Its schema.
        extract: What they are from; only those of `changes` delete their key.

    Returns:
        The columns of the contract's schema, what the lines came with, `__deleted` (whether it
        deletes its key), and `__fault`, null for a record that keeps the contract.

    Raises:
        InvalidContractError: What says which records delete is no condition.
    """
    records = lines.withColumn("__text", F.expr(_TEXT)).withColumn("__text", F.expr(_TRIMMED))
    records = records.withColumn("__expected", F.expr(_SEAL))
    text = _once(F.col("__text"))
    records = _parsed(records, contract).withColumn("__wrong", F.expr(_IS_NO_RECORD))
    records = with_fitting(records, contract, text, PARSING)
    records = records.selectExpr(
        *[f"{value_of(c)} AS {quote(c.name)}" for c in contract.columns],
        *lines.columns,
        *["__wrong", CORRUPT, *[quote(misfit(c)) for c in checked(contract)]],
    )
    may_delete = extract == "changes" and contract.history.apply_as_deletes is not None
    deleted = deletes(records, contract) if may_delete else F.lit(False)
    return records.withColumn("__deleted", deleted).selectExpr(
        *[quote(c.name) for c in contract.columns],
        *lines.columns,
        "__deleted",
        f"{_fault(contract)} AS __fault",
    )


def _parsed(records: DataFrame, contract: Contract) -> DataFrame:
    """Add the columns of the contract as they are parsed, `__parsed` and what is corrupt."""
    values, parses = [], []
    for number, columns in enumerate(layers(contract.columns)):
        name = f"__parsed{number or ''}"
        sealed = _once(F.expr(_SEALED))
        records = records.withColumn(name, F.from_json(sealed, _schema(columns), PARSING))
        values += [f"{value_along(name, c.steps)} AS {quote(c.name)}" for c in columns]
        parses.append(f"{name}.{CORRUPT}")
    return records.selectExpr("*", *values, f"coalesce({', '.join(parses)}) AS {CORRUPT}")


def _once(text: Expression) -> Expression:
    """Return a text to parse: no filter is pushed below what is not deterministic.

    Otherwise the parsing would be done once for each column of the filter.
    """
    return F.when(F.monotonically_increasing_id() >= 0, text)


def parse_keys(lines: DataFrame, contract: Contract) -> DataFrame:
    """Parse the natural keys of lines alone, also of lines that break the contract.

    Returns:
        The keys and `__fault`.
    """
    keys = tuple(c for c in contract.columns if c.name in contract.keys)
    narrow = contract.model_copy(update={"columns": keys})
    parsed = parse_lines(lines.select("__raw"), narrow)
    return parsed.select(*map(quote, contract.keys), "__fault")


def _schema(columns: Sequence[Column]) -> str:
    return record_type(columns, parsed_type, "__seal: string", f"{CORRUPT}: string")


def with_event(records: DataFrame, contract: Contract, batch: Batch) -> DataFrame:
    """Add the change event of each record: its time, whether it deletes, and hashes of its content.

    Returns:
        The stored columns, `_source_file`, `__block_start`, `__line`, `__fault`, the digest of the
        line, `__event_time`, `__deleted`, `_row_hash`, `__digest`, `__rest` (hash of the untracked
        columns) and `__tie` (what decides between records of one event time, before the position).
    """
    rows = records.select(
        *[quote(c.name) for c in contract.stored],
        "_source_file",
        "__block_start",
        "__line",
        "__fault",
        *DIGEST,
        event_time_of(contract, batch).alias("__event_time"),
        "__deleted",
        F.expr(f"{row_hash(contract.tracked)} AS _row_hash"),
        F.expr(f"{row_hash(contract.untracked)} AS __rest"),
        F.expr(f"{tie(contract)} AS __tie"),
    )
    return rows.withColumn("__digest", F.expr(state_hash(contract)))


def tie(contract: Contract) -> str:
    """Return the expression that decides between records of one event time, the greatest first."""
    ties = contract.history.tie_break
    names = ", ".join(quote(name) for name in ties if name != FILE_POSITION)
    return f"struct({names or '0 AS none'})"


def event_time_of(contract: Contract, batch: Batch) -> Expression:
    """Return a record's event time: its sequence, or the extraction time.

    The record has `__block_start`; see `read_lines`.
    """
    if contract.history.sequence_by is not None:
        return sequence_of(contract)
    now = F.expr(ntz_literal(naive_utc(batch.extraction_time)))
    return runtime_literal(now, F.col("__block_start") < 0)


def sequence_of(contract: Contract) -> Expression:
    """Return the event time of a stored record, by the contract's sequence."""
    return F.expr(sequence(contract.column(contract.history.sequence_by or "")))


def sequence(column: Column) -> str:
    """Return a sequence column as a timestamp without zone, UTC."""
    if column.sql_type.name == "timestamp":
        return _WITHOUT_ZONE.format(quote(column.name))
    return f"CAST({quote(column.name)} AS timestamp_ntz)"


def _fault(contract: Contract) -> str:
    """Return the expression of why a parsed line is rejected, or null."""
    always, misfits = {*contract.keys, contract.history.sequence_by}, checked(contract)
    faults = []
    for c in contract.columns:
        lacks = [f"{quote(c.name)} IS NULL"]
        # A value that does not fit is null by now.
        lacks += [f"NOT {quote(misfit(c))}"] if c in misfits else []
        # A record that deletes need not say more than which key, and when.
        lacks += ["NOT __deleted"] if c.name not in always else []
        if c.required or c.name in always:
            faults.append((" AND ".join(lacks), f"{c.name}: required, but null"))
    faults += [(quote(misfit(c)), f"{c.name}: does not fit {c.type}") for c in misfits]
    unreadable = f"(__wrong OR {CORRUPT} IS NOT NULL)"
    # Spark parses only the columns that are referred to, and finds faults in them alone.
    line = " AND ".join(f"{quote(c.name)} IS NULL" for c in contract.columns)
    why_unreadable = f"concat({literal(UNREADABLE)}, left(CAST({line} AS string), 0))"
    if not faults:
        return f"if({unreadable}, {why_unreadable}, NULL)"
    reasons = ", ".join(f"if({where}, {literal(why)}, NULL)" for where, why in faults)
    broken = " OR ".join(f"({where})" for where, _ in faults)
    return (
        f"CASE WHEN {unreadable} THEN {why_unreadable} "
        f"WHEN {broken} THEN concat_ws('; ', {reasons}) END"
    )
