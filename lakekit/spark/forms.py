"""The forms of rows: that of a contract, and that of a table which may keep more."""

from collections.abc import Iterator

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, DataType, MapType, StructField, StructType

from lakekit.contracts import RESERVED, Contract
from lakekit.errors import SchemaMismatchError
from lakekit.sql.identifiers import quote_table


def in_contract_form(stored: DataFrame, contract: Contract) -> DataFrame:
    """Return the rows of a table as its contract would make it.

    A column that is renamed has its new name, one that is new is null. Nested fields come in the
    contract's order: within maps a union takes them by their place.
    """
    if renames := contract.renames(stored.columns):
        stored = stored.withColumnsRenamed(renames)
    have = {name.lower() for name in stored.columns}
    if lacks := [c for c in contract.stored if c.name.lower() not in have]:
        stored = stored.withColumns({c.name: F.lit(None).cast(c.type) for c in lacks})
    nested = [c for c in contract.stored if c.sql_type.fields and c.name in stored.columns]
    if not nested:
        return stored
    wanted = stored.select(*[F.lit(None).cast(c.type).alias(c.name) for c in nested]).schema
    types = {field.name: field.dataType for field in wanted}
    if all(stored.schema[c.name].dataType == types[c.name] for c in nested):
        return stored
    return stored.to(
        StructType([StructField(f.name, types.get(f.name, f.dataType)) for f in stored.schema])
    )


def in_table_form(spark: SparkSession, rows: DataFrame, table: str) -> DataFrame:
    """Give rows the columns of a table by their names, those within columns too.

    What the contract dropped and the table keeps is null from now on.

    Raises:
        SchemaMismatchError: The table lacks a column or a field of the rows.
    """
    schema = spark.table(quote_table(table)).schema
    have = set(_paths(schema))
    if lacks := [path for path in _paths(rows.schema) if path not in have]:
        raise SchemaMismatchError(
            f"{table} lacks {', '.join(lacks)} of its contract: run CreateTables first"
        )
    return rows.to(StructType([StructField(f.name, f.dataType) for f in schema]))


def _paths(kind: DataType, path: str = "") -> Iterator[str]:
    """Tell the names of all columns and of the fields within them, in lower case."""
    parts: list[tuple[str, DataType]] = []
    if isinstance(kind, StructType):
        parts = [(field.name.lower(), field.dataType) for field in kind]
        yield from (f"{path}{name}" for name, _ in parts)
    elif isinstance(kind, ArrayType):
        parts = [("element", kind.elementType)]
    elif isinstance(kind, MapType):
        parts = [("key", kind.keyType), ("value", kind.valueType)]
    for name, part in parts:
        yield from _paths(part, f"{path}{name}.")


def dropped_names(rows: DataFrame, contract: Contract) -> list[str]:
    """Return the columns that the contract has dropped and the table keeps, where rows have them.

    What the merge itself adds begins with two underscores, which no contract's column may.
    """
    have = {name.lower() for name in (*(c.name for c in contract.stored), *RESERVED)}
    return [n for n in rows.columns if n.lower() not in have and not n.startswith("__")]
