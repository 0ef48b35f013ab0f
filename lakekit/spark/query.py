"""Read a history table: what is, what was, what changed. Frames out; no actions."""

from datetime import datetime

from pyspark.sql import DataFrame, SparkSession

from lakekit.errors import SchemaMismatchError
from lakekit.spark.iceberg.table import table_property
from lakekit.sql import queries as reading
from lakekit.sql.identifiers import quote_table
from lakekit.sql.tables import KEYS


def current_rows(spark: SparkSession, table: str) -> DataFrame:
    """Return the rows that are valid now."""
    return spark.sql(reading.current_rows(table, marked=_marked(spark, table)))


def rows_as_of(spark: SparkSession, table: str, moment: datetime) -> DataFrame:
    """Return the rows that were valid at a moment, which carries a zone."""
    return spark.sql(reading.rows_as_of(table, moment, marked=_marked(spark, table)))


def changes_between(spark: SparkSession, table: str, start: datetime, end: datetime) -> DataFrame:
    """Return what was inserted, updated and deleted after `start`, up to and with `end`.

    Raises:
        SchemaMismatchError: The table does not say what its keys are.
    """
    marked = _marked(spark, table)
    keys = table_property(spark, table, KEYS).split(",")
    if keys == [""]:
        raise SchemaMismatchError(
            f"{table}: no property {KEYS}; bring it to its contract once (a merge does)"
        )
    columns = spark.table(quote_table(table)).columns
    query = reading.changes_between(table, keys, (start, end), columns=columns, marked=marked)
    return spark.sql(query)


def _marked(spark: SparkSession, table: str) -> bool:
    columns = spark.table(quote_table(table)).columns
    if "_valid_from" not in columns:
        raise SchemaMismatchError(f"{table}: no history table; it has no _valid_from")
    return "_is_deleted" in columns
