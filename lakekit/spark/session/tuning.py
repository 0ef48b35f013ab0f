"""What is small, and how Spark treats it: settings of small runs, broadcasts, calls of Java.

Python reads what Java holds in one call, where Py4J makes several for each entry.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pyspark import SparkContext
from pyspark.sql import Column as Expression
from pyspark.sql import DataFrame, Observation
from pyspark.sql import functions as F

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


@dataclass(frozen=True)
class Tuning:
    """What counts as small; bytes of records are unpacked.

    few_files, few_bytes: files of current versions up to which a table is small. rewrite_bytes:
    their bytes up to which a run writes all of them again: a delta takes more time. rewrite_files:
    their number above which it does: each delta adds a file, and a list of deleted rows for every
    file. short_bytes: records up to which a batch is short. little_bytes, little_rows: up to which
    everything that a run shuffles is little.
    """

    few_files: int = 16
    few_bytes: int = 8 << 20
    rewrite_bytes: int = 2 << 20
    rewrite_files: int = 8
    short_bytes: int = 16 << 20
    little_bytes: int = 64 << 20
    little_rows: int = 100_000

    def are_few(self, sizes: Sequence[int]) -> bool:
        """Whether files of current versions, of so many bytes each, are those of a small table."""
        return len(sizes) <= self.few_files and sum(sizes) <= self.few_bytes

    def are_rewritten(self, sizes: Sequence[int]) -> bool:
        """Whether a run writes all current versions of such files again."""
        small = sum(sizes) <= self.rewrite_bytes or len(sizes) > self.rewrite_files
        return self.are_few(sizes) and small


def to_python(held: Any) -> Any:
    """Return a Java map, set or list of texts, numbers and nulls as Python's."""
    context: Any = SparkContext
    mapper = context._jvm.com.fasterxml.jackson.databind.ObjectMapper()
    return json.loads(mapper.writeValueAsString(held))


def observed(observation: Observation) -> dict[str, Any]:
    """Return what was counted, by name, once the action is done that counts it."""
    java: Any = observation
    counts: dict[str, Any] = to_python(java._jo.getAsJava())
    return counts


# Keys that are sent to every worker. More are not: the table is shuffled to them.
MOST_BROADCAST = 5_000_000


# What so many keys are by Spark's estimate, at most.
_BROADCAST_BYTES = str(2 << 30)


def broadcast_if_small(rows: DataFrame, count: int) -> DataFrame:
    """Let a join send rows to every worker, unless they are too many for one."""
    return F.broadcast(rows) if count <= MOST_BROADCAST else rows


def broadcast_setting(count: int) -> dict[str, str]:
    """Return the settings by which the size of rows, not a hint, lets a join send them.

    Args:
        count: How many rows.
    """
    return (
        {"spark.sql.autoBroadcastJoinThreshold": _BROADCAST_BYTES}
        if count <= MOST_BROADCAST
        else {}
    )


def runtime_literal(value: Expression, flag: Expression) -> Expression:
    """Return a value of this run in a form that does not become part of compiled code.

    Otherwise no later run would find that code again, and Java would compile it again. Compiled
    code only refers to an array, and Spark does not check whether both elements are the same.

    Args:
        value: A literal.
        flag: Truth values without nulls of which Spark cannot know that they are all the same.
    """
    return F.get(F.array(value, value), flag.cast("int"))


def estimated_bytes(frame: DataFrame) -> int:
    """Return how large Spark takes a frame to be: rows of a table by the width of types."""
    return int(frame._jdf.queryExecution().optimizedPlan().stats().sizeInBytes())
