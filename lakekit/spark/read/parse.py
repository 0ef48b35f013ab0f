"""From landed objects to records: read once, with the contract's schema. No actions."""

from pyspark.sql import Column as Expression
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from lakekit.batch import Batch, naive_utc
from lakekit.contract.checks import FILE_POSITION
from lakekit.contract.contract import Column, Contract
from lakekit.spark.read.lines import read_lines
from lakekit.spark.read.types import (
    LOCALE,
    checked,
    misfit,
    parsed_type,
    value_of,
    with_fitting,
    with_undated,
)
from lakekit.spark.run import MergeRun
from lakekit.spark.schema.condition import deletes
from lakekit.spark.session.tuning import runtime_literal
from lakekit.sql.identifiers import literal, ntz_literal, quote
from lakekit.sql.line_hash import DIGEST
from lakekit.sql.row_hash import row_hash, state_hash

CORRUPT = "_corrupt_record"
_BYTE_ORDER_MARK = "\ufeff"
_WHOLE = (1 << 31) - 1
UNREADABLE = "does not parse as the contract's schema"
PARSING = {
    "mode": "PERMISSIVE", "columnNameOfCorruptRecord": CORRUPT, "timeZone": "UTC", "locale": LOCALE,
    # Else a text without dashes is taken for a number of days.
    "enableDateTimeParsingFallback": "false",
}  # fmt: skip
# Seconds since 1970 as an exact decimal; casts to a type without zone would use the session's.
_WITHOUT_ZONE = (
    "TIMESTAMP_NTZ '1970-01-01 00:00:00' + make_dt_interval(0, 0, 0, "
    "CAST(CAST(unix_micros({0}) AS decimal(20,0)) * 0.000001 AS decimal(18,6)))"
)


def read_records(run: MergeRun) -> DataFrame:
    """Read the records of a run; see `parse_lines`."""
    condition = run.contract.history.apply_as_deletes
    may_delete = run.batch.extract == "changes" and condition is not None
    return parse_lines(read_lines(run), run.contract, may_delete=may_delete)


def parse_lines(lines: DataFrame, contract: Contract, *, may_delete: bool = False) -> DataFrame:
    """Parse lines as records.

    Args:
        lines: `__raw` and more; see `read_lines`.
        contract: Its schema.
        may_delete: Whether the contract says which records delete.

    Returns:
        The columns of the contract's schema, what the lines came with, `__deleted` (whether it
        deletes its key), and `__fault`, null for a record that keeps the contract.

    Raises:
        InvalidContractError: What says which records delete is no condition.
    """
    raw = F.col("__raw")
    text = F.when(raw.startswith(_BYTE_ORDER_MARK), F.substring(raw, 2, _WHOLE)).otherwise(raw)
    # No filter is pushed below an expression that is not deterministic: the parsing would be done
    # once for each column of the filter.
    text = F.when(F.monotonically_increasing_id() >= 0, text)
    # Spark reads the first of several records in a line, and nothing behind it.
    alone = F.concat(F.lit('{"__record":'), text, F.lit(',"__end":true}'))
    records = lines.withColumn("__parsed", F.from_json(alone, _schema(contract), PARSING))
    whole = F.coalesce("__parsed.__end", F.lit(False)) & F.col("__parsed.__record").isNotNull()
    # In a text that is not UTF-8 each wrong byte would become another character.
    wrong = ~whole | (F.decode(raw.cast("binary"), "UTF-8") != raw)
    records = records.withColumn("__wrong", wrong)
    records = records.selectExpr("*", f"__parsed.{CORRUPT}", "__parsed.__record.*")
    records = with_fitting(with_undated(records, contract, text, PARSING), contract)
    records = records.selectExpr(
        *[f"{value_of(c)} AS {quote(c.name)}" for c in contract.columns],
        *lines.columns,
        *["__wrong", CORRUPT, *[quote(misfit(c)) for c in checked(contract)]],
    )
    deleted = deletes(records, contract) if may_delete else F.lit(False)
    return records.withColumn("__deleted", deleted).selectExpr(
        *[quote(c.name) for c in contract.columns],
        *lines.columns,
        "__deleted",
        f"{_fault(contract)} AS __fault",
    )


def parse_keys(lines: DataFrame, contract: Contract) -> DataFrame:
    """Parse the natural keys of lines alone, also of lines that break the contract."""
    keys = tuple(c for c in contract.columns if c.name in contract.keys)
    narrow = contract.model_copy(update={"columns": keys})
    return parse_lines(lines.select("__raw"), narrow).select(*map(quote, contract.keys))


def _schema(contract: Contract) -> str:
    fields = ", ".join(f"{quote(c.name)}: {parsed_type(c)}" for c in contract.columns)
    return f"__record struct<{fields}>, __end boolean, {CORRUPT} string"


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
