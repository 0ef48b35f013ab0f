"""CreateTables: make a table, or evolve it to its contract."""

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from functools import partial
from random import uniform
from time import sleep

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from lakekit import layout
from lakekit.contract.contract import Contract
from lakekit.errors import CommitConflictError, SchemaMismatchError
from lakekit.spark.iceberg.table import change_properties, is_stale
from lakekit.spark.schema.condition import refuse_condition
from lakekit.spark.schema.describe import (
    columns_of,
    describe_table,
    known_properties,
    newest_extraction,
)
from lakekit.sql.columns import evolve_columns, new_columns
from lakekit.sql.evolve import (
    column_properties,
    evolve_properties,
    evolve_schema,
    same_column_properties,
)
from lakekit.sql.identifiers import quote
from lakekit.sql.tables import (
    EVERY_TABLE,
    JOURNAL_DDL,
    create_table,
    mark_latest_extracts,
    set_properties,
)
from lakekit.steps.jobs import CreateTablesResult
from lakekit.table_properties import CONTRACT

_ATTEMPTS = 5


def create_or_evolve(spark: SparkSession, contract: Contract, table: str) -> CreateTablesResult:
    """Bring a table to its contract; again changes nothing.

    Args:
        spark: A session whose catalog holds the table.
        contract: What the table should be.
        table: Its identifier, `catalog.database.table`.

    Raises:
        InvalidContractError: Its condition is none; nothing is made.
        SchemaMismatchError: A column cannot become what the contract says, or the keys are others.
        CommitConflictError: Others changed it, or its column properties, in each of five attempts.
            Its journal may be evolved by then; the next attempt goes on from there.
    """
    catalog, database, name = table.split(".")
    refuse_condition(spark, contract)
    spark.sql(f"CREATE NAMESPACE IF NOT EXISTS {quote(catalog)}.{quote(database)}")
    if not spark.catalog.tableExists(table):
        spark.sql(create_table(contract, table))
        return CreateTablesResult(table=name, created=True)
    changes: list[str] = []
    for attempt in range(_ATTEMPTS):
        if attempt:
            # Who was first is at work on the columns now.
            sleep(uniform(0, 1 << attempt) / 4)  # noqa: S311  no secret
        if _evolve(spark, contract, table, changes):
            return CreateTablesResult(table=name, changes=tuple(changes))
    raise CommitConflictError(
        f"{table}: others changed it, or its column properties, {_ATTEMPTS} times while it "
        "was evolved to its contract; run CreateTables again"
    )


def _evolve(spark: SparkSession, contract: Contract, table: str, changes: list[str]) -> bool:
    """Bring a table that exists to its contract, and add the statements that do to the changes.

    Returns:
        Whether that is done; not if others have changed it, or its column properties, meanwhile.
    """
    # Before the table is described: a run that is published afterwards may have the new columns.
    adds = bool(new_columns(contract, columns_of(spark, table)))
    newest = newest_extraction(spark, table) if adds else datetime.min
    columns, known, partition = describe_table(spark, table)
    if not adds and new_columns(contract, columns):
        return False
    schema = partial(_evolve_schema, spark, contract, table)
    statements = schema(columns, known, partition)
    first = column_properties(contract, table, columns, properties=known, newest=newest)
    journal = partial(_evolve_journal, spark, contract, table, columns, known)
    # Before the table: while that is behind, a run makes it as it should be, after a crash too.
    if not _run(spark, journal(), journal, changes):
        return False
    # After a crash behind ADD COLUMN, nothing else would show that the column is new.
    if first:
        if not change_properties(spark, table, partial(_if_unchanged, known, first)):
            return False
        changes.append(set_properties(table, first))
    return _run(spark, statements, lambda: schema(*describe_table(spark, table)), changes)


def _run(
    spark: SparkSession, statements: list[str], needed: Callable[[], list[str]], changes: list[str]
) -> bool:
    """Run statements, and add them to the changes; False if others are at work on the same.

    `needed` returns the statements that are still to be run.
    """
    for statement in statements:
        try:
            spark.sql(statement)
        except (Py4JJavaError, PySparkException) as error:
            if not is_stale(error) and statement in needed():
                raise
            return False
        changes.append(statement)
    return True


def _if_unchanged(
    known: Mapping[str, str], wanted: Mapping[str, str], properties: Mapping[str, str]
) -> Mapping[str, str]:
    """Return the wanted properties if those that they were derived from (`known`) still hold."""
    return wanted if same_column_properties(known, properties) else {}


def _evolve_schema(
    spark: SparkSession,
    contract: Contract,
    table: str,
    columns: Mapping[str, str],
    known: Mapping[str, str],
    partition: Sequence[str],
) -> list[str]:
    """Return what brings a table's schema to its contract, and its other tables' properties.

    Raises:
        SchemaMismatchError: A column cannot become what the contract says, or the keys are others.
    """
    statements = evolve_schema(contract, table, columns, properties=known, partition=partition)
    for other in (layout.journal_table(table), layout.quarantine_table(table)):
        if spark.catalog.tableExists(other):
            statements += evolve_properties(other, EVERY_TABLE, known_properties(spark, other))
    return statements


def _evolve_journal(
    spark: SparkSession,
    contract: Contract,
    table: str,
    has: Mapping[str, str],
    known: Mapping[str, str],
) -> list[str]:
    """Return what brings a journal to the contract of its table.

    Args:
        spark: A session whose catalog holds the table.
        contract: What the table should be.
        table: Its identifier.
        has: Its columns.
        known: Its properties.

    Raises:
        SchemaMismatchError: A renaming was cut short, and the contract does not finish it.
    """
    journal = layout.journal_table(table)
    if not spark.catalog.tableExists(journal):
        return []
    columns = columns_of(spark, journal)
    _refuse_half_renamed(contract, journal, has, columns)
    before = CONTRACT.read(known)
    begins = before is not None and (before.mode, contract.history.mode) == ("scd1", "scd2")
    marked = [mark_latest_extracts(journal, newest_extraction(spark, table))] if begins else []
    return marked + evolve_columns(contract, journal, columns)


def _refuse_half_renamed(
    contract: Contract, journal: str, has: Collection[str], columns: Collection[str]
) -> None:
    """Raise if a journal would get an empty column that it has by another contract's name.

    Args:
        contract: What its table should be.
        journal: Its identifier.
        has: The columns of its table.
        columns: Its own.
    """
    renames, own = contract.renames(has), {name.lower() for name in JOURNAL_DDL}
    there = {renames.get(name, name).lower() for name in has}
    known = there | own | {column.name.lower() for column in contract.stored}
    known |= {old.lower() for old in contract.renames(columns)}
    lacks = sorted(name for name in new_columns(contract, columns) if name.lower() in there)
    other = sorted(name for name in columns if name.lower() not in known)
    if lacks and other:
        raise SchemaMismatchError(
            f"{journal}: it has {', '.join(other)} where its table has {', '.join(lacks)}, as a "
            "renaming was cut short: finish it by the contract that begins it, then change that"
        )
