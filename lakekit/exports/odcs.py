"""A contract as a document of the Open Data Contract Standard (https://bitol.io), version 3.1.

What the standard has no field for is kept as it is in one custom property, `lakekit`.
"""

from collections.abc import Iterator
from typing import Any

from lakekit.config.environment import Environment
from lakekit.contract.contract import Column, Contract
from lakekit.contract.sqltypes import SqlType
from lakekit.exports.dbt import dump

Json = dict[str, Any]
API_VERSION = "v3.1.0"
# The custom property with the sections that the standard does not have.
OWN = "lakekit"
OWN_SECTIONS = ("source", "endpoint", "history", "quality", "table", "maintenance", "files")
# The standard takes any word.
SENSITIVE = "sensitive"
_LOGICAL = {
    "string": "string", "binary": "string", "boolean": "boolean", "tinyint": "integer",
    "smallint": "integer", "int": "integer", "bigint": "integer", "float": "number",
    "double": "number", "decimal": "number", "date": "date", "timestamp": "timestamp",
    "timestamp_ntz": "timestamp", "array": "array", "struct": "object", "map": "object",
}  # fmt: skip


def odcs_text(contract: Contract, environment: Environment | None = None) -> str:
    """Return a contract as YAML of the standard; with an environment, where its table is."""
    return dump(odcs_document(contract, environment))


def odcs_document(contract: Contract, environment: Environment | None = None) -> Json:
    """Return a contract as a document of the standard; see `odcs_text`."""
    written = contract.model_dump(mode="json", by_alias=True, exclude_unset=True)
    own = {name: written[name] for name in OWN_SECTIONS if name in written}
    table: Json = {
        "name": contract.contract,
        "logicalType": "object",
        "physicalType": "table",
        "physicalName": contract.contract,
    }
    if contract.description:
        table["description"] = contract.description
    if granularity := _granularity(contract):
        table["dataGranularityDescription"] = granularity
    table["properties"] = [_property(contract, each) for each in contract.columns]
    return {
        "kind": "DataContract",
        "apiVersion": API_VERSION,
        "id": contract.contract,
        "name": contract.contract,
        "version": str(contract.version),
        "status": "active",
        **({"servers": [_server(environment)]} if environment else {}),
        "schema": [table],
        "customProperties": [{"property": OWN, "value": own}],
    }


def _server(environment: Environment) -> Json:
    return {
        "server": environment.environment,
        "type": "glue",
        "environment": environment.environment,
        "account": environment.account,
        "database": environment.database,
        "format": "iceberg",
    }


def _granularity(contract: Contract) -> str:
    keys = ", ".join(contract.keys)
    return {
        "scd2": f"A row for each version of {keys}; _is_current is true for the one valid now",
        "scd1": f"A row for each {keys}",
        "append": "A row for each record that was received",
    }[contract.history.mode]


def _property(contract: Contract, column: Column) -> Json:
    found: Json = {"name": column.name, **_typed(column.sql_type)}
    if column.name in contract.keys:
        found["primaryKey"] = True
        found["primaryKeyPosition"] = contract.keys.index(column.name) + 1
    if column.required:
        found["required"] = True
    if column.sensitive:
        found["classification"] = SENSITIVE
    if column.description:
        found["description"] = column.description
    if custom := [*_custom(column)]:
        found["customProperties"] = custom
    return found


def _custom(column: Column) -> Iterator[Json]:
    for name, value in (("from", column.from_), ("renamedFrom", column.renamed_from)):
        if value is not None:
            yield {"property": name, "value": value}


def _typed(kind: SqlType) -> Json:
    found: Json = {"logicalType": _LOGICAL[kind.name], "physicalType": str(kind)}
    if kind.name == "struct":
        found["properties"] = [{"name": name, **_typed(part)} for name, part in kind.fields]
    if kind.name == "array":
        found["items"] = _typed(kind.fields[0][1])
    return found
