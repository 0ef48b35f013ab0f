"""Whether row hashes cover what a contract tracks, and the statement that makes them do so."""

from collections.abc import Mapping

from lakekit.contract.contract import Contract
from lakekit.contract.sqltypes import SqlType, parse_type
from lakekit.sql.identifiers import quote_table
from lakekit.sql.row_hash import row_hash
from lakekit.sql.tables import TRACKED_COLUMNS, TRACKED_FIELDS, marks

_Fields = tuple[object, ...]


def must_rehash(contract: Contract, known: set[str], properties: Mapping[str, str]) -> bool:
    """Say whether hashes cover other columns than the contract tracks, or other fields in them.

    A column that is new is null in every row, and a null adds nothing to a hash.
    """
    if contract.history.mode == "append" or TRACKED_COLUMNS not in properties:
        return False
    before = _hashed(properties)
    now = {(column.name, _fields(column.sql_type)) for column in contract.tracked}
    return bool(before - now) or any(name.lower() in known for name, _ in now - before)


def rehash(contract: Contract, table: str) -> str:
    """Return the statement that hashes current versions anew; it opens no version."""
    alive = "`_is_current`" + (" AND NOT `_is_deleted`" if marks(contract) else "")
    return (
        f"UPDATE {quote_table(table)} SET `_row_hash` = {row_hash(contract.tracked)} WHERE {alive}"
    )


def _hashed(properties: Mapping[str, str]) -> set[tuple[str, _Fields]]:
    """Return the columns that hashes cover; an old table knows of structs no more than names."""
    names, types = properties[TRACKED_COLUMNS], properties.get(TRACKED_FIELDS, "")
    structs = parse_type(f"struct<{types}>").fields if types else ()
    fields = {name: _fields(kind) for name, kind in structs}
    return {(name, fields.get(name, ())) for name in names.split(",") if name}


def _fields(kind: SqlType) -> _Fields:
    """Return the fields of a type's structs in order: what a hash depends on and may change.

    A hash numbers them; widening a type changes no hash.
    """
    if kind.name == "struct":
        return tuple((name.lower(), _fields(part)) for name, part in kind.fields)
    return tuple(fields for _, part in kind.fields if (fields := _fields(part)))
