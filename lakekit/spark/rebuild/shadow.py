"""The shadow table that a rebuild works in."""

from collections.abc import Mapping, Sequence

from pyspark.sql import SparkSession

from lakekit import layout
from lakekit.contract.contract import Contract
from lakekit.errors import InvalidStepInputError, SchemaMismatchError
from lakekit.spark.iceberg.table import change_properties, load_table, properties_of, table_property
from lakekit.spark.schema.create_tables import create_or_evolve
from lakekit.sql.evolve import same_column_properties
from lakekit.sql.identifiers import quote_table
from lakekit.sql.renames import Renamings, missed_renamings, renamings, with_known_names
from lakekit.table_properties import ADDED_COLUMNS, SHADOW_OF


def marked(contract: Contract, table: str) -> Contract:
    """Return the contract of a shadow, which says whose shadow it is."""
    properties = {
        **contract.table.properties,
        SHADOW_OF: table,
        # PURGE looks for every metadata file that was ever written.
        "write.metadata.delete-after-commit.enabled": "false",
    }
    shadowed = contract.table.model_copy(update={"properties": properties})
    return contract.model_copy(update={"table": shadowed})


def evolve_shadow(
    spark: SparkSession, contract: Contract, table: str, shadow: str, steps: Sequence[Renamings]
) -> Contract:
    """Bring a shadow to a contract of its table's, and return the contract by which it is merged.

    Args:
        spark: A session whose catalog holds both.
        contract: What the table should have been.
        table: Whose shadow it is.
        shadow: Its identifier; it is made if it is absent.
        steps: How the table's columns were renamed, also by contracts that no run was merged by.
    """
    promise = marked(contract, table)
    if spark.catalog.tableExists(shadow):
        promise = with_known_names(promise, spark.table(quote_table(shadow)).columns, steps)
    create_or_evolve(spark, promise, shadow)
    return promise


def refuse_missed_renamings(
    spark: SparkSession, contract: Contract, table: str, shadow: str, steps: Sequence[Renamings]
) -> None:
    """Check that the columns of a shadow began where those of its table did.

    Args:
        spark: A session whose catalog holds the shadow.
        contract: What the shadow was brought to last.
        table: Whose shadow it is.
        shadow: Its identifier.
        steps: How the table's columns were renamed.

    Raises:
        SchemaMismatchError: One has lost what it held under an earlier name.
    """
    known = properties_of(load_table(spark, shadow))
    names = spark.table(quote_table(shadow)).columns
    if missed := missed_renamings(contract, steps, names, renamings(known)):
        lost = ", ".join(f"{first} became {name}" for name, first in missed.items())
        raise SchemaMismatchError(
            f"{table}: {lost} by contracts that no run was merged by, and the contracts of its "
            "runs lack it: a rebuild would lose the values from before; nothing was changed"
        )


def drop_shadow(spark: SparkSession, table: str) -> str:
    """Drop a shadow with its journal and quarantine, also after a crash; return its name."""
    names = layout.shadow_tables(table)
    *_, shadow = names
    if not spark.catalog.tableExists(shadow):
        return shadow
    if table_property(spark, shadow, SHADOW_OF) != table:
        raise InvalidStepInputError(f"{shadow}: is there and is no shadow of {table}; rename it")
    for name in names:
        spark.sql(f"DROP TABLE IF EXISTS {quote_table(name)} PURGE")
    return shadow


def hand_over(spark: SparkSession, shadow: str, table: str, seen: Mapping[str, str]) -> bool:
    """Give a table without history the shadow's record of added columns.

    Args:
        spark: A session whose catalog holds both.
        shadow: Identifier of the shadow.
        table: Whose shadow it is.
        seen: The properties of the table when it was read.

    Returns:
        Whether the table has it; not if another process has changed its columns since.
    """
    added = properties_of(load_table(spark, shadow)).get(ADDED_COLUMNS.name)
    if added is None:
        return True

    def if_unchanged(properties: Mapping[str, str]) -> Mapping[str, str]:
        return {ADDED_COLUMNS.name: added} if same_column_properties(seen, properties) else {}

    return change_properties(spark, table, if_unchanged)
