"""What is small: tables with few current versions, and runs that Spark interprets or plans once."""

from collections.abc import Sequence

# Files of current versions, and their bytes, up to which a table is small.
FEW_FILES = 16
FEW_BYTES = 8 << 20
# Their bytes up to which each run writes all of them anew: a delta beside more takes less time.
ANEW_BYTES = 2 << 20
# Their files above which one does: each delta adds one, and a list of deleted rows for every one.
ANEW_FILES = 8
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
# Iceberg cuts a scan into as many parts, if there are no more cores. To publish it reads whole
# versions, where parts of unequal size make one core wait; to stage, each part has a cost.
PUBLISHED_ONCE = PLANNED_ONCE | {"spark.sql.shuffle.partitions": "4"}


def are_few(sizes: Sequence[int]) -> bool:
    """Whether files of current versions, of so many bytes each, are those of a small table."""
    return len(sizes) <= FEW_FILES and sum(sizes) <= FEW_BYTES


def are_written_anew(sizes: Sequence[int]) -> bool:
    """Whether a run writes all current versions of such files anew."""
    return are_few(sizes) and (sum(sizes) <= ANEW_BYTES or len(sizes) > ANEW_FILES)
