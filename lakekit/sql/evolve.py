"""From a table that exists to its contract, as statements. Pure: nothing here runs anything."""

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

from lakekit.contracts import Contract
from lakekit.errors import SchemaMismatchError
from lakekit.partitions import PartitionField, parse_partition_field, same_partition
from lakekit.sql.fixed import refuse_what_is_fixed
from lakekit.sql.identifiers import literal, partition_field, quote, quote_table
from lakekit.sql.later import with_added
from lakekit.sql.line_hash import EVOLVED
from lakekit.sql.renamed import is_noted, names_over_time, noted_names, renamings
from lakekit.sql.row_hash import row_hash
from lakekit.sql.tables import (
    DIGEST_DDL,
    TRACKED_COLUMNS,
    TRACKED_FIELDS,
    marks,
    set_properties,
    table_properties,
)
from lakekit.sqltypes import SqlType, can_widen, parse_type

_NESTED = ("struct", "array", "map")
_Fields = tuple[object, ...]


def evolve_table(
    contract: Contract,
    table: str,
    columns: Mapping[str, str],
    *,
    properties: Mapping[str, str],
    partition: Sequence[str] = (),
    newest: str = "",
) -> list[str]:
    """Return what brings a table to its contract, in order; nothing if it is there.

    Columns that the contract no longer has stay, and stay readable.

    Args:
        contract: What the table should be.
        table: Its identifier.
        columns: Name and DDL type of the columns that it has.
        properties: Its properties.
        partition: Its partition fields, as the contract writes them.
        newest: The newest extraction time that it knows, UTC; empty if that is not known.

    Raises:
        SchemaMismatchError: A type can neither stay nor be widened; all such columns are named.
            Or the keys are others.
    """
    alter = f"ALTER TABLE {quote_table(table)}"
    known = {name.lower() for name in columns}
    refuse_what_is_fixed(contract, table, columns, properties)
    added, renames = new_columns(contract, columns), contract.renames(columns)
    # A column may be new and have a name that another leaves: once that is noted, it is meant.
    become = {} if is_noted(renamings(properties), renames) else renames
    fields = _with_new_names(partition, renames)
    steps = [*renamings(properties), renames]
    _refuse_names_of_partitions(table, [*renames.values(), *added], fields, steps)
    later = with_added(properties, added, become, newest)
    changes = evolve_columns(contract, table, columns)
    counted = {EVOLVED: str(int(properties.get(EVOLVED, "0")) + 1)} if changes else {}
    names = noted_names(contract, table, renames, properties)
    # Before they are added: after a crash in between, no one could tell that they are new.
    statements = evolve_properties(table, later | counted | names, properties)
    statements += changes
    statements += _add_digest(contract, table, known)
    statements += [
        f"{alter} ADD PARTITION FIELD {partition_field(field)}"
        for field in contract.table.partition_fields
        if not any(same_partition(field, each) for each in fields)
    ]
    if _must_rehash(contract, {renames.get(n, n).lower() for n in columns}, properties):
        statements.append(_rehash(contract, table))
    return statements + evolve_properties(table, table_properties(contract), properties)


def _refuse_names_of_partitions(
    table: str,
    new: Sequence[str],
    fields: Sequence[PartitionField],
    steps: Sequence[Mapping[str, str]],
) -> None:
    """Raise if a column would have the name that one of the table's partitions keeps.

    Args:
        table: Its identifier.
        new: The columns that get a name.
        fields: By what it is partitioned, by the names of their columns then.
        steps: How its columns were renamed, and are to be.
    """
    lower = [{old.lower(): now.lower() for old, now in step.items()} for step in steps]
    for bearer in (field.column.lower() for field in fields if field.transform == "identity"):
        had = {name for names in names_over_time([bearer], lower) for name in names} - {bearer}
        if taken := [name for name in new if name.lower() in had]:
            raise SchemaMismatchError(
                f"{table}: no column can be called {taken[0]}: the table is partitioned by "
                f"{bearer}, which was called so, and Iceberg keeps the names of partitions; choose "
                "another one"
            )


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


def _add_digest(contract: Contract, table: str, known: set[str]) -> list[str]:
    """Return what a table lacks that is older than the digests of lines."""
    if contract.history.mode == "append":
        return []
    alter = f"ALTER TABLE {quote_table(table)} ADD COLUMN"
    return [f"{alter} {quote(k)} {ddl}" for k, ddl in DIGEST_DDL.items() if k not in known]


def new_columns(contract: Contract, known: Collection[str]) -> list[str]:
    """Return the columns that a table lacks under their name and the one before.

    Args:
        contract: What the table should be.
        known: The names of the columns that it has.
    """
    renames = contract.renames(known)
    have = {renames.get(name, name).lower() for name in known}
    return [column.name for column in contract.stored if column.name.lower() not in have]


def evolve_properties(
    table: str, wanted: Mapping[str, str], properties: Mapping[str, str]
) -> list[str]:
    """Return what gives a table the properties that it should have; it keeps all others."""
    changed = {key: value for key, value in wanted.items() if properties.get(key) != value}
    return [set_properties(table, changed)] if changed else []


def _must_rehash(contract: Contract, known: set[str], properties: Mapping[str, str]) -> bool:
    """Whether hashes cover other columns than the contract tracks, or other fields in them.

    A column that is new is null in every row, and a null adds nothing to a hash.
    """
    if contract.history.mode == "append" or TRACKED_COLUMNS not in properties:
        return False
    before = _hashed(properties)
    now = {(column.name, _fields(column.sql_type)) for column in contract.tracked}
    return bool(before - now) or any(name.lower() in known for name, _ in now - before)


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


def _rehash(contract: Contract, table: str) -> str:
    """Return the statement that hashes current versions anew; it opens no version."""
    alive = "`_is_current`" + (" AND NOT `_is_deleted`" if marks(contract) else "")
    return (
        f"UPDATE {quote_table(table)} SET `_row_hash` = {row_hash(contract.tracked)} WHERE {alive}"
    )


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


def _with_new_names(known: Sequence[str], renames: Mapping[str, str]) -> list[PartitionField]:
    """Return the fields by which a table is partitioned once its columns are renamed."""
    now, fields = {old.lower(): new for old, new in renames.items()}, []
    for text in known:
        # A table may have fields that no contract can ask for.
        with suppress(ValueError):
            has = parse_partition_field(text)
            fields.append(replace(has, column=now.get(has.column.lower(), has.column)))
    return fields
