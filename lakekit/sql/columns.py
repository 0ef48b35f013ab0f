"""From the columns that a table has to those of its contract, as statements. Pure."""

from collections.abc import Collection, Mapping

from lakekit.contract.contract import Contract
from lakekit.contract.sqltypes import SqlType, can_widen, parse_type
from lakekit.errors import SchemaMismatchError
from lakekit.sql.identifiers import literal, quote, quote_table

_NESTED = ("struct", "array", "map")


def evolve_columns(contract: Contract, table: str, columns: Mapping[str, str]) -> list[str]:
    """Return what brings a table's columns to its contract: renamed, added, widened ones.

    Raises:
        SchemaMismatchError: A type can neither stay nor be widened; all such columns are named.
    """
    alter, renames = f"ALTER TABLE {quote_table(table)}", contract.renames(columns)
    now = {renames.get(name, name): parse_type(type_) for name, type_ in columns.items()}
    have = {name.lower(): (name, kind) for name, kind in now.items()}
    # First, as an old name may be given to another column.
    statements = [
        f"{alter} RENAME COLUMN {quote(old)} TO {quote(new)}" for old, new in renames.items()
    ]
    faults = []
    for column in contract.stored:
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
    return statements


def new_columns(contract: Contract, known: Collection[str]) -> list[str]:
    """Return the columns that a table lacks under their name and the one before.

    Args:
        contract: What the table should be.
        known: The names of the columns that it has.
    """
    renames = contract.renames(known)
    have = {renames.get(name, name).lower() for name in known}
    return [column.name for column in contract.stored if column.name.lower() not in have]


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
