"""From a table that exists to its contract, as statements. Pure: nothing here runs anything."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime

from lakekit.contract.contract import Contract
from lakekit.contract.partitions import PartitionField, parse_partition_field, same_partition
from lakekit.errors import SchemaMismatchError
from lakekit.sql.added_columns import with_added
from lakekit.sql.columns import evolve_columns, new_columns
from lakekit.sql.identifiers import partition_field, quote_table
from lakekit.sql.immutable import refuse_changed_identity
from lakekit.sql.rehash import must_rehash, rehash
from lakekit.sql.renames import is_noted, names_over_time, recorded_renames, renamings
from lakekit.sql.tables import set_properties, table_properties
from lakekit.table_properties import ADDED_COLUMNS, LINE_DIGESTS, RENAMES, line_digests

# The properties that record what became of a table's columns.
COLUMN_PROPERTIES = (ADDED_COLUMNS.name, RENAMES.name, LINE_DIGESTS.name)


def evolve_table(
    contract: Contract,
    table: str,
    columns: Mapping[str, str],
    *,
    properties: Mapping[str, str],
    partition: Sequence[str] = (),
    newest: datetime = datetime.min,
) -> list[str]:
    """Return what brings a table to its contract, in order; nothing if it is there.

    Columns that the contract no longer has stay, and stay readable.

    Args:
        contract: What the table should be.
        table: Its identifier.
        columns: Name and DDL type of the columns that it has.
        properties: Its properties.
        partition: Its partition fields, as the contract writes them.
        newest: The newest extraction time in it, UTC.

    Raises:
        SchemaMismatchError: A type can neither stay nor be widened; all such columns are named.
            Or the keys are others.
    """
    schema = evolve_schema(contract, table, columns, properties=properties, partition=partition)
    first = column_properties(contract, table, columns, properties=properties, newest=newest)
    # After a crash behind ADD COLUMN, nothing else would show that the column is new.
    return [*([set_properties(table, first)] if first else []), *schema]


def evolve_schema(
    contract: Contract,
    table: str,
    columns: Mapping[str, str],
    *,
    properties: Mapping[str, str],
    partition: Sequence[str] = (),
) -> list[str]:
    """Return the statements that follow `column_properties`; see `evolve_table`.

    Raises:
        SchemaMismatchError: A type can neither stay nor be widened, or the keys are others.
    """
    alter = f"ALTER TABLE {quote_table(table)}"
    refuse_changed_identity(contract, table, columns, properties)
    added, renames = new_columns(contract, columns), contract.renames(columns)
    fields = _with_new_names(partition, renames)
    steps = [*renamings(properties), renames]
    _refuse_names_of_partitions(table, [*renames.values(), *added], fields, steps)
    statements = evolve_columns(contract, table, columns)
    statements += [
        f"{alter} ADD PARTITION FIELD {partition_field(field)}"
        for field in contract.table.partition_fields
        if not any(same_partition(field, each) for each in fields)
    ]
    if must_rehash(contract, {renames.get(n, n).lower() for n in columns}, properties):
        statements.append(rehash(contract, table))
    return statements + evolve_properties(table, table_properties(contract), properties)


def column_properties(
    contract: Contract,
    table: str,
    columns: Mapping[str, str],
    *,
    properties: Mapping[str, str],
    newest: datetime = datetime.min,
) -> dict[str, str]:
    """Return the properties that are set before the columns change; see `evolve_table`.

    They are derived from those named in `COLUMN_PROPERTIES`.

    Raises:
        SchemaMismatchError: Columns of `delete_scope` would have each other's names, or a type can
            neither stay nor be widened.
    """
    added, renames = new_columns(contract, columns), contract.renames(columns)
    # A new column may have the name that a renamed one leaves. If a crash came behind the record of
    # the renaming, a record under that name is the new column's.
    become = {} if is_noted(renamings(properties), renames) else renames
    now = with_added(properties, added, become, newest)
    if evolve_columns(contract, table, columns):
        digests = line_digests(properties)
        changes = {"schema_changes": digests.schema_changes + 1}
        now |= LINE_DIGESTS.write(digests.model_copy(update=changes))
    now |= recorded_renames(contract, table, renames, properties)
    return _changed(now, properties)


def same_column_properties(before: Mapping[str, str], now: Mapping[str, str]) -> bool:
    """Whether the properties of a table's columns are what they were when they were read."""
    return all(before.get(name) == now.get(name) for name in COLUMN_PROPERTIES)


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
