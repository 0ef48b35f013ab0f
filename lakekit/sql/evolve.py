"""From a table that exists to its contract, as statements. Pure: nothing here runs anything."""

from collections.abc import Mapping, Sequence

from lakekit.contracts import Contract
from lakekit.errors import SchemaMismatchError
from lakekit.sql.identifiers import literal, quote, quote_table
from lakekit.sql.tables import table_properties
from lakekit.sqltypes import SqlType, can_widen, parse_type

_NESTED = ("struct", "array", "map")


def evolve_table(
    contract: Contract,
    table: str,
    columns: Mapping[str, str],
    *,
    properties: Mapping[str, str],
    partition: Sequence[str] = (),
) -> list[str]:
    """Return what brings a table to its contract, in order; nothing if it is there.

    Columns that the contract no longer has stay, and stay readable.

    Args:
        contract: What the table should be.
        table: Its identifier.
        columns: Name and DDL type of the columns that it has.
        properties: Its properties.
        partition: Its partition fields, as the contract writes them.

    Raises:
        SchemaMismatchError: A type can neither stay nor be widened; all such columns are named.
    """
    have = {name.lower(): (name, parse_type(type_)) for name, type_ in columns.items()}
    alter = f"ALTER TABLE {quote_table(table)}"
    statements, faults = [], []
    for column in contract.columns:
        old = have.get(column.name.lower())
        if old is None:
            comment = f" COMMENT {literal(column.description)}" if column.description else ""
            statements.append(f"{alter} ADD COLUMN {quote(column.name)} {column.type}{comment}")
            continue
        changes = _changes(quote(old[0]), old[1], column.sql_type)
        if changes is None:
            faults.append(f"{column.name}: {old[1]} cannot become {column.type}")
        statements += [f"{alter} {change}" for change in changes or []]
    if faults:
        raise SchemaMismatchError(f"{table}: {'; '.join(faults)}; use a new column name")
    statements += [
        f"{alter} ADD PARTITION FIELD {field}"
        for field in contract.table.partition_by
        if _plain(field) not in {_plain(known) for known in partition}
    ]
    wanted = table_properties(contract)
    changed = {key: value for key, value in wanted.items() if properties.get(key) != value}
    if changed:
        pairs = ", ".join(f"{literal(k)} = {literal(v)}" for k, v in changed.items())
        statements.append(f"{alter} SET TBLPROPERTIES ({pairs})")
    return statements


def _changes(path: str, old: SqlType, new: SqlType) -> list[str] | None:
    """Return the changes below one column, or None if there is no way."""
    if old == new or _stored(old) == _stored(new):
        return []
    if can_widen(old, new):
        return [f"ALTER COLUMN {path} TYPE {new}"]
    if old.name != new.name or old.name not in _NESTED:
        return None
    known = {name.lower(): part for name, part in old.fields}
    changes: list[str] = []
    for name, part in new.fields:
        below = f"{path}.{name if old.name != 'struct' else quote(name)}"
        if name.lower() not in known:
            changes.append(f"ADD COLUMN {below} {part}")
            continue
        deeper = _changes(below, known[name.lower()], part)
        if deeper is None:
            return None
        changes += deeper
    return changes


def _stored(kind: SqlType) -> SqlType:
    """Return the type as Iceberg keeps it: it has no integer below 32 bits."""
    return parse_type("int") if kind.name in ("tinyint", "smallint") else kind


def _plain(field: str) -> str:
    return field.replace("`", "").replace(" ", "").lower()
