"""What is small: a table whose current versions are few, and a run that Spark need not compile."""

from pyspark.sql import SparkSession

from lakekit.spark.iceberg import current_file_sizes

# Files of current versions, and their bytes, up to which a table is small.
FEW_FILES = 16
FEW_BYTES = 8 << 20
# Bytes of records, unpacked, up to which a batch is.
SHORT = 16 << 20
# To compile plans to Java takes longer than to interpret them for so few rows, and to plan again
# between the stages, or to fill more than one partition, longer than to run them.
INTERPRETED = {
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.shuffle.partitions": "1",
}


def has_few_versions(spark: SparkSession, table: str) -> bool:
    """Whether main's current versions lie in few small files."""
    sizes = current_file_sizes(spark, table, FEW_FILES + 1)
    return len(sizes) <= FEW_FILES and sum(sizes) <= FEW_BYTES
