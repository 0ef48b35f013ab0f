"""Landed lines as typed records without Spark, by the rules of `lakekit.spark.read`."""
