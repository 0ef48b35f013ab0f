"""A job that shows its arguments, writes a raw object's rows into an Iceberg table, or fails."""

import sys
import time

from pyspark.sql import SparkSession


class StandInJobError(Exception):
    pass


arguments = dict(zip(sys.argv[1::2], sys.argv[2::2], strict=True))
print("job", arguments["--JOB_NAME"], arguments.get("--color"))  # noqa: T201
if arguments.get("--color") == "red":
    raise StandInJobError("red is not allowed")
if arguments.get("--sleep"):
    time.sleep(float(arguments["--sleep"]))
if arguments.get("--input"):
    spark = SparkSession.builder.getOrCreate()
    frame = spark.read.json(arguments["--input"])
    frame.writeTo(arguments["--table"]).using("iceberg").createOrReplace()
