"""A contract from a document of the Open Data Contract Standard; what is not carried over."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from lakekit.contract.checked import CheckedContract
from lakekit.contract.contract import RESERVED, Contract
from lakekit.errors import InvalidContractError
from lakekit.exports.dbt import dump
from lakekit.exports.odcs import OWN, OWN_SECTIONS, SENSITIVE
from lakekit.exports.odcs_types import ddl_type
from lakekit.models import parse_yaml

Json = Mapping[str, Any]
# What has no meaning of its own in a contract, or is carried over.
_DOCUMENT = {"kind", "apiVersion", "id", "name", "version", "status", "schema", "servers",
             "customProperties", "description", "contractCreatedTs"}  # fmt: skip
_OBJECT = {"id", "name", "logicalType", "physicalType", "physicalName", "description", "properties",
           "dataGranularityDescription"}  # fmt: skip
_PROPERTY = {"id", "name", "logicalType", "physicalType", "description", "properties", "items",
             "primaryKey", "primaryKeyPosition", "required", "customProperties", "partitioned",
             "partitionKeyPosition", "physicalName", "logicalTypeOptions"}  # fmt: skip

_NESTED = {"id", "name", "logicalType", "physicalType", "properties", "items"}


@dataclass(frozen=True)
class Given:
    """What a person says in addition to the document: the table, if there are several; its API."""

    table: str | None = None
    source: str | None = None
    path: str | None = None


@dataclass
class Imported:
    """The text of a contract, the contract itself, and what was not carried over or was chosen."""

    text: str
    contract: Contract
    notes: list[str] = field(default_factory=list)


def import_odcs(text: str, given: Given, *, name: str) -> Imported:
    """Return the contract of one table of a document.

    Args:
        text: YAML or JSON.
        given: What the document does not say.
        name: How messages call it.

    Raises:
        InvalidContractError: It is no document of the standard, version 3; it has several tables
            and none is chosen; it lacks what a contract needs; or no contract can be made of it.
    """
    document = parse_yaml(text, name=name)
    _refuse_other(document, name)
    table = _chosen(document, given.table, name)
    notes = [*_left(document, _DOCUMENT, "")]
    if OWN not in _custom(document) and document.get("servers"):
        notes.append("servers")
    notes += [f"customProperties.{each}" for each in _custom(document) if each != OWN]
    made = _contract(document, table, given, notes, name)
    body = dump(made)
    contract = CheckedContract.from_yaml(body, name=name)
    notes = [" ".join(note.split()) for note in notes]
    comments = "".join(f"# {note}\n" for note in notes)
    head = f"# Not carried over from the data contract, or chosen:\n{comments}" if notes else ""
    return Imported(head + body, contract, notes)


def _refuse_other(document: Json, name: str) -> None:
    version = str(document.get("apiVersion", ""))
    if document.get("kind") != "DataContract" or not re.match(r"v3\.", version):
        raise InvalidContractError(
            f"{name}: not a data contract of the Open Data Contract Standard, version 3; "
            f"expected kind: DataContract and apiVersion: v3.1.0, got kind: "
            f"{document.get('kind')} and apiVersion: {document.get('apiVersion')}"
        )


def _chosen(document: Json, wanted: str | None, name: str) -> Json:
    tables = document.get("schema")
    if not isinstance(tables, list) or not tables or not all(map(_is_named, tables)):
        raise InvalidContractError(f"{name}: schema: expected a list of tables with names")
    found = [each for each in tables if wanted in (None, each["name"])]
    if len(found) == 1:
        only: Json = found[0]
        return only
    there = ", ".join(str(each["name"]) for each in tables)
    fault = f"no table '{wanted}'" if wanted else f"it has {len(tables)} tables"
    raise InvalidContractError(f"{name}: {fault}; choose one with --table: {there}")


def _contract(
    document: Json, table: Json, given: Given, notes: list[str], name: str
) -> dict[str, Any]:
    own = _own(document)
    title = str(table["name"])
    listed = table.get("properties")
    properties = [each for each in listed if _is_named(each)] if isinstance(listed, list) else []
    notes += _left(table, _OBJECT, f"{title}.")
    columns = [column for each in properties if (column := _column(each, title, notes))]
    names = {str(each["name"]): _column_name(str(each["name"])) for each in properties}
    made: dict[str, Any] = {"contract": _table_name(title, notes)}
    made["version"] = _version(document.get("version"), notes)
    if description := _description(document, table, notes):
        made["description"] = description
    made["source"] = given.source or own.get("source")
    made["endpoint"] = {**own.get("endpoint", {}), **({"path": given.path} if given.path else {})}
    if not made["source"] or not made["endpoint"]:
        raise InvalidContractError(
            f"{name}: it does not say from which API the records come; give --source NAME and "
            "--path PATH"
        )
    made["schema"] = columns
    made["history"] = {**own.get("history", {}), **_keys(properties, names, own, notes)}
    made |= {key: own[key] for key in ("quality", "table", "maintenance", "files") if key in own}
    if "table" not in own and (split := _partitions(properties, names)):
        made["table"] = {"partition_by": split}
    return made


def _own(document: Json) -> dict[str, Any]:
    """Return the sections that an export of ours has kept; none of another document."""
    value = _custom(document).get(OWN)
    kept = value if isinstance(value, dict) else {}
    return {
        name: part for name, part in kept.items()
        if name in OWN_SECTIONS and isinstance(part, str if name == "source" else dict)
    }  # fmt: skip


def _custom(part: Json) -> dict[str, Any]:
    """Return the custom properties of a part, by their names."""
    found = part.get("customProperties")
    entries = [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []
    return {str(each.get("property")): each.get("value") for each in entries}


def _keys(
    properties: Sequence[Json], names: Mapping[str, str], own: Json, notes: list[str]
) -> dict[str, Any]:
    keyed = [each for each in properties if each.get("primaryKey") is True]
    keyed.sort(key=lambda each: _place(each, "primaryKeyPosition"))
    keys = [names[str(each["name"])] for each in keyed]
    if "history" in own:
        return {"keys": keys} if keys else {}
    if keys:
        notes.append("history.mode: scd2 was chosen, which keeps every version")
        return {"keys": keys, "mode": "scd2"}
    notes.append("history.mode: append was chosen, as no property is a primaryKey")
    return {"mode": "append"}


def _partitions(properties: Sequence[Json], names: Mapping[str, str]) -> list[str]:
    split = [each for each in properties if each.get("partitioned") is True]
    split.sort(key=lambda each: _place(each, "partitionKeyPosition"))
    return [names[str(each["name"])] for each in split]


def _place(each: Json, field: str) -> int:
    place = each.get(field)
    return place if isinstance(place, int) else -1


def _column(each: Json, table: str, notes: list[str]) -> dict[str, Any] | None:
    original = str(each["name"])
    path = f"{table}.{original}"
    name = _column_name(original)
    if name.lower() in RESERVED or name.startswith("__"):
        notes.append(f"{path}: left out, as the name is that of a control column of Lakekit")
        return None
    is_sensitive = each.get("classification") == SENSITIVE
    notes += _left(each, _PROPERTY | ({"classification"} if is_sensitive else set()), f"{path}.")
    if each.get("physicalName") not in (None, original):
        notes.append(f"{path}.physicalName: {each['physicalName']} (the column has the name)")
    column: dict[str, Any] = {"name": name, "type": ddl_type(each, path, notes)}
    if each.get("logicalTypeOptions"):
        notes.append(f"{path}.logicalTypeOptions")
    notes += _lost_within(each, path)
    custom = _custom(each)
    if name != original:
        column["from"] = original
    for known, to in (("from", "from"), ("renamedFrom", "renamed_from")):
        if known in custom:
            column[to] = custom.pop(known)
    notes += [f"{path}.customProperties.{other}" for other in custom]
    if each.get("required") is True:
        column["required"] = True
    if is_sensitive:
        column["sensitive"] = True
    if each.get("description"):
        column["description"] = str(each["description"])
    return column


def _column_name(name: str) -> str:
    """Return a name that a column may have."""
    made = re.sub(r"[^A-Za-z0-9_]+", "_", name).strip() or "_"
    return made if re.match(r"[A-Za-z_]", made) else f"_{made}"


def _table_name(name: str, notes: list[str]) -> str:
    made = re.sub(r"[^a-z0-9_]+", "_", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower())
    made = made.strip("_") or "table"
    made = made if made[0].isalpha() else f"t_{made}"
    if made != name:
        notes.append(f"contract: {made} was made of the name {name}")
    return made


def _version(given: Any, notes: list[str]) -> int:
    found = re.match(r"v?([1-9]\d{0,8})", str(given))
    version = int(found[1]) if found else 1
    if str(version) != str(given):
        notes.append(f"version: {given} (a contract counts: {version})")
    return version


def _description(document: Json, table: Json, notes: list[str]) -> str:
    """Return the description of the table, or the purpose of the document."""
    whole = document.get("description")
    parts = whole if isinstance(whole, dict) else {"purpose": whole} if whole else {}
    own = table.get("description") or parts.get("purpose") or ""
    notes += [f"description.{name}" for name, text in parts.items() if text and text != own]
    return str(own)


def _left(value: Json, known: set[str], path: str) -> list[str]:
    """Return the fields of a part that no contract has a place for."""
    empty: tuple[Any, ...] = (None, "", [], {}, False)
    return [f"{path}{name}" for name, part in value.items()
            if name not in known and part not in empty]  # fmt: skip


def _lost_within(each: Json, path: str) -> list[str]:
    """Return the fields of nested parts that no type has a place for."""
    properties = each.get("properties")
    parts = [part for part in properties or () if _is_named(part)]
    inner = [(part, f"{path}.{part['name']}") for part in parts]
    if isinstance(each.get("items"), dict):
        inner.append((each["items"], f"{path}[]"))
    return [
        note
        for part, place in inner
        for note in (*_left(part, _NESTED, f"{place}."), *_lost_within(part, place))
    ]


def _is_named(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("name"), str) and bool(value["name"])
