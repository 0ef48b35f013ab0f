"""Runs Glue jobs one after another over one Spark session. Loaded by `serve.py`."""

import os
import runpy
import sys
import traceback
from pathlib import Path
from typing import Any


def session(conf: dict[str, str]) -> Any:
    """Start Spark, or get the one that runs."""
    from pyspark.sql import SparkSession  # noqa: PLC0415

    builder = SparkSession.builder
    for key, value in conf.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


def become(role: str) -> None:
    """Let Python's clients call with the key of this run's role, no longer with an earlier one."""
    os.environ["AWS_ACCESS_KEY_ID"] = role
    if boto3 := sys.modules.get("boto3"):
        boto3.DEFAULT_SESSION = None  # type: ignore[attr-defined]


def let_java_become(role: str, spark: Any) -> None:
    """Let Java's clients do so too; they ask for these properties at each request."""
    system = spark._jvm.java.lang.System
    system.setProperty("aws.accessKeyId", role)
    for name in ("aws.secretAccessKey", "aws.secretKey"):
        system.setProperty(name, os.environ["AWS_SECRET_ACCESS_KEY"])


def run(request: dict[str, Any]) -> str | None:
    """Run the script as Glue does; return `ErrorClass: message` if it failed."""
    sys.argv = [request["script"], *request["arguments"]]
    become(request["role"])
    try:
        spark = session(request["conf"])
        let_java_become(request["role"], spark)
        runpy.run_path(request["script"], run_name="__main__")
        spark.catalog.clearCache()
    except SystemExit as end:
        return None if end.code in (None, 0) else f"SystemExit: {end.code}"
    except BaseException as error:
        traceback.print_exc()
        return f"{type(error).__name__}: {error}"
    return None


def redirect(log: str) -> None:
    """Send what this run prints, and its Java, to its own log."""
    with Path(log).open("ab") as stream:
        os.dup2(stream.fileno(), 1)
        os.dup2(stream.fileno(), 2)


def answer(request: dict[str, Any]) -> dict[str, Any]:
    """Run the job with its output in its own log."""
    redirect(request["log"])
    return {"error": run(request)}
