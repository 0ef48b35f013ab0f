"""A local warehouse of two tables, made with PyIceberg: three runs, an added column, rejects."""

from datetime import datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.schema import Schema
from pyiceberg.table import Table
from pyiceberg.types import (
    BinaryType,
    BooleanType,
    IcebergType,
    LongType,
    NestedField,
    StringType,
    TimestampType,
)

from lakekit.spark_conf import CATALOG, LOCAL_DATABASE

FIRST, SECOND, THIRD = datetime(2026, 1, 1), datetime(2026, 1, 2), datetime(2026, 1, 3)
CONTRACT = (
    '{"version": 1, "mode": "scd2", "keys": ["at", "order"], "sequence_by": null, '
    '"deletes": "close", "ignore_null_updates": false}'
)
CONTROL: dict[str, IcebergType] = {
    "_ingested_at": TimestampType(), "_is_current": BooleanType(),
    "_valid_from": TimestampType(), "_valid_to": TimestampType(), "_row_hash": LongType(),
}  # fmt: skip
# Columns whose names are words of SQL; a value that would be a tag.
VALUES: dict[str, IcebergType] = {
    "at": StringType(), "order": LongType(), "name": StringType(),
}  # fmt: skip
REJECTS: dict[str, IcebergType] = {
    "_raw": StringType(), "_raw_bytes": BinaryType(), "_fault": StringType(),
    "_run_id": StringType(), "_source_file": StringType(), "_ingested_at": TimestampType(),
}  # fmt: skip
TAG = "<img src=x onerror=alert(1)>"


def make_warehouse(folder: Path) -> Path:
    """Make a warehouse, and return its folder."""
    folder.mkdir()
    catalog = SqlCatalog(CATALOG, uri=f"sqlite:///{folder}/catalog.db", warehouse=str(folder))
    catalog.create_namespace(LOCAL_DATABASE)
    orders = _create(catalog, folder, "orders", VALUES | CONTROL, {"lakekit.contract": CONTRACT})
    _write(orders, 1, [_version(1, "a", FIRST), _version(2, "b", FIRST)])
    _write(orders, 2, [
        _version(1, "a", FIRST, SECOND), _version(1, TAG, SECOND), _version(2, "b", FIRST),
    ])  # fmt: skip
    with orders.update_schema() as update:
        update.add_column("note", StringType(), doc="What a person wrote")
    _write(orders, 3, [
        _version(1, "a", FIRST, SECOND), _version(1, TAG, SECOND), _version(2, "b", FIRST, THIRD),
        _version(3, "c", THIRD),
    ])  # fmt: skip
    rejects = _create(catalog, folder, "orders_quarantine", REJECTS, {})
    rejects.append(
        pa.Table.from_pylist(
            [
                {"_raw": f'{{"order": {n}}}', "_fault": "at: null", "_ingested_at": SECOND}
                for n in range(4)
            ] + [{"_raw": TAG, "_fault": f"no JSON {TAG}", "_ingested_at": THIRD}],
            schema=rejects.schema().as_arrow(),
        )
    )  # fmt: skip
    _create(catalog, folder, "plain", {"id": LongType()}, {})
    catalog.close()
    return folder


def _create(
    catalog: SqlCatalog,
    folder: Path,
    name: str,
    columns: dict[str, IcebergType],
    properties: dict[str, str],
) -> Table:
    fields = [NestedField(n, each, kind) for n, (each, kind) in enumerate(columns.items(), 1)]
    place = f"{folder}/{name}"
    identifier = f"{LOCAL_DATABASE}.{name}"
    return catalog.create_table(identifier, Schema(*fields), location=place, properties=properties)


def _write(table: Table, number: int, rows: list[dict[str, Any]]) -> None:
    time = (FIRST, SECOND, THIRD)[number - 1].isoformat() + "+00:00"
    run = {"lakekit.run-id": f"run-{number}", "lakekit.extraction-time": time}
    written = pa.Table.from_pylist(rows, schema=table.schema().as_arrow())
    write = table.append if number == 1 else table.overwrite
    write(written, snapshot_properties=run)


def _version(
    order: int, name: str, since: datetime, until: datetime | None = None
) -> dict[str, Any]:
    return {
        "at": "x", "order": order, "name": name, "_ingested_at": since,
        "_is_current": until is None, "_valid_from": since, "_valid_to": until, "_row_hash": order,
    }  # fmt: skip
