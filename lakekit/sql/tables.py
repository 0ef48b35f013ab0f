"""DDL of the tables that Lakekit keeps."""

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum

from lakekit.contract.contract import RESERVED, Contract
from lakekit.sql.identifiers import literal, ntz_literal, partition_field, quote, quote_table
from lakekit.sql.line_hash import parse_fingerprint
from lakekit.table_properties import (
    CONTRACT,
    LINE_DIGESTS,
    TRACKED,
    ContractProperty,
    LineDigestsProperty,
)

CONTROL_DDL = {
    "_ingested_at": "timestamp_ntz COMMENT 'Extraction time of the run that opened it, UTC'",
    "_source_file": "string COMMENT 'Landed object the version came from'",
    "_is_current": "boolean COMMENT 'True for the version that is valid now'",
    "_valid_from": "timestamp_ntz COMMENT 'Start of validity, inclusive, UTC'",
    "_valid_to": "timestamp_ntz COMMENT 'End of validity, exclusive, UTC; null while current'",
    "_row_hash": "bigint COMMENT 'Null-safe digest of the tracked columns'",
}
# Null where it is not known which line a version shows.
DIGEST_DDL = {
    "_line_hash": "bigint COMMENT 'Digest of the landed line, first half'",
    "_line_check": "bigint COMMENT 'Digest of the landed line, second half'",
}
DELETED_DDL = {"_is_deleted": "boolean COMMENT 'True for a version that says deleted'"}
ARRIVAL = "_arrival"


class Op(StrEnum):
    """What an entry of the change journal is, in its column `_op`."""

    UPSERT = "upsert"
    DELETE = "delete"
    FULL_EXTRACT = "full_extract"
    LATEST_EXTRACT = "latest_extract"
    PRESENT = "present"
    PRESENT_UNRECORDED = "present_unrecorded"


JOURNAL_DDL = {
    "_source_file": "string",
    "_row_hash": "bigint",
    "_sequence": "timestamp_ntz COMMENT 'Event time, UTC'",
    "_op": (
        "string COMMENT 'upsert, delete, full_extract (one was merged), latest_extract (one was "
        "merged into scd1), present (a full extract held the key), present_unrecorded (it held the "
        "key, but no record of its time)'"
    ),
    "_scopes": "array<string> COMMENT 'Of a full extract: its values of delete_scope'",
    "_ingested_at": "timestamp_ntz COMMENT 'Extraction time of the run, UTC'",
    "_run_id": "string",
    ARRIVAL: "bigint COMMENT 'Of one extraction time, the higher came later'",
}
QUARANTINE_DDL = {
    "_raw": "string COMMENT 'The record as it was landed; U+FFFD for bytes that are not UTF-8'",
    "_raw_bytes": "binary COMMENT 'Its bytes, if they are not UTF-8'",
    "_fault": "string COMMENT 'Why it was rejected'",
    "_run_id": "string",
    "_source_file": "string",
    "_ingested_at": "timestamp_ntz",
}
EVERY_TABLE = {
    "format-version": "2",
    "write.parquet.compression-codec": "zstd",
    # A row group is read by one core; of 128 MB, two million versions are one or two.
    "write.parquet.row-group-size-bytes": f"{32 << 20}",
    # A run adds two or three, and its plans open all that there are, a dozen times.
    "commit.manifest.min-count-to-merge": "8",
}
BASE_PROPERTIES = {
    **EVERY_TABLE,
    "write.merge.mode": "merge-on-read",
    "write.update.mode": "merge-on-read",
    "write.delete.mode": "merge-on-read",
    "write.delete.granularity": "file",
    "write.distribution-mode": "hash",
    "write.merge.distribution-mode": "hash",
    "write.wap.enabled": "true",
    "write.metadata.delete-after-commit.enabled": "true",
    "write.metadata.previous-versions-max": "20",
    "write.metadata.metrics.default": "counts",
}


def create_table(contract: Contract, table: str) -> str:
    """Return the DDL of a history table; it does nothing if the table exists."""
    control = control_ddl(contract)
    columns = [*_columns(contract), *(f"{quote(name)} {ddl}" for name, ddl in control.items())]
    current = ["`_is_current`"] if "_is_current" in control else []
    partition = [*current, *map(partition_field, contract.table.partition_fields)]
    return _create(table, columns, partition, first_properties(contract), contract.description)


