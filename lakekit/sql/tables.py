"""DDL of the tables that Lakekit keeps."""

from lakekit.contracts import Contract
from lakekit.sql.identifiers import literal, quote, quote_table

CONTROL_DDL = {
    "_ingested_at": "timestamp_ntz COMMENT 'Extraction time of the run that opened it, UTC'",
    "_source_file": "string COMMENT 'Landed object the version came from'",
    "_is_current": "boolean COMMENT 'True for the version that is valid now'",
    "_valid_from": "timestamp_ntz COMMENT 'Start of validity, inclusive, UTC'",
    "_valid_to": "timestamp_ntz COMMENT 'End of validity, exclusive, UTC; null while current'",
    "_row_hash": "bigint COMMENT 'Null-safe digest of the tracked columns'",
}
QUARANTINE_DDL = {
    "_raw": "string COMMENT 'The record as it was received'",
    "_fault": "string COMMENT 'Why it was rejected'",
    "_run_id": "string",
    "_source_file": "string",
    "_ingested_at": "timestamp_ntz",
}
BASE_PROPERTIES = {
    "format-version": "2",
    "write.merge.mode": "merge-on-read",
    "write.update.mode": "merge-on-read",
    "write.delete.mode": "merge-on-read",
    "write.delete.granularity": "file",
    "write.distribution-mode": "hash",
    "write.merge.distribution-mode": "hash",
    "write.parquet.compression-codec": "zstd",
    "write.wap.enabled": "true",
    "write.metadata.delete-after-commit.enabled": "true",
    "write.metadata.previous-versions-max": "20",
    "write.metadata.metrics.default": "counts",
}


def create_table(contract: Contract, table: str) -> str:
    """Return the DDL of a history table; it does nothing if the table exists."""
    columns = [
        f"{quote(column.name)} {column.type}"
        + (f" COMMENT {literal(column.description)}" if column.description else "")
        for column in contract.columns
    ]
    columns += [f"{quote(name)} {ddl}" for name, ddl in CONTROL_DDL.items()]
    partition = ["`_is_current`", *contract.table.partition_by]
    return _create(table, columns, partition, table_properties(contract), contract.description)


def create_quarantine_table(contract: Contract, table: str) -> str:
    """Return the DDL of the table that keeps rejected records."""
    columns = [f"{quote(name)} {ddl}" for name, ddl in QUARANTINE_DDL.items()]
    comment = f"Rejected records of {contract.contract}"
    return _create(table, columns, [], {"format-version": "2"}, comment)


def table_properties(contract: Contract) -> dict[str, str]:
    """Return the Iceberg properties of a history table; the contract's own win."""
    metrics = {
        f"write.metadata.metrics.column.{name}": "full"
        for name in (*contract.keys, "_valid_from", "_valid_to")
    }
    size = contract.maintenance.target_file_size_mb * 1024 * 1024
    return {
        **BASE_PROPERTIES,
        **metrics,
        "write.target-file-size-bytes": str(size),
        "lakekit.contract-version": str(contract.version),
        **contract.table.properties,
    }


def _create(
    table: str, columns: list[str], partition: list[str], properties: dict[str, str], comment: str
) -> str:
    pairs = ",\n  ".join(f"{literal(k)} = {literal(v)}" for k, v in properties.items())
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
