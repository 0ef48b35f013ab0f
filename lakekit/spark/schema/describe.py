"""What a table is, as Spark and Iceberg describe it: columns, properties, partition fields."""

from datetime import datetime

from pyspark.sql import SparkSession
from pyspark.sql.types import ArrayType, DataType, MapType, StructType

from lakekit import layout
from lakekit.contract.contract import CONTROL_COLUMNS
from lakekit.contract.sqltypes import parse_type
from lakekit.spark.iceberg.table import load_table, properties_of
from lakekit.sql.identifiers import quote, quote_table


def newest_extraction(spark: SparkSession, table: str) -> datetime:
    """Return the newest extraction time in a table, UTC; `datetime.min` if it is empty.

    A run that repeats what the table has may show in its journal alone.
    """
    times = spark.table(quote_table(table)).select("_ingested_at")
    if spark.catalog.tableExists(journal := layout.journal_table(table)):
        times = times.unionAll(spark.table(quote_table(journal)).select("_ingested_at"))
    # As text: Python would take the value for a time in the zone of its process.
    row = times.selectExpr("CAST(max(_ingested_at) AS string) AS newest").first()
    return datetime.fromisoformat(row["newest"]) if row and row["newest"] else datetime.min


def describe_table(
    spark: SparkSession, table: str
) -> tuple[dict[str, str], dict[str, str], list[str]]:
    """Return a table's columns with their DDL types, its properties and partition fields."""
    # The properties first: what changes the columns after that is noted in them before it does.
    known = known_properties(spark, table)
    return columns_of(spark, table), known, _partition_fields(spark, table)


def columns_of(spark: SparkSession, table: str) -> dict[str, str]:
    """Return the name and DDL type of a table's columns, its control columns left out."""
    return {
        field.name: str(parse_type(_ddl(field.dataType)))
        for field in spark.table(quote_table(table)).schema
        if field.name not in CONTROL_COLUMNS
    }


def known_properties(spark: SparkSession, table: str) -> dict[str, str]:
    """Return a table's properties; SHOW TBLPROPERTIES blacks out what looks like a secret."""
    known = load_table(spark, table)
    # Iceberg keeps its version apart from the properties.
    version = known.operations().current().formatVersion()
    return {"format-version": str(version), **properties_of(known)}


def _ddl(kind: DataType) -> str:
    """Return a type as DDL; Spark's own text quotes no name of a field."""
    if isinstance(kind, StructType):
        return f"struct<{','.join(f'{quote(f.name)}:{_ddl(f.dataType)}' for f in kind)}>"
    if isinstance(kind, ArrayType):
        return f"array<{_ddl(kind.elementType)}>"
    if isinstance(kind, MapType):
        return f"map<{_ddl(kind.keyType)},{_ddl(kind.valueType)}>"
    return kind.simpleString()


def _partition_fields(spark: SparkSession, table: str) -> list[str]:
    """Return the fields as DESCRIBE has them; identity fields alone have a section of their own."""
    fields, section = [], ""
    for row in spark.sql(f"DESCRIBE TABLE {quote_table(table)}").collect():
        name, kind = row["col_name"], row["data_type"]
        if name.startswith("# ") and name != "# col_name":
            section = name
        elif name and section == "# Partitioning":
            fields.append(kind)
        elif name and name != "# col_name" and section == "# Partition Information":
            fields.append(name)
    return fields
