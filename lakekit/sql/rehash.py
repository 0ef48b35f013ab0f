"""Whether row hashes cover what a contract tracks, and the statement that makes them do so."""

from collections.abc import Mapping

from lakekit.contract.contract import Contract
from lakekit.contract.sqltypes import SqlType, parse_type
from lakekit.sql.identifiers import quote_table
from lakekit.sql.row_hash import row_hash
from lakekit.table_properties import TRACKED

_Fields = tuple[object, ...]


def must_rehash(contract: Contract, known: set[str], properties: Mapping[str, str]) -> bool:
    """Say whether hashes cover other columns than the contract tracks, or other fields in them.

    A new column is null in every row, and a null adds nothing to a hash.

    Args:
        contract: What the table should be.
        known: The names of the columns that the table has, in lower case.
        properties: Those of the table.
    """
    hashed = TRACKED.read(properties)
    if contract.history.mode == "append" or hashed is None:
        return False
    before = {(name, _fields(parse_type(kind))) for name, kind in hashed.items()}
    now = {(column.name, _fields(column.sql_type)) for column in contract.tracked}
    return bool(before - now) or any(name.lower() in known for name, _ in now - before)


def rehash(contract: Contract, table: str) -> str:
    """Return the statement that hashes current versions again; it opens no version."""
    hashed = row_hash(contract.tracked)
    return f"UPDATE {quote_table(table)} SET `_row_hash` = {hashed} WHERE `_is_current`"


def _fields(kind: SqlType) -> _Fields:
    """Return the fields of a type's structs in order: what a hash depends on and may change.

    A hash numbers them; widening a type changes no hash.
    """
    if kind.name == "struct":
        return tuple((name.lower(), _fields(part)) for name, part in kind.fields)
    return tuple(fields for _, part in kind.fields if (fields := _fields(part)))
