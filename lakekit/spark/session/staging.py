"""Frames of a run on disk: written once, counted on the way, never computed again."""

from typing import Any
from uuid import uuid4

from pyspark.sql import Column as Expression
from pyspark.sql import DataFrame, Observation, SparkSession

from lakekit.layout import branch_name
from lakekit.spark.session.session import session_settings
from lakekit.spark.session.tuning import observed

# An observation below a part of the plan that turns out empty would never come in.
COUNTED = {
    "spark.sql.optimizer.excludedRules": (
        "org.apache.spark.sql.catalyst.optimizer.PropagateEmptyRelation"
    ),
    "spark.sql.adaptive.optimizer.excludedRules": (
        "org.apache.spark.sql.execution.adaptive.AQEPropagateEmptyRelation"
    ),
}


def staging_of_run(staging: str, run_id: str) -> str:
    """Return a new folder for a run's change set: another process may be at work on that run."""
    return f"{staging}/{branch_name(run_id)}-{uuid4().hex[:8]}"


def write_staged(frame: DataFrame, path: str) -> DataFrame:
    """Write a frame as Parquet, and return what was written."""
    frame.write.mode("overwrite").parquet(path)
    # With its schema given, the files are not opened to find it.
    return frame.sparkSession.read.schema(frame.schema).parquet(path)


def write_counted(
    frame: DataFrame, path: str, *counts: Expression
) -> tuple[DataFrame, dict[str, Any]]:
    """Write a frame as Parquet; observations within it come in too.

    It is never cached instead: a commit on the target would compute it again, from the new state.

    Returns:
        What was written, and what was counted, by name.
    """
    spark, seen = frame.sparkSession, Observation()
    with session_settings(spark, COUNTED):
        written = write_staged(frame.observe(seen, *counts), path)
    return written, observed(seen)


def drop_staging(spark: SparkSession, place: str) -> None:
    """Remove a run's change set; what is left behind by a crash is tidied by age."""
    jvm = spark._jvm
    if jvm is None:
        return
    path = jvm.org.apache.hadoop.fs.Path(place)
    path.getFileSystem(spark._jsc.hadoopConfiguration()).delete(path, True)