def first_properties(contract: Contract) -> dict[str, str]:
    """Return the Iceberg properties of a new history table."""
    # An empty table has no version without a digest.
    digests = LineDigestsProperty(fingerprint=parse_fingerprint(contract))
    return table_properties(contract) | LINE_DIGESTS.write(digests)


def set_properties(table: str, properties: Mapping[str, str]) -> str:
    """Return the statement that sets some properties of a table."""
    return f"ALTER TABLE {quote_table(table)} SET TBLPROPERTIES ({_pairs(properties, ', ')})"


def control_ddl(contract: Contract) -> dict[str, str]:
    """Return the control columns of a table with their DDL, in order."""
    if contract.history.mode == "append":
        return {k: CONTROL_DDL[k] for k in ("_ingested_at", "_source_file", "_row_hash")}
    return CONTROL_DDL | DIGEST_DDL | (DELETED_DDL if marks(contract) else {})


def marks(contract: Contract) -> bool:
    """Whether a deletion opens a version that says so."""
    return contract.history.deletes == "mark"


def create_journal_table(contract: Contract, table: str, has: Mapping[str, str]) -> str:
    """Return the DDL of a journal, with the columns of records that its table has (`has`)."""
    own = {name: ddl for name, ddl in has.items() if name.lower() not in RESERVED}
    columns = [f"{quote(name)} {ddl}" for name, ddl in (own | JOURNAL_DDL).items()]
    comment = f"Change events of {contract.contract} that no version records"
    return _create(table, columns, ["`_op`"], EVERY_TABLE, comment)


def _columns(contract: Contract) -> list[str]:
    return [
        f"{quote(column.name)} {column.type}"
        + (f" COMMENT {literal(column.description)}" if column.description else "")
        for column in contract.stored
    ]


def mark_latest_extracts(table: str, newest: datetime) -> str:
    """Return what separates the full extracts so far in a journal from those into a history.

    Args:
        table: Identifier of the journal.
        newest: The newest extraction time in its table, UTC.
    """
    latest = f"`_op` = {literal(Op.LATEST_EXTRACT)}, `_ingested_at` = {ntz_literal(newest)}"
    where = f"`_op` = {literal(Op.FULL_EXTRACT)}"
    return f"UPDATE {quote_table(table)} SET {latest} WHERE {where}"


def create_quarantine_table(contract: Contract, table: str) -> str:
    """Return the DDL of the table that keeps rejected records."""
    columns = [f"{quote(name)} {ddl}" for name, ddl in QUARANTINE_DDL.items()]
    comment = f"Rejected records of {contract.contract}"
    return _create(table, columns, [], EVERY_TABLE, comment)


def table_properties(contract: Contract) -> dict[str, str]:
    """Return the Iceberg properties of a history table; the contract's own win."""
    # Without keys, the time of its run is all that a record is looked for by.
    unasked = {"_source_file", "_row_hash", *DIGEST_DDL}
    if contract.keys:
        unasked.add("_ingested_at")
    metrics = {
        f"write.metadata.metrics.column.{name}": "full"
        for name in (*contract.keys, *control_ddl(contract))
        if name not in unasked
    }
    tracked = {column.name: str(column.sql_type) for column in contract.tracked}
    size = contract.maintenance.target_file_size_mb * 1024 * 1024
    return {
        **BASE_PROPERTIES,
        **metrics,
        "write.target-file-size-bytes": str(size),
        **CONTRACT.write(_immutable_part(contract)),
        **TRACKED.write(tracked),
        **contract.table.properties,
    }


def _immutable_part(contract: Contract) -> ContractProperty:
    history = contract.history
    return ContractProperty(
        version=contract.version,
        mode=history.mode,
        keys=history.keys,
        sequence_by=history.sequence_by,
        deletes=history.deletes,
        ignore_null_updates=history.ignore_null_updates,
    )


def _create(
    table: str,
    columns: list[str],
    partition: list[str],
    properties: Mapping[str, str],
    comment: str,
) -> str:
    pairs = _pairs(properties, ",\n  ")
    lines = [
        f"CREATE TABLE IF NOT EXISTS {quote_table(table)} (",
        "  " + ",\n  ".join(columns),
        ") USING iceberg",
    ]
    if partition:
        lines.append(f"PARTITIONED BY ({', '.join(partition)})")
    if comment:
        lines.append(f"COMMENT {literal(comment)}")
    return "\n".join([*lines, f"TBLPROPERTIES (\n  {pairs}\n)"])


def _pairs(properties: Mapping[str, str], between: str) -> str:
    return between.join(f"{literal(k)} = {literal(v)}" for k, v in properties.items())
