"""From a table that exists to its contract, as statements. Pure: nothing here runs anything."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

from lakekit.contract.contract import Contract
from lakekit.contract.partitions import PartitionField, parse_partition_field, same_partition
from lakekit.errors import SchemaMismatchError
from lakekit.sql.added_columns import NOTES, with_added
from lakekit.sql.columns import add_columns, evolve_columns, new_columns
from lakekit.sql.identifiers import partition_field, quote_table
from lakekit.sql.immutable import refuse_what_is_fixed
from lakekit.sql.line_hash import EVOLVED
from lakekit.sql.rehash import must_rehash, rehash
from lakekit.sql.renames import EARLIER_NAMES, is_noted, names_over_time, noted_names, renamings
from lakekit.sql.tables import (
    ARRIVED,
    DIGEST_DDL,
    FACTS_DDL,
    set_properties,
    table_properties,
)

# What runs and earlier steps have noted of a table's columns.
NOTES_OF_COLUMNS = (*NOTES, EARLIER_NAMES, EVOLVED)


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
    schema = evolve_schema(contract, table, columns, properties=properties, partition=partition)
    notes = evolve_notes(contract, table, columns, properties=properties, newest=newest)
    # Before they are added: after a crash in between, no one could tell that they are new.
    return [*([set_properties(table, notes)] if notes else []), *schema]


def evolve_schema(
    contract: Contract,
    table: str,
    columns: Mapping[str, str],
    *,
    properties: Mapping[str, str],
    partition: Sequence[str] = (),
) -> list[str]:
    """Return what follows the notes of a table that is brought to its contract.

    See `evolve_table`.

    Raises:
        SchemaMismatchError: A type can neither stay nor be widened, or the keys are others.
    """
    alter = f"ALTER TABLE {quote_table(table)}"
    known = {name.lower() for name in columns}
    refuse_what_is_fixed(contract, table, columns, properties)
    added, renames = new_columns(contract, columns), contract.renames(columns)
    fields = _with_new_names(partition, renames)
    steps = [*renamings(properties), renames]
    _refuse_names_of_partitions(table, [*renames.values(), *added], fields, steps)
    statements = evolve_columns(contract, table, columns)
    statements += _add_digest(contract, table, known)
    statements += [
        f"{alter} ADD PARTITION FIELD {partition_field(field)}"
        for field in contract.table.partition_fields
        if not any(same_partition(field, each) for each in fields)
    ]
    if must_rehash(contract, {renames.get(n, n).lower() for n in columns}, properties):
        statements.append(rehash(contract, table))
    return statements + evolve_properties(table, table_properties(contract), properties)


def evolve_notes(
    contract: Contract,
    table: str,
    columns: Mapping[str, str],
    *,
    properties: Mapping[str, str],
    newest: str = "",
) -> dict[str, str]:
    """Return what a table is told of its columns before they change; see `evolve_table`.

    It rests on what the properties named in `NOTES_OF_COLUMNS` tell.

    Raises:
        SchemaMismatchError: Columns of `delete_scope` would have each other's names, or a type can
            neither stay nor be widened.
    """
    added, renames = new_columns(contract, columns), contract.renames(columns)
    # A column may be new and have a name that another leaves: once that is noted, it is meant.
    become = {} if is_noted(renamings(properties), renames) else renames
    notes = with_added(properties, added, become, newest)
    if evolve_columns(contract, table, columns):
        notes[EVOLVED] = str(int(properties.get(EVOLVED, "0")) + 1)
    notes |= noted_names(contract, table, renames, properties)
    return _changed(notes, properties)


def notes_stand(known: Mapping[str, str], properties: Mapping[str, str]) -> bool:
    """Whether properties say of a table's columns what they said when they were looked at."""
    return all(known.get(name) == properties.get(name) for name in NOTES_OF_COLUMNS)


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


def _add_digest(contract: Contract, table: str, known: set[str]) -> list[str]:
    """Return what a table lacks that is older than the digests of lines."""
    return [] if contract.history.mode == "append" else add_columns(table, DIGEST_DDL, known)


def evolve_facts(contract: Contract, table: str, columns: Mapping[str, str]) -> list[str]:
    """Return what brings a companion's columns to its contract; see `evolve_columns`."""
    arrived = {ARRIVED: FACTS_DDL[ARRIVED]}
    return evolve_columns(contract, table, columns) + add_columns(table, arrived, columns)


def evolve_properties(
    table: str, wanted: Mapping[str, str], properties: Mapping[str, str]
) -> list[str]:
    """Return what gives a table the properties that it should have; it keeps all others."""
    changed = _changed(wanted, properties)
    return [set_properties(table, changed)] if changed else []


def _changed(wanted: Mapping[str, str], properties: Mapping[str, str]) -> dict[str, str]:
    return {key: value for key, value in wanted.items() if properties.get(key) != value}


def _with_new_names(known: Sequence[str], renames: Mapping[str, str]) -> list[PartitionField]:
    """Return the fields by which a table is partitioned once its columns are renamed."""
    now, fields = {old.lower(): new for old, new in renames.items()}, []
    for text in known:
        # A table may have fields that no contract can ask for.
        with suppress(ValueError):
            has = parse_partition_field(text)
            fields.append(replace(has, column=now.get(has.column.lower(), has.column)))
    return fields
