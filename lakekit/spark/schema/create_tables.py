"""CreateTables: make a table, or evolve it to its contract."""

from collections.abc import Callable, Collection, Mapping, Sequence
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
from lakekit.spark.schema.describe import columns_of, describe_table, known_properties, newest_told
from lakekit.sql.columns import new_columns
from lakekit.sql.evolve import (
    evolve_facts,
    evolve_notes,
    evolve_properties,
    evolve_schema,
    notes_stand,
)
from lakekit.sql.identifiers import quote
from lakekit.sql.tables import (
    EVERY_TABLE,
    FACTS_DDL,
    MODE,
    create_table,
    mark_latest_extracts,
    set_properties,
)
from lakekit.steps.jobs import CreateTablesResult

_ATTEMPTS = 5


def create_or_evolve(spark: SparkSession, contract: Contract, table: str) -> CreateTablesResult:
    """Bring a table to its contract; again changes nothing.

    Args:
        spark: A session whose catalog holds the table.
        contract: What the table should be.
        table: Its identifier, `catalog.database.table`.

    Raises:
        SchemaMismatchError: A column cannot become what the contract says, or the keys are others.
        CommitConflictError: Others changed it, or what it knows of its columns, in each of five
            attempts. Its companion may have its columns then; the next attempt goes on from there.
    """
    catalog, database, name = table.split(".")
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
        f"{table}: others changed it, or what it knows of its columns, {_ATTEMPTS} times while it "
        "was brought to its contract; let CreateTables come again"
    )


def _evolve(spark: SparkSession, contract: Contract, table: str, changes: list[str]) -> bool:
    """Bring a table that exists to its contract, and add the statements that do to the changes.

    Returns:
        Whether it is there; not if others have changed it, or what is known of its columns,
        meanwhile.
    """
    # Before the table is described: what is told afterwards may be told by who knows the columns.
    newest = newest_told(spark, table) if new_columns(contract, columns_of(spark, table)) else ""
    columns, known, partition = describe_table(spark, table)
    if not newest and new_columns(contract, columns):
        return False
    schema = partial(_evolve_schema, spark, contract, table)
    statements = schema(columns, known, partition)
    notes = evolve_notes(contract, table, columns, properties=known, newest=newest)
    companion = partial(_evolve_companion, spark, contract, table, columns, known)
    # Before the table: while that is behind, a run makes it as it should be, after a crash too.
    if not _run(spark, companion(), companion, changes):
        return False
    # Before the columns are added: after a crash in between, no one could tell that they are new.
    if notes:
        if not change_properties(spark, table, partial(_unless_moved, known, notes)):
            return False
        changes.append(set_properties(table, notes))
    return _run(spark, statements, lambda: schema(*describe_table(spark, table)), changes)


def _run(
    spark: SparkSession, statements: list[str], needed: Callable[[], list[str]], changes: list[str]
) -> bool:
    """Run statements, and add them to the changes; False if others are at work on the same.

    `needed` tells what is still to be done.
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


def _unless_moved(
    known: Mapping[str, str], notes: Mapping[str, str], properties: Mapping[str, str]
) -> Mapping[str, str]:
    """Return notes if what they were made of (`known`) is what the properties still say."""
    return notes if notes_stand(known, properties) else {}


def _evolve_schema(
    spark: SparkSession,
    contract: Contract,
    table: str,
    columns: Mapping[str, str],
    known: Mapping[str, str],
    partition: Sequence[str],
) -> list[str]:
    """Return what brings the schema of a table to its contract, and properties of those beside.

    Raises:
        SchemaMismatchError: A column cannot become what the contract says, or the keys are others.
    """
    statements = evolve_schema(contract, table, columns, properties=known, partition=partition)
    for beside in (layout.facts_table(table), layout.quarantine_table(table)):
        if spark.catalog.tableExists(beside):
            statements += evolve_properties(beside, EVERY_TABLE, known_properties(spark, beside))
    return statements


def _evolve_companion(
    spark: SparkSession,
    contract: Contract,
    table: str,
    has: Mapping[str, str],
    known: Mapping[str, str],
) -> list[str]:
    """Return what brings a companion to the contract of its table.

    Args:
        spark: A session whose catalog holds the table.
        contract: What the table should be.
        table: Its identifier.
        has: Its columns.
        known: Its properties.

    Raises:
        SchemaMismatchError: A renaming was cut short, and the contract does not finish it.
    """
    facts = layout.facts_table(table)
    if not spark.catalog.tableExists(facts):
        return []
    columns = columns_of(spark, facts)
    _refuse_half_renamed(contract, facts, has, columns)
    begins = (known.get(MODE), contract.history.mode) == ("scd1", "scd2")
    told = [mark_latest_extracts(facts, newest_told(spark, table))] if begins else []
    return told + evolve_facts(contract, facts, columns)


def _refuse_half_renamed(
    contract: Contract, facts: str, has: Collection[str], columns: Collection[str]
) -> None:
    """Raise if a companion would get a column, empty, that it has by the name of another contract.

    Args:
        contract: What its table should be.
        facts: Its identifier.
        has: The columns of its table.
        columns: Its own.
    """
    renames, own = contract.renames(has), {name.lower() for name in FACTS_DDL}
    there = {renames.get(name, name).lower() for name in has}
    known = there | own | {column.name.lower() for column in contract.stored}
    known |= {old.lower() for old in contract.renames(columns)}
    lacks = sorted(name for name in new_columns(contract, columns) if name.lower() in there)
    other = sorted(name for name in columns if name.lower() not in known)
    if lacks and other:
        raise SchemaMismatchError(
            f"{facts}: it has {', '.join(other)} where its table has {', '.join(lacks)}, as a "
            "renaming was cut short: finish it by the contract that begins it, then change that"
        )
