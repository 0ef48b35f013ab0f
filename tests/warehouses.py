"""A small local warehouse, made with PyIceberg: airports with a history of three runs."""

from datetime import datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.schema import Schema
from pyiceberg.table import Table
from pyiceberg.types import (
    BooleanType,
    DecimalType,
    ListType,
    LongType,
    NestedField,
    StringType,
    TimestampType,
)

from lakekit.spark_conf import CATALOG, LOCAL_DATABASE

FIRST, SECOND, THIRD = datetime(2024, 8, 6), datetime(2025, 9, 9), datetime(2026, 9, 5)
PROPERTIES = {
    "comment": "Airports of the world",
    "lakekit.contract": '{"version": 1, "mode": "scd2", "keys": ["icao"], "sequence_by": null, '
    '"deletes": "close", "ignore_null_updates": false}',
    "lakekit.tracked": '{"name": "string", "city": "string", "fee": "decimal(9,2)"}',
}
SCHEMA = Schema(
    NestedField(1, "icao", StringType(), doc="ICAO code"),
    NestedField(2, "name", StringType()),
    NestedField(3, "city", StringType()),
    NestedField(4, "fee", DecimalType(9, 2)),
    NestedField(5, "runways", ListType(11, StringType())),
    NestedField(6, "_ingested_at", TimestampType()),
    NestedField(7, "_is_current", BooleanType()),
    NestedField(8, "_valid_from", TimestampType()),
    NestedField(9, "_valid_to", TimestampType()),
    NestedField(10, "_row_hash", LongType()),
)
# icao, name, city, valid from, valid to
OLD = [
    ("EHAM", "Schiphol", "Amsterdam", FIRST, None),
    ("WIOS", "Susilo", "Sintang", FIRST, None),
]
RENAMED = [
    ("EHAM", "Schiphol", "Amsterdam", FIRST, SECOND),
    ("EHAM", "Amsterdam Schiphol", "Amsterdam", SECOND, None),
    ("WIOS", "Susilo", "Sintang", FIRST, None),
]
CLOSED = [
    *RENAMED[:2],
    ("KJFK", "Kennedy", None, THIRD, None),
    ("WIOS", "Susilo", "Sintang", FIRST, THIRD),
]


def small_warehouse(folder: Path) -> Path:
    """Make a warehouse, and return its folder."""
    folder.mkdir(parents=True, exist_ok=True)
    catalog = SqlCatalog(CATALOG, uri=f"sqlite:///{folder}/catalog.db", warehouse=str(folder))
    catalog.create_namespace(LOCAL_DATABASE)
    table = catalog.create_table(
        f"{LOCAL_DATABASE}.airports", SCHEMA, location=f"{folder}/airports", properties=PROPERTIES
    )
    for number, rows in enumerate((OLD, RENAMED, CLOSED), 1):
        table.overwrite(_arrow(table, rows), snapshot_properties=_run(number))
    quarantine = catalog.create_table(
        f"{LOCAL_DATABASE}.airports_quarantine", Schema(NestedField(1, "_raw", StringType())),
        location=f"{folder}/airports_quarantine",
    )  # fmt: skip
    quarantine.append(pa.table({"_raw": ["{", "}"]}), snapshot_properties=_run(2))
    catalog.close()
    return folder


def _run(number: int) -> dict[str, str]:
    time = (FIRST, SECOND, THIRD)[number - 1].isoformat() + "+00:00"
    return {"lakekit.run-id": f"run-{number}", "lakekit.extraction-time": time}


def _arrow(table: Table, rows: list[Any]) -> pa.Table:
    records = [
        {
            "icao": icao, "name": name, "city": city, "fee": None, "runways": ["09/27"],
            "_ingested_at": since, "_is_current": until is None, "_valid_from": since,
            "_valid_to": until, "_row_hash": len(name),
        }
        for icao, name, city, since, until in rows
    ]  # fmt: skip
    return pa.Table.from_pylist(records, schema=table.schema().as_arrow())
