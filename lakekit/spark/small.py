"""What is small: tables with few current versions, and runs that Spark interprets or plans once."""

from pyspark.sql import SparkSession

from lakekit.spark.iceberg import current_file_sizes

# Files of current versions, and their bytes, up to which a table is small.
FEW_FILES = 16
FEW_BYTES = 8 << 20
# Bytes of records, unpacked, up to which a batch is.
SHORT = 16 << 20
# Bytes of records, unpacked, and rows, up to which all that a run shuffles is little.
LITTLE_BYTES = 64 << 20
LITTLE_ROWS = 100_000
# To compile plans to Java takes longer than to interpret them for so few rows, and to plan again
# between the stages, or to fill more than one partition, longer than to run them.
INTERPRETED = {
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.shuffle.partitions": "1",
}
# To plan again between the stages takes longer than the stages that follow for so few rows.
PLANNED_ONCE = {"spark.sql.adaptive.enabled": "false", "spark.sql.shuffle.partitions": "2"}


def has_few_versions(spark: SparkSession, table: str) -> bool:
    """Whether main's current versions lie in few small files."""
    sizes = current_file_sizes(spark, table, FEW_FILES + 1)
    return len(sizes) <= FEW_FILES and sum(sizes) <= FEW_BYTES
