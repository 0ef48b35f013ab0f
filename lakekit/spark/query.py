"""Read a history table: what is, what was, what changed. Frames out; no actions."""

from datetime import datetime

from pyspark.sql import DataFrame, SparkSession

from lakekit.errors import SchemaMismatchError
from lakekit.spark.iceberg.table import load_table, properties_of
from lakekit.sql import queries
from lakekit.sql.identifiers import quote_table
from lakekit.table_properties import CONTRACT


def current_rows(spark: SparkSession, table: str) -> DataFrame:
    """Return the rows that are valid now."""
    return spark.sql(queries.current_rows(table, marked=_marked(spark, table)))


def rows_as_of(spark: SparkSession, table: str, time: datetime) -> DataFrame:
    """Return the rows that were valid at a time, which carries a zone."""
    return spark.sql(queries.rows_as_of(table, time, marked=_marked(spark, table)))


def changes_between(spark: SparkSession, table: str, start: datetime, end: datetime) -> DataFrame:
    """Return what was inserted, updated and deleted after `start`, up to and with `end`.

    Raises:
        SchemaMismatchError: The table does not say what its keys are.
        InvalidStepInputError: The first time is after the second.
    """
    marked = _marked(spark, table)
    contract = CONTRACT.read(properties_of(load_table(spark, table)))
    keys = contract.keys if contract else ()
    if not keys:
        raise SchemaMismatchError(
            f"{table}: no keys in its property {CONTRACT.name}; bring it to its contract once "
            "(a merge does)"
        )
    columns = spark.table(quote_table(table)).columns
    query = queries.changes_between(table, keys, (start, end), columns=columns, marked=marked)
    return spark.sql(query)


def _marked(spark: SparkSession, table: str) -> bool:
    columns = spark.table(quote_table(table)).columns
    if "_valid_from" not in columns:
        raise SchemaMismatchError(f"{table}: no history table; it has no _valid_from")
    return "_is_deleted" in columns
