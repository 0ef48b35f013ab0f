"""DDL of the tables that Lakekit keeps."""

from collections.abc import Mapping

from lakekit.contract.contract import RESERVED, Contract
from lakekit.sql.identifiers import literal, partition_field, quote, quote_table
from lakekit.sql.line_hash import LINES, reading

KEYS = "lakekit.keys"
MODE = "lakekit.mode"
DELETES = "lakekit.deletes"
# The column of `sequence_by`; empty where the times of versions are those of extracts.
SEQUENCE = "lakekit.sequence"
# Whether what the companion knows of records is partial: a null in them means "as before".
PARTIAL = "lakekit.partial"
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
# No column of a contract can be called so.
ARRIVED = "__arrived"
FACTS_DDL = {
    "_source_file": "string",
    "_row_hash": "bigint",
    "_sequence": "timestamp_ntz COMMENT 'Moment of the fact, UTC'",
    "_op": (
        "string COMMENT 'U: record, D: delete (scd1: what an extract of its scope lacked, too), "
        "X: a full extract was merged, L: one into scd1, before the table kept versions, "
        "P: what a full extract held of a key, "
        "W: it held a key, but no record of its time'"
    ),
    "_partial": "boolean COMMENT 'Of a record: its nulls mean as before'",
    "_scopes": "array<string> COMMENT 'Of a full extract: its values of delete_scope'",
    "_ingested_at": "timestamp_ntz COMMENT 'Extraction time of the run, UTC'",
    "_run_id": "string",
    ARRIVED: "bigint COMMENT 'Of one extraction time, the higher came later'",
}
QUARANTINE_DDL = {
    "_raw": "string COMMENT 'The record as it was landed'",
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


TRACKED_COLUMNS = "lakekit.tracked-columns"
# Of those that hold structs, the types: their hashes depend on the order of the fields.
TRACKED_FIELDS = "lakekit.tracked-fields"


def create_table(contract: Contract, table: str) -> str:
    """Return the DDL of a history table; it does nothing if the table exists."""
    control = control_ddl(contract)
    columns = [*_columns(contract), *(f"{quote(name)} {ddl}" for name, ddl in control.items())]
    current = ["`_is_current`"] if "_is_current" in control else []
    partition = [*current, *map(partition_field, contract.table.partition_fields)]
    # Of no version it is unknown which line it shows.
    properties = table_properties(contract) | {LINES: reading(contract)}
    return _create(table, columns, partition, properties, contract.description)


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


def partial(contract: Contract) -> str:
    """Return whether a null in a record means "as before", as a property tells it."""
    return str(contract.history.ignore_null_updates).lower()


def create_facts_table(contract: Contract, table: str, has: Mapping[str, str]) -> str:
    """Return the DDL of a companion, with all columns of records that its history has (`has`)."""
    own = {name: ddl for name, ddl in has.items() if name.lower() not in RESERVED}
    columns = [f"{quote(name)} {ddl}" for name, ddl in (own | FACTS_DDL).items()]
    comment = f"What is known of {contract.contract} and shows in no version of its own"
    return _create(table, columns, ["`_op`"], EVERY_TABLE, comment)


def _columns(contract: Contract) -> list[str]:
    return [
        f"{quote(column.name)} {column.type}"
        + (f" COMMENT {literal(column.description)}" if column.description else "")
        for column in contract.stored
    ]


def mark_latest_extracts(table: str, newest: str) -> str:
    """Return what tells the full extracts so far in a companion from those into a history.

    Args:
        table: Identifier of the companion.
        newest: The newest extraction time that its table knows, UTC.
    """
    told = f"`_op` = 'L', `_ingested_at` = TIMESTAMP_NTZ {literal(newest)}"
    return f"UPDATE {quote_table(table)} SET {told} WHERE `_op` = 'X'"


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
    types = {column.name: str(column.sql_type) for column in contract.tracked}
    structs = [f"{name}:{kind}" for name, kind in types.items() if "struct<" in kind]
    size = contract.maintenance.target_file_size_mb * 1024 * 1024
    return {
        **BASE_PROPERTIES,
        **metrics,
        "write.target-file-size-bytes": str(size),
        "lakekit.contract-version": str(contract.version),
        MODE: contract.history.mode,
        DELETES: contract.history.deletes,
        SEQUENCE: contract.history.sequence_by or "",
        TRACKED_COLUMNS: ",".join(column.name for column in contract.tracked),
        **({TRACKED_FIELDS: ",".join(structs)} if structs else {}),
        **({KEYS: ",".join(contract.keys)} if contract.keys else {}),
        **({PARTIAL: partial(contract)} if contract.history.remembers else {}),
        **contract.table.properties,
    }


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
