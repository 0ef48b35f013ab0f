"""The type of a column from what a data contract says: its physical type, else its logical."""

import re
from collections.abc import Mapping
from typing import Any

from lakekit.contract.sqltypes import SqlType, parse_type

# Names of other systems. Where they round or cut, the type here is the wider one.
_OTHERS = {
    "text": "string", "uuid": "string", "json": "string", "jsonb": "string", "nvarchar": "string",
    "varchar": "string", "varchar2": "string", "char": "string", "clob": "string", "xml": "string",
    "time": "string", "character varying": "string", "enum": "string",
    "int64": "bigint", "int8": "bigint", "int32": "int", "int4": "int", "int2": "smallint",
    "int16": "smallint", "bigserial": "bigint", "serial": "int", "mediumint": "int",
    "float64": "double", "float8": "double", "float32": "float", "float4": "float",
    "double precision": "double", "bool": "boolean", "bit": "boolean",
    "datetime": "timestamp_ntz", "datetime2": "timestamp_ntz", "timestamptz": "timestamp",
    "timestamp_tz": "timestamp", "timestamp with time zone": "timestamp",
    "timestamp without time zone": "timestamp_ntz", "bytes": "binary", "bytea": "binary",
    "blob": "binary", "varbinary": "binary", "number": "decimal(38,0)",
    "bignumeric": "decimal(38,9)",
}  # fmt: skip
_LOGICAL = {
    "string": "string", "integer": "bigint", "number": "double", "boolean": "boolean",
    "date": "date", "timestamp": "timestamp", "time": "string",
}  # fmt: skip
_SIZED = re.compile(r"(?P<name>[a-z][a-z0-9_ ]*?)\s*(?P<sizes>\([\d, ]*\))?(?P<rest> [a-z ]+)?")


def ddl_type(given: Mapping[str, Any], path: str, notes: list[str]) -> str:
    """Return a type of Spark's DDL; what is chosen, as nothing says it, is noted.

    Example:
        >>> ddl_type({"logicalType": "number", "physicalType": "NUMERIC(9, 2)"}, "a", [])
        'decimal(9,2)'
        >>> notes = []
        >>> ddl_type({"logicalType": "string", "physicalType": "GEOGRAPHY"}, "a", notes), notes
        ('string', ["a: physicalType 'GEOGRAPHY' is unknown here; string by its logicalType"])
    """
    physical = str(given.get("physicalType") or "")
    if found := _physical(physical):
        return found
    logical = str(given.get("logicalType") or "")
    chosen = _logical(given, logical, path, notes)
    if physical:
        notes.append(f"{path}: physicalType '{physical}' is unknown here; {chosen} by its "
                     "logicalType")  # fmt: skip
    elif logical in ("number", "timestamp") or logical not in {*_LOGICAL, "array", "object"}:
        notes.append(f"{path}: {chosen} was chosen for logicalType '{logical}'")
    return chosen


def _physical(text: str) -> str | None:
    try:
        return str(parse_type(text))
    except ValueError:
        pass
    found = _SIZED.fullmatch(text.strip().lower())
    if not found:
        return None
    name = f"{found['name']}{found['rest'] or ''}"
    if name in ("number", "bignumeric") and found["sizes"] and found["sizes"] != "()":
        return _physical(f"decimal{found['sizes']}")
    return _OTHERS.get(name)


def _logical(given: Mapping[str, Any], logical: str, path: str, notes: list[str]) -> str:
    if logical == "array" and isinstance(given.get("items"), dict):
        return f"array<{ddl_type(given['items'], f'{path}[]', notes)}>"
    parts = [each for each in given.get("properties") or () if isinstance(each, dict)]
    if logical == "object" and parts:
        fields = tuple(
            (str(each.get("name")), parse_type(ddl_type(each, f"{path}.{each.get('name')}", notes)))
            for each in parts
        )
        return str(SqlType("struct", fields=fields))
    return _LOGICAL.get(logical, "string")
