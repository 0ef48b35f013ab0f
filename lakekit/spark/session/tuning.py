"""What is small: tables with few current versions, and runs that Spark interprets or plans once.

What Java holds, as Python has it: in one call, where Py4J makes several for each entry.
"""

import json
from collections.abc import Sequence
from typing import Any

from pyspark import SparkContext
from pyspark.sql import Column as Expression
from pyspark.sql import DataFrame, Observation
from pyspark.sql import functions as F

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


def plain(held: Any) -> Any:
    """Return a Java map, set or list of texts, numbers and nulls as Python's."""
    context: Any = SparkContext
    mapper = context._jvm.com.fasterxml.jackson.databind.ObjectMapper()
    return json.loads(mapper.writeValueAsString(held))


def observed(observation: Observation) -> dict[str, Any]:
    """Return what was counted, by name, once the action is done that counts it."""
    told: Any = observation
    counts: dict[str, Any] = plain(told._jo.getAsJava())
    return counts


# Keys that are sent to every worker; if there are more, the table is shuffled to them.
MOST_SENT = 5_000_000


# What so many keys are by Spark's estimate, at most.
_SENT_BYTES = str(2 << 30)


def sent(rows: DataFrame, count: int) -> DataFrame:
    """Let a join send rows to every worker, unless they are too many for one."""
    return F.broadcast(rows) if count <= MOST_SENT else rows


def sent_by_size(count: int) -> dict[str, str]:
    """Return the settings by which the size of rows, not a hint, lets a join send them; see `sent`.

    Args:
        count: How many rows.
    """
    return {"spark.sql.autoBroadcastJoinThreshold": _SENT_BYTES} if count <= MOST_SENT else {}


def kept_apart(value: Expression, flag: Expression) -> Expression:
    """Return a value of this run in a form that does not become part of compiled code.

    Else no later run would find that code again, and Java would begin anew with it. Compiled code
    only refers to an array, and Spark does not look whether both of its elements are the same.

    Args:
        value: A literal.
        flag: Truth values without nulls of which Spark cannot know that they are all the same.
    """
    return F.get(F.array(value, value), flag.cast("int"))


def estimated_bytes(frame: DataFrame) -> int:
    """Return how large Spark takes a frame to be: rows of a table by the width of types."""
    return int(frame._jdf.queryExecution().optimizedPlan().stats().sizeInBytes())
